# Shared by the examples with a web server, which source it after common.sh:
#     . web.sh
# Starts the server, and sets $server to its address.
mkfifo "$home/stdin" "$home/port"
/usr/bin/python3 "$examples/server.py" <"$home/stdin" >"$home/port" &
exec 9>"$home/stdin"
read -r port <"$home/port"
server=http://127.0.0.1:$port

tomorrow() {
    say "The server's next day begins"
    curl --noproxy "*" -fsS -X POST "$server/tomorrow"
}
