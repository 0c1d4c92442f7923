"""Shows a command a private copy of a folder: what it writes stays in a layer of its own, and some files are hidden.

Loaded in an isolated interpreter before the sandbox, so it needs only the standard library.

Arguments: REPORT FOLDER UPPER WORK COUNT HIDDEN... COMMAND... REPORT gets a line once the folder is mounted; without
that line, nothing was run. UPPER is the layer over FOLDER, WORK an empty folder beside it.
"""

import os
import sys

sys.path.append(os.path.dirname(__file__))  # noqa: PTH120

from exec_command import become, call_library, candidate_paths, handed_over  # type: ignore[import-not-found]

NEW_MOUNTS, NEW_USER = 0x00020000, 0x10000000
BIND, RECURSIVE, SLAVE = 0x1000, 0x4000, 0x80000


def main() -> None:
    report, (folder, upper, work, count) = int(sys.argv[1]), sys.argv[2:6]
    hidden, command = sys.argv[6 : 6 + int(count)], sys.argv[6 + int(count) :]
    environment, user, group = handed_over(), os.geteuid(), os.getegid()
    if call_library("unshare", NEW_MOUNTS | (NEW_USER if user else 0)) != 0:
        os._exit(127)
    options = [f"lowerdir={escaped(folder)}", f"upperdir={escaped(upper)}", f"workdir={escaped(work)}"]
    if user:
        for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(line)
        options.append("userxattr")
    mount(b"none", b"/", None, RECURSIVE | SLAVE)
    mount(b"overlay", os.fsencode(folder), b"overlay", 0, os.fsencode(",".join(options)))
    for path in hidden:
        mount(b"/dev/null", os.fsencode(path), None, BIND)
    # The current folder is still the one below the mount.
    os.chdir(folder)
    os.set_inheritable(report, False)
    os.write(report, b"mounted\n")
    become(report, candidate_paths(command[0], environment), command, environment)


def mount(source: bytes, target: bytes, kind: "bytes | None", flags: int, data: "bytes | None" = None) -> None:
    if call_library("mount", source, target, kind, flags, data) != 0:
        os._exit(127)


def escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace(":", "\\:").replace(",", "\\,")
