#!/usr/bin/python3
"""A disk that stops answering on request: mounts FOLDER at MOUNTPOINT, read-only.

usage: slow_disk.py FOLDER MOUNTPOINT

A line "hold" on standard input makes every read wait until the line "go"; the end of standard input unmounts. Prints
"ready" once the disk is mounted, "holding" once reads will wait, and "waiting" when a read waits.
"""

import os
import subprocess
import sys
import threading

import fuse

fuse.fuse_python_api = (0, 2)
folder, mountpoint = sys.argv[1:3]
going = threading.Event()
going.set()


def say(word):
    """Prints in one piece, regardless of other threads."""
    os.write(1, (word + "\n").encode())


class SlowDisk(fuse.Fuse):
    def getattr(self, path):
        return os.lstat(folder + path)

    def readdir(self, path, offset):
        for name in [".", ".."] + os.listdir(folder + path):
            yield fuse.Direntry(name)

    def open(self, path, flags):
        return None

    def read(self, path, size, offset):
        if not going.is_set():
            say("waiting")
            going.wait()
        with open(folder + path, "rb") as file:
            file.seek(offset)
            return file.read(size)

    def fsinit(self):
        threading.Thread(target=listen, daemon=True).start()
        say("ready")


def listen():
    for line in sys.stdin:
        if line.strip() == "hold":
            going.clear()
            say("holding")
        else:
            going.set()
    going.set()
    subprocess.run(["fusermount3", "-uz", mountpoint])


disk = SlowDisk()
# Without direct_io the kernel would read ahead, and later reads would not wait.
disk.parse([mountpoint, "-f", "-o", "direct_io,ro"])
disk.main()
