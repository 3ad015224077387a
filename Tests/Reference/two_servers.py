"""A server at a public address that redirects to one at a local address, both on this machine.

usage: two_servers.py PUBLIC LOCAL LOG

PUBLIC/to/HOST redirects to http://HOST:8081/secret; any other path is a file. LOCAL/secret must not be reachable from outside,
and LOCAL/back redirects to it. Each request to LOCAL is logged as a line in LOG.
"""

import http.server
import json
import sys
import threading
import urllib.parse

public, local, log = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Public(Handler):
    def do_GET(self):
        if self.path.startswith("/to/"):
            self.answer(302, Location=f"http://{urllib.parse.unquote(self.path[4:])}:8081/secret")
        else:
            self.answer(200, b"public")


class Local(Handler):
    def do_GET(self):
        with open(log, "a") as file:
            file.write(self.path + "\n")
        if self.path == "/back":
            self.answer(302, Location=f"http://{local}:8081/secret")
        else:
            self.answer(200, b"secret")


for address, port, handler in [(public, 8080, Public), (local, 8081, Local)]:
    server = http.server.ThreadingHTTPServer((address, port), handler)
    threading.Thread(target=server.serve_forever).start()
print("ready", flush=True)
