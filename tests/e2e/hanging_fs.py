"""A file system that never answers, by FUSE: whoever looks for a file in it waits in the kernel, and SIGKILL waits too.

python hanging_fs.py FOLDER: mounts it (needs root), prints a line, and answers what waits once its input is closed.
"""

import ctypes
import os
import select
import struct
import sys

IN, OUT = struct.Struct("=IIQQIIII"), struct.Struct("=IiQ")
INIT = 26
INIT_OUT = struct.Struct("=IIIIHHIIHHI7I")
ENOENT = 2


def main() -> None:
    folder = sys.argv[1]
    device = os.open("/dev/fuse", os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if libc.mount(b"hanging", folder.encode(), b"fuse", 0, options) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
    waiting: list[int] = []
    try:
        while True:
            ready, _, _ = select.select([device, 0], [], [])
            if 0 in ready:
                return
            _, opcode, unique, *_ = IN.unpack_from(os.read(device, 1 << 20))
            if opcode == INIT:
                body = INIT_OUT.pack(7, 31, 0, 0, 12, 9, 4096, 1, 0, 0, 0, *[0] * 7)
                os.write(device, OUT.pack(OUT.size + len(body), 0, unique) + body)
                print("mounted", flush=True)
            else:
                waiting.append(unique)
    finally:
        for unique in waiting:
            try:
                os.write(device, OUT.pack(OUT.size, -ENOENT, unique))
            except OSError:
                # It was given up meanwhile.
                continue
        libc.umount2(folder.encode(), 2)


if __name__ == "__main__":
    main()
