#!/usr/bin/python3
"""A disk with one file that stalls now and then, as a worn card or a network share does, or fails.

usage: stalling_disk.py FOLDER FILE SECONDS BYTES

Mounts FILE as FOLDER/item until SIGTERM. After every BYTES bytes a read takes SECONDS longer. If SECONDS is "fail", only
the first BYTES and the last 4,096 bytes can be read. Prints "ready" once the disk is mounted, and "stalled" after each stall.
"""
import errno
import os
import stat
import sys
import time

import fuse

fuse.fuse_python_api = (0, 2)


class Handle:
    """An open file that the kernel does not cache, so that each read arrives here."""
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
        sys.exit("cannot find /dev/fuse; if the kernel has FUSE, create it as root with `mknod /dev/fuse c 10 229`")
    disk = Disk(path, None if seconds == "fail" else float(seconds), int(step))
    disk.parse(["-f", folder], errex=1)
    disk.main()


main()
