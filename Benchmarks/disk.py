"""A disk whose power can be cut."""

import fcntl
import os
import struct
import subprocess
import time
from pathlib import Path

from processes import run

SHUTDOWN = 0x8004587D  # EXT4_IOC_SHUTDOWN; flag 2 discards data that is not on the disk


class Disk:
    """A file system on a loop device. Needs root."""

    def __init__(self, folder, megabytes=64, options="loop"):
        self.image = Path(folder) / "disk.img"
        self.path = Path(folder) / "disk"
        self.path.mkdir(exist_ok=True)
        self.options = options
        with open(self.image, "wb") as image:
            image.truncate(megabytes << 20)
        run("mkfs.ext4", "-q", "-F", self.image)
        self.mount()

    def mount(self):
        run("mount", "-o", self.options, self.image, self.path)

    def unmount(self):
        for _ in range(100):
            if subprocess.run(["umount", self.path], capture_output=True).returncode == 0:
                return
            time.sleep(0.05)
        users = subprocess.run(["fuser", "-vm", self.path], capture_output=True, text=True)
        raise RuntimeError(f"the disk stays busy: {users.stdout} {users.stderr}")

    def cut_power(self):
        descriptor = os.open(self.path, os.O_RDONLY)
        fcntl.ioctl(descriptor, SHUTDOWN, struct.pack("I", 2))
        os.close(descriptor)
