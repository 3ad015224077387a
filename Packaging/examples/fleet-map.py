#!/usr/bin/python3
"""The map of the example fleet: fleet-map.py PORT DATABASE-URL

Serves a page with Leaflet (libjs-leaflet) on 127.0.0.1, which asks for the latest positions every two seconds. The tracks of the
last hour are the background.
"""

import http.server
import pathlib
import subprocess
import sys

PORT, DATABASE = int(sys.argv[1]), sys.argv[2]
LEAFLET = pathlib.Path("/usr/share/javascript/leaflet")

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Fleet</title>
<link rel="stylesheet" href="leaflet/leaflet.css"><script src="leaflet/leaflet.js"></script>
<style>
body { display: flex; height: 100vh; margin: 0; font: 14px sans-serif }
#map { flex: 1; background: #eef }
ul { width: 13em; margin: 0; padding: 0; overflow: auto; list-style: none }
button { width: 100%; padding: 6px 10px; border: 0; background: none; font: inherit; text-align: left; cursor: pointer }
button:hover, button:focus { background: #eef }
</style></head>
<body><ul id="list"></ul><div id="map"></div><script>
const map = L.map('map').setView([37.34, -122.07], 13);
const markers = new Map();
const buttons = new Map();
const tracks = L.layerGroup().addTo(map);
L.control.scale().addTo(map);
async function update() {
  const machines = await (await fetch('positions')).json();
  for (const machine of machines) {
    const place = [machine.latitude, machine.longitude];
    if (!markers.has(machine.machine)) {
      markers.set(machine.machine, L.circleMarker(place, {radius: 7}).bindTooltip(machine.machine, {permanent: true}).addTo(map));
      const button = document.createElement('button');
      button.addEventListener('click', () => map.setView(markers.get(machine.machine).getLatLng(), 15));
      buttons.set(machine.machine, button);
      list.append(Object.assign(document.createElement('li'), {id: machine.machine}));
      list.lastChild.append(button);
    }
    buttons.get(machine.machine).textContent = `${machine.machine}: ${machine.state}, ${Math.round(machine.speed * 3.6)} km/h`;
    markers.get(machine.machine).setLatLng(place)
      .setStyle({color: machine.state === 'online' ? '#075' : '#888'});
  }
  tracks.clearLayers();
  for (const track of await (await fetch('tracks')).json()) L.geoJSON(track, {style: {weight: 2}}).addTo(tracks);
}
update();
setInterval(update, 2000);
</script></body></html>
"""

QUERIES = {
    "/positions": """SELECT coalesce(json_agg(json_build_object('machine', machine, 'state', state, 'speed', speed,
        'latitude', ST_Y(point::geometry), 'longitude', ST_X(point::geometry))), '[]') FROM latest_position""",
    "/tracks": """SELECT coalesce(json_agg(ST_AsGeoJSON(line)::json), '[]') FROM (
        SELECT ST_MakeLine(point::geometry ORDER BY time) AS line FROM location
        WHERE received > now() - interval '1 hour' GROUP BY machine HAVING count(*) > 1) AS lines""",
}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/":
            return self.reply("text/html; charset=utf-8", PAGE.encode())
        if query := QUERIES.get(self.path):
            words = ["psql", "-qXAtc", query, DATABASE]
            return self.reply("application/json", subprocess.run(words, check=True, capture_output=True).stdout)
        file = LEAFLET / pathlib.PurePosixPath(self.path).name
        if self.path == f"/leaflet/{file.name}" and file.is_file():
            return self.reply("text/css" if file.suffix == ".css" else "text/javascript", file.read_bytes())
        return self.send_error(404)

    def reply(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
