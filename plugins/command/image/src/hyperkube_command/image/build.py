"""The image of hyperkube itself: Python, hyperkube or a part of it with all that it needs, and programs that it calls.

It is made of what is installed on this machine: nothing is fetched, no container engine is asked.
"""

from __future__ import annotations

import importlib.metadata
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

import orjson
from hyperkube_command.image.files import add_distribution, add_interpreter, closure
from hyperkube_command.image.master import manifest
from hyperkube_lib.image_archive import Image, Layer, add_program, shared_libraries

from hyperkube.command.main import servers

_HOME = "/opt/hyperkube"
_LAUNCHER = f"""\
#!{_HOME}/bin/python
import sys

from hyperkube.command.main import main

sys.exit(main())
"""
BUNDLE = "hyperkube"
_HOST = "hyperkube-host-"
_NODE = frozenset({f"{_HOST}kubelet", f"{_HOST}proxy"})
_NODE_PROGRAMS = (
    "busybox", "conntrack", "ebtables", "ip", "iptables", "iptables-restore", "iptables-save", "ip6tables",
    "ip6tables-restore", "ip6tables-save", "mount", "nft", "nsenter", "socat", "tc", "umount", "unshare",
)  # fmt: skip
"""What servers and plugins of a node call; what this machine lacks is left out."""
_STORE_PROGRAMS = ("etcd",)
_SHELL = ("cat", "cp", "env", "hostname", "id", "kill", "ls", "mkdir", "ps", "rm", "sh", "sleep", "stat", "tail", "vi")
_ETC = {
    "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n",
    "/etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}
_TRUSTED = Path("/etc/ssl/certs/ca-certificates.crt")


def image(tag: str, distributions: Sequence[str] = (BUNDLE,)) -> Image:
    """Return an image of hyperkube.

    Args:
        tag: its full reference; the master's manifest inside names it.
        distributions: what is installed in it, with all that they need. The programs that a node calls are there if a
            server of a node is, and etcd and the master's manifest if all of hyperkube is.

    Raises:
        importlib.metadata.PackageNotFoundError: one of them is not installed here.
    """
    return Image(
        tags=[tag],
        fill=_filler(tag, closure(*distributions)),
        entrypoint=[],
        command=["/hyperkube", "--help"],
        environment={"PATH": f"{_HOME}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
    )


def _filler(tag: str, distributions: list[importlib.metadata.Distribution]) -> Callable[[Layer], None]:
    names = {distribution.name for distribution in distributions}

    def fill(layer: Layer) -> None:
        add_interpreter(layer)
        _add_home(layer, names)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        for distribution in distributions:
            add_distribution(layer, distribution, f"{_HOME}/lib/{version}/site-packages")
        if not _NODE.isdisjoint(names):
            _add_node_programs(layer)
        for path, content in _ETC.items():
            layer.text(path, content)
        if _TRUSTED.exists():
            layer.file(str(_TRUSTED), _TRUSTED)
        if BUNDLE in names:
            _add_programs(layer, _STORE_PROGRAMS)
            master = orjson.dumps(manifest(tag), option=orjson.OPT_INDENT_2)
            layer.data("/etc/kubernetes/manifests/master.json", master)
        layer.folder("/tmp", 0o1777)  # noqa: S108  of the image
        layer.symlink("/var/run", "/run")
        layer.folder("/run")

    return fill


def _add_home(layer: Layer, names: Collection[str]) -> None:
    """Add the virtual environment: a file that says where Python is, a link to it, and the commands."""
    interpreter = Path(sys.executable).resolve()
    layer.text(f"{_HOME}/pyvenv.cfg", f"home = {interpreter.parent}\ninclude-system-site-packages = false\n")
    layer.symlink(f"{_HOME}/bin/python", str(interpreter))
    layer.text(f"{_HOME}/bin/hyperkube", _LAUNCHER, 0o755)
    layer.symlink("/hyperkube", f"{_HOME}/bin/hyperkube")
    for word, entry in servers().items():
        if f"{_HOST}{word}" in names:
            layer.symlink(f"{_HOME}/bin/{entry.name}", "hyperkube")


def _add_programs(layer: Layer, programs: Iterable[str]) -> None:
    for program in programs:
        if shutil.which(program):
            add_program(layer, program)


def _add_node_programs(layer: Layer) -> None:
    _add_programs(layer, _NODE_PROGRAMS)
    if iptables := shutil.which("iptables"):
        # Its matches and targets are libraries that it opens by name.
        for folder in {library.resolve().parent / "xtables" for library in shared_libraries(Path(iptables).resolve())}:
            if folder.is_dir():
                layer.tree(str(folder), folder)
    busybox = shutil.which("busybox")
    for name in _SHELL if busybox else ():
        layer.symlink(f"/bin/{name}", str(busybox))
