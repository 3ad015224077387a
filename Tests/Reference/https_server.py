"""An HTTPS server that supports ranges and reports the bytes of each connection.

    https_server.py CERTIFICATE KEY FILE RATE

Serves FILE at each path at RATE bytes per second, with an ETag and ranges. `/unsized` serves half of the file without a length
and without the close notification of TLS. Prints `port N`, then a line for each finished connection:
`get START ACKNOWLEDGED whole|broken` or `put BYTES SHA256`. ACKNOWLEDGED counts the bytes that the peer's kernel acknowledged,
including those of TLS and of the head.
"""

import hashlib
import socket
import ssl
import struct
import sys
import threading
import time

TCP_INFO_BYTES_ACKED = 120  # tcpi_bytes_acked of linux/tcp.h


def acknowledged(connection):
    information = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return struct.unpack_from("Q", information, TCP_INFO_BYTES_ACKED)[0]


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def serve(connection, context, content, rate):
    secure = None
    try:
        secure = context.wrap_socket(connection, server_side=True)
        reader = secure.makefile("rb")
        method, path = reader.readline().split(b" ")[:2]
        headers = {}
        while (line := reader.readline()) not in (b"\r\n", b""):
            name, value = line.decode().split(":", 1)
            headers[name.lower()] = value.strip()
        if method == b"PUT":
            body = reader.read(int(headers["content-length"]))
            say(f"put {len(body)} {hashlib.sha256(body).hexdigest()}")
            secure.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
            return
        if path == b"/unsized":
            secure.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + content[:len(content) // 2])
            return
        start = int(headers.get("range", "bytes=0-")[6:-1])
        size = len(content)
        head = f"HTTP/1.1 {'206 Part' if start else '200 OK'}\r\nETag: \"1\"\r\nContent-Length: {size - start}\r\n"
        if start:
            head += f"Content-Range: bytes {start}-{size - 1}/{size}\r\n"
        end = "broken"
        try:
            secure.sendall(head.encode() + b"\r\n")
            for offset in range(start, size, 16384):
                secure.sendall(content[offset:offset + 16384])
                time.sleep(16384 / rate)
            end = "whole"
        except OSError:
            pass
        say(f"get {start} {acknowledged(secure)} {end}")
    except OSError as error:
        say(f"refused {error}")
    finally:
        (secure or connection).close()


def main():
    certificate, key, file, rate = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    content = open(file, "rb").read()
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    listener.bind(("127.0.0.1", 0))
    listener.listen(16)
    say(f"port {listener.getsockname()[1]}")
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, context, content, int(rate)), daemon=True).start()


main()
