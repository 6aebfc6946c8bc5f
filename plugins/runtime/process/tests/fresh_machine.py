"""Runs containers in a view of this machine as it is when fresh: a clean ``/dev``, nothing left by earlier pods.

Called as a program: ``fresh_machine.py FOLDER UID``. It prints one JSON object: what the containers printed, and which
paths outside FOLDER were added, removed or changed meanwhile. With further words, these are executed there instead.
"""

import json
import logging
import os
import stat
import sys
import threading
from pathlib import Path

from hyperkube_runtime.process.runtime import ProcessRuntime
from hyperkube_runtime.process.shim import kernel, mounts

from hyperkube.machinery.clock import SystemClock

WATCHED = ("/", "/dev", "/etc", "/home", "/mnt", "/opt", "/run", "/srv", "/usr", "/usr/local", "/var", "/var/lib")
DEVICES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}
TERMINAL = (5, 2)


def clean_dev(folder: Path) -> None:
    """Cover ``/dev`` with a minimal one in which ``ptmx`` is a device, as on a machine that has just started."""
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_SLAVE)
    kernel.mount("dev", str(folder), "tmpfs", options="mode=0755")
    for name, (major, minor) in {**DEVICES, "ptmx": TERMINAL}.items():
        os.mknod(folder / name, 0o666 | stat.S_IFCHR, os.makedev(major, minor))
        (folder / name).chmod(0o666)
    (folder / "pts").mkdir()
    kernel.mount("devpts", str(folder / "pts"), "devpts", options="newinstance,ptmxmode=0666,mode=0620")
    (folder / "shm").mkdir(mode=0o1777)
    kernel.mount(str(folder), "/dev", flags=kernel.MS_BIND | kernel.MS_REC)


def open_the_way_to_python(scratch: Path) -> None:
    """Let every user execute this interpreter, which may lie in a home folder; only in this mount namespace."""
    for prefix in (Path(sys.base_prefix), Path(sys.prefix), Path(__file__).parent):
        for folder in reversed(prefix.parents):
            if not folder.stat().st_mode & stat.S_IXOTH:
                mounts.View(str(scratch))._rebuild(str(folder))
                folder.chmod(0o755)


def listing() -> dict[str, list[int]]:
    """Return path → what identifies it, for all entries of the watched folders."""
    found = {}
    for folder in WATCHED:
        for entry in os.scandir(folder):
            status = entry.stat(follow_symlinks=False)
            found[entry.path] = [status.st_ino, status.st_mode, status.st_uid]
    return found


def suite(folder: Path) -> dict[str, str]:
    """Run one container of each kind; return name → its output."""
    runtime = ProcessRuntime(folder / "process", clock=SystemClock(), logger=logging.getLogger("test"))
    volume, file = folder / "volume", folder / "message"
    volume.mkdir()
    (volume / "key").write_text("value\n")
    file.touch()
    file.chmod(0o666)
    mounts = [
        {"host_path": str(file), "container_path": "/dev/termination-log"},
        {"host_path": str(file), "container_path": "/etc/hosts"},
        {"host_path": str(volume), "container_path": "/var/run/secrets/kubernetes.io/serviceaccount", "readonly": True},
        {"host_path": str(volume), "container_path": "/nosuchtop/data"},
        {"host_path": str(volume), "container_path": "/usr/nosuch/data"},
        {"host_path": str(volume), "container_path": "/nosuchtop/data/nested/deeper"},
        {"host_path": str(volume), "container_path": "/opt/../../srv/../mnt/nosuch"},
        {"host_path": str(file), "container_path": "/etc/nosuch.conf"},
    ]
    scripts = {
        "plain": ("printf x > /dev/termination-log; cat /usr/nosuch/data/key /nosuchtop/data/nested/deeper/key", False),
        "terminal": ("tty; test -e $(tty) && echo > /dev/null && echo yes", True),
    }
    said = {}
    for name, (script, tty) in scripts.items():
        metadata = {"namespace": "default", "name": name, "uid": name}
        pod = {"metadata": metadata, "hostname": "p", "log_directory": str(folder / name)}
        sandbox = runtime.run_sandbox(pod, "")
        config = {
            "metadata": {"name": "c"},
            "image": {"image": "host"},
            "command": ["sh", "-c", script],
            "tty": tty,
            "mounts": mounts,
            "log_path": "0.log",
        }
        container_id = runtime.create_container(sandbox, config, pod)
        runtime.start_container(container_id)
        while runtime.container(container_id).state != "exited":
            threading.Event().wait(0.02)
        lines = (folder / name / "0.log").read_text().splitlines()
        said[name] = "\n".join(line.split(" ", 3)[3] for line in lines).replace("\r", "")
        said[f"{name} view"] = runtime._containers[container_id].reported.view
        runtime.remove_sandbox(sandbox)
    runtime.close()
    return said


def main(folder: Path, uid: int, command: list[str]) -> None:
    """Run it all, or the command, as the user `uid`; called as root."""
    (folder / "dev").mkdir(exist_ok=True)
    clean_dev(folder / "dev")
    open_the_way_to_python(folder)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    if command:
        os.execvp(command[0], command)
    before = listing()
    said = suite(folder)
    after = listing()
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    sys.stdout.write(json.dumps({"said": said, "changed": changed}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
