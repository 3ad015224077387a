#!/usr/bin/python3
"""A disk with one file that stops for a while now and then, as a worn card or a share does, or fails.

usage: stalling_disk.py FOLDER FILE SECONDS BYTES

Shows FILE as FOLDER/item until it is ended by SIGTERM. Whenever so many BYTES of it were read, the next read takes SECONDS
longer; where SECONDS is "fail", what lies between the first BYTES and the last 4,096 cannot be read. Says "ready" when the
disk is there, and "stalled" after each stop.
"""
import errno
import os
import stat
import sys
import time

import fuse

fuse.fuse_python_api = (0, 2)


class Handle:
    """An open file of which the kernel keeps nothing: each read gets here."""
    direct_io = True
    keep_cache = False


class Disk(fuse.Fuse):
    def __init__(self, path, seconds, step):
        super().__init__()
        self.content = os.open(path, os.O_RDONLY)
        self.seconds = seconds
        self.step = step
        self.left = step
        self.multithreaded = False

    def fsinit(self):
        print("ready", flush=True)

    def getattr(self, path):
        status = fuse.Stat()
        if path == "/":
            status.st_mode = stat.S_IFDIR | 0o755
            status.st_nlink = 2
        elif path == "/item":
            status.st_mode = stat.S_IFREG | 0o444
            status.st_nlink = 1
            status.st_size = os.fstat(self.content).st_size
        else:
            return -errno.ENOENT
        return status

    def readdir(self, path, offset):
        return [fuse.Direntry(name) for name in (".", "..", "item")]

    def open(self, path, flags):
        return Handle() if path == "/item" else -errno.ENOENT

    def read(self, path, size, offset, handle=None):
        if self.seconds is None:
            end = os.fstat(self.content).st_size - 4096
            return -errno.EIO if offset + size > self.step and offset < end else os.pread(self.content, size, offset)
        self.left -= size
        if self.left <= 0:
            self.left = self.step
            time.sleep(self.seconds)
            print("stalled", flush=True)
        return os.pread(self.content, size, offset)


def main():
    folder, path, seconds, step = sys.argv[1:]
    if not os.path.exists("/dev/fuse"):
        sys.exit("there is no /dev/fuse; as root, `mknod /dev/fuse c 10 229` makes it where the kernel has FUSE")
    disk = Disk(path, None if seconds == "fail" else float(seconds), int(step))
    disk.parse(["-f", folder], errex=1)
    disk.main()


main()
