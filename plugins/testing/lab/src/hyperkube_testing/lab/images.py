"""Images of the laboratory, made from Debian's packages: what tests run in containers.

``busybox:lab`` has a shell, ``httpd``, ``nc`` and some 270 more programs in one static file. Its ``wget`` crashes in
Debian 12 (it looks names up with a library that is not linked in); ``nc ADDRESS PORT`` does instead.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from hyperkube_lib.image_archive import Image, Layer, add_program

PAUSE = "registry.k8s.io/pause:3.10.1"
BUSYBOX = "docker.io/library/busybox:lab"

_BUSYBOX = Path("/usr/bin/busybox")
_PATH = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
# The first process of a pod's shared PID namespace collects the exit states of orphans: a shell does while it waits.
_PAUSE = "trap 'exit 0' INT TERM; while :; do sleep 86400 & wait $!; done"


def busybox() -> Image:
    """Return the image of Debian's busybox-static, with all its programs in ``/bin``."""
    return Image(
        tags=[BUSYBOX],
        fill=_fill_busybox,
        command=["sh"],
        environment=_PATH,
    )


def pause() -> Image:
    """Return the image of sandboxes: it waits until it is told to end."""
    return Image(tags=[PAUSE], fill=_fill_pause, entrypoint=["/bin/sh", "-c", _PAUSE], environment=_PATH)


def debian_programs(tag: str, programs: Sequence[str], command: Sequence[str] = ()) -> Image:
    """Return an image of busybox and more programs of this machine, with the C library that they look up names with.

    Args:
        tag: the image's full reference.
        programs: names or paths, such as ``dig``.
        command: what a container runs, a shell unless given.

    Raises:
        FileNotFoundError: when the image is written: there is no such program.
    """

    def fill(layer: Layer) -> None:
        _fill_busybox(layer)
        for program in programs:
            add_program(layer, program)
        layer.text("/etc/nsswitch.conf", "hosts: files dns\n")

    return Image(tags=[tag], fill=fill, command=command or ["sh"], environment=_PATH)


def _fill_pause(layer: Layer) -> None:
    layer.file("/bin/busybox", _BUSYBOX, 0o755)
    for program in ("sh", "sleep"):
        layer.symlink(f"/bin/{program}", "busybox")


def _fill_busybox(layer: Layer) -> None:
    layer.file("/bin/busybox", _BUSYBOX, 0o755)
    listed = subprocess.run([str(_BUSYBOX), "--list"], capture_output=True, text=True, check=True).stdout
    for program in listed.split():
        layer.symlink(f"/bin/{program}", "busybox")
    layer.text("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n")
    layer.text("/etc/group", "root:x:0:\nnogroup:x:65534:\n")
    layer.folder("/root", 0o700)
    layer.folder("/tmp", 0o1777)  # noqa: S108  of the image
    layer.folder("/var/www")
