"""hyperkube assets: a folder with ``kube-apiserver``, ``etcd`` and ``kubectl``, for tests that start their own.

The test environment of controller-runtime (envtest), and what is built on it, runs the programs in the folder that
``KUBEBUILDER_ASSETS`` names. Here the API server is hyperkube's; it and the machine's own kubectl are links. For etcd
the machine's own is taken too, or hyperkube's own, which is told by a flag; without one, its place is taken by a
program that only answers health checks, and the API server keeps its objects in memory, because the folder says so.

Source: controller-runtime ``pkg/internal/testing/process/bin_path_finder.go``, ``pkg/internal/testing/controlplane``.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.loader import installed

SERVER = "kube-apiserver"
STORE = "etcd"
CLIENT = "kubectl"
STAND_IN = """#!{python}
\"\"\"Stands in for etcd: answers its health checks; the API server beside it keeps the objects in memory itself.\"\"\"
import http.server
import signal
import sys
import urllib.parse


class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{{"health":"true","reason":""}}')

    def log_message(self, *words):
        pass


flags = {{name: value for name, _, value in (word.lstrip("-").partition("=") for word in sys.argv[1:])}}
if "help" in flags:
    print("  --listen-client-urls 'http://127.0.0.1:2379'")
    sys.exit()
for stop in (signal.SIGTERM, signal.SIGINT):
    signal.signal(stop, lambda *_: sys.exit(0))
address = urllib.parse.urlsplit(flags.get("listen-client-urls", "http://127.0.0.1:2379").split(",")[0])
http.server.ThreadingHTTPServer((address.hostname, address.port), Health).serve_forever()
"""
OWN_ETCD = """#!/bin/sh
exec {program} etcd "$@"
"""
IN_MEMORY = """#!/bin/sh
# The API server, with its objects in memory: the etcd beside it only stands in.
exec {program} "$@" --storage-backend=memory
"""


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path("kubebuilder-assets"))
@click.option("--in-memory", is_flag=True, help="keep objects in memory, although there is an etcd")
@click.option("--own-etcd", is_flag=True, help="take hyperkube's own etcd, although there may be another")
def command(folder: Path, in_memory: bool, own_etcd: bool) -> None:
    """Make FOLDER with the programs that envtest starts, and print how to use it.

    Example: eval "$(hyperkube assets)"
    """
    server = _program(SERVER)
    if server is None:
        raise UsageError(f"{SERVER!r} is not installed: it comes with distribution 'hyperkube-host-apiserver'")
    if in_memory and own_etcd:
        raise UsageError("--in-memory needs no --own-etcd: choose one of them")
    store, client = None if in_memory else shutil.which(STORE), shutil.which(CLIENT)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if own_etcd:
            _write(folder / STORE, OWN_ETCD.format(program=_own_program()))
            _link(folder / SERVER, server)
        elif store is None:
            _write(folder / STORE, STAND_IN.format(python=sys.executable))
            _write(folder / SERVER, IN_MEMORY.format(program=server))
        else:
            _link(folder / STORE, store)
            _link(folder / SERVER, server)
        if client is not None:
            _link(folder / CLIENT, client)
    except OSError as error:
        raise UsageError(f"cannot make {str(folder)!r}: {error.strerror}") from error
    if client is None:
        click.echo(f"warning: there is no {CLIENT} on the PATH: envtest's own KubeCtl will not work", err=True)
    click.echo(f"export KUBEBUILDER_ASSETS={folder.absolute()}")


def _own_program() -> str:
    """Return the program whose subcommand is the etcd.

    Raises:
        UsageError: that subcommand is not installed.
    """
    program = _program("hyperkube")
    if program is None or STORE not in installed("command"):
        raise UsageError("--own-etcd needs distribution 'hyperkube-command-etcd', which is not installed")
    return program


def _program(name: str) -> str | None:
    """Return where an installed program is: beside the interpreter, or on the PATH."""
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.is_file() else shutil.which(name)


def _link(place: Path, target: str) -> None:
    place.unlink(missing_ok=True)
    place.symlink_to(Path(target).absolute())


def _write(place: Path, text: str) -> None:
    place.unlink(missing_ok=True)  # it may be a link to a program that must not be overwritten
    place.write_text(text)
    place.chmod(0o755)
