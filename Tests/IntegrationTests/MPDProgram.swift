/// The Python program that runs the steps of ``MPDSteps`` with python3-mpd and prints each reply on a line.
///
/// Arguments: the socket, the file of steps.
let mpdProgram = #"""
    import json
    import sys
    import threading

    import mpd

    # Values that differ between moments or starts.
    PASSING = {"time", "elapsed", "bitrate", "uptime", "playtime", "db_update", "updating_db"}

    # Newer than the library.
    for name in ("getvol", "binarylimit"):
        if not hasattr(mpd.MPDClient, name):
            mpd.MPDClient.add_command(name, mpd.MPDClient._parse_object)

    client, other = mpd.MPDClient(), mpd.MPDClient()
    for one in (client, other):
        one.timeout = 60
        one.connect(sys.argv[1])

    def plain(value):
        if isinstance(value, bytes):
            return value.decode("latin-1")
        if isinstance(value, dict):
            return {key: plain(part) for key, part in value.items() if key not in PASSING}
        return [plain(part) for part in value] if isinstance(value, (list, tuple)) else value

    def comparable(status):
        # MPD does not know the format in the first moments of a song.
        differing = {"playlist", "audio"} if status["state"] == "play" else {"playlist"}
        return {key: value for key, value in status.items() if key not in differing}

    def do(name, *arguments, on=client):
        try:
            answer = getattr(on, name)(*arguments)
            if name == "status":
                answer = comparable(answer)
            listed = answer if isinstance(answer, (str, dict, type(None))) else list(answer)
            # Job numbers differ between the two servers.
            text = "a job" if name == "update" else json.dumps(plain(listed), sort_keys=True)
        except mpd.CommandError as error:
            text = str(error)
        print(name, *arguments, "=>", text, flush=True)

    def until(wanted):
        while any((status := client.status()).get(key) != value for key, value in wanted.items()):
            client.idle("player", "options", "playlist")
        # A song may end before the next command; this status is of the moment that was waited for.
        shown = plain(comparable(status)) if wanted.get("state") == "play" else ""
        print("-- until", wanted, json.dumps(shown, sort_keys=True), flush=True)

    def updated():
        while "updating_db" in client.status():
            client.idle("update")

    def elapsed(least, most):
        value = float(client.status().get("elapsed", "-1"))
        print("-- elapsed within", least, most, least <= value <= most, flush=True)

    def idle(*words):
        # Drain pending changes first.
        for command in ("subscribe", "unsubscribe"):
            getattr(client, command)("drain")
            client.idle()
        change = threading.Thread(target=do, args=words[-1], kwargs={"on": other})
        change.start()
        changed = client.idle(*words[:-1])
        change.join()
        print("-- idle", *words[:-1], "=>", sorted(changed), flush=True)

    def together(*commands):
        client.command_list_ok_begin()
        for command in commands:
            getattr(client, command[0])(*command[1:])
        do("command_list_end")

    client.update()
    updated()
    directives = {"until": until, "elapsed": lambda bounds: elapsed(*bounds), "idle": idle, "together": together,
                  "updated": updated}
    for line in open(sys.argv[2], encoding="utf-8"):
        words = json.loads(line)
        directives.get(words[0], lambda *rest: do(words[0], *rest))(*words[1:])
    """#
