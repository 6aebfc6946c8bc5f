"""The one command with many names: hyperkube, and each server under its own name.

The name it was called by, or else its first word, chooses what runs. A user's mistake prints one line and exits 1; a
bug prints a traceback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from hyperkube.machinery.errors import UsageError

LONG = (
    "hyperkube is Kubernetes in Python: API server, controller manager, scheduler, kubelet and proxy behind one"
    " command, where every behaviour is a pip-installable plugin."
)

SERVERS: dict[str, str] = {
    "apiserver": "kube-apiserver",
    "controller-manager": "kube-controller-manager",
    "scheduler": "kube-scheduler",
    "kubelet": "kubelet",
    "proxy": "kube-proxy",
}
"""Word → name; the module `hyperkube.cli.servers.WORD` holds its `COMMAND`."""

COMMANDS: dict[str, str] = {
    "up": "start a local cluster: all five servers in one process",
    "status": "say whether the local cluster runs, where, and how its parts do",
    "down": "stop the local cluster; its objects stay",
    "reset": "stop the local cluster and delete its data folder",
    "kubeconfig": "print the administrator's kubeconfig, or merge it into ~/.kube/config",
    "plugins": "list the installed plugins: family, name, distribution, version, hooks",
    "storage": "check, compact, back up or restore the embedded store",
    "snapshot": "save, list, compare and restore states of the local cluster, or fork it",
    "at": "read objects as they were at a revision of the past",
    "image": "load images into a node's runtime and list them",
    "simulate": "say where pods would go, on a copy of a cluster; compare scheduler configurations",
    "why": "say why a pod is pending or where it is, or why a user may not do something",
    "version": "print the version",
}
"""Word → one line; the module `hyperkube.cli.commands.WORD` holds its click command `command`."""


def usage() -> str:
    """Return what ``hyperkube --help`` prints."""
    import textwrap

    lines = [*textwrap.wrap(LONG, 100), "", "Usage:", "  hyperkube COMMAND [flags]", "", "Servers:", ""]
    lines += [f"  {word:<20} the same as {name}" for word, name in SERVERS.items()]
    lines += ["", "Commands:", ""]
    lines += [f"  {word:<20} {text}" for word, text in COMMANDS.items()]
    lines += ["", "Flags:", ""]
    lines += ["  --make-symlinks      make a link to hyperkube for each server in the current folder"]
    lines += ["  --version            print the version and exit", "  -h, --help           print this help and exit"]
    lines += ["", "Example:", "  hyperkube up", "  hyperkube apiserver --storage-backend=sqlite --data-dir=data"]
    return "\n".join(lines)


def run(program: str, args: Sequence[str]) -> None:
    """Run what the program's name or the first argument says.

    Raises:
        UsageError: an unknown command, or a mistake in its arguments.
    """
    word = _server_word(program)
    rest = list(args)
    if word is None:
        if not rest:
            print(usage(), file=sys.stderr)
            raise UsageError("no command given")
        first = rest.pop(0)
        if first in {"-h", "--help", "help"}:
            print(usage())
            return
        if first == "--version":
            first = "version"
        if first.replace("_", "-").split("=")[0] == "--make-symlinks":
            make_symlinks(Path(program), Path.cwd())
            return
        word = _server_word(first) or first
    if word in SERVERS:
        import_module(f"hyperkube.cli.servers.{word.replace('-', '_')}").COMMAND.main(rest)
    elif word in COMMANDS:
        _run_click(word, rest)
    else:
        print(usage(), file=sys.stderr)
        raise UsageError(f"unknown command {word!r}")


def _server_word(name: str) -> str | None:
    base = Path(name).name
    if base in SERVERS:
        return base
    return next((word for word, server in SERVERS.items() if server == base), None)


def _run_click(word: str, args: list[str]) -> None:
    import click

    command: click.Command = import_module(f"hyperkube.cli.commands.{word}").command
    try:
        code = command.main(args, prog_name=f"hyperkube {word}", standalone_mode=False)
    except click.exceptions.Exit as end:
        sys.exit(end.exit_code)
    except click.Abort as abort:
        raise UsageError("aborted") from abort
    except click.ClickException as error:
        raise UsageError(error.format_message()) from error
    if isinstance(code, int) and code:
        sys.exit(code)


def make_symlinks(program: Path, folder: Path) -> None:
    """Make one link per server in `folder`, each to this program.

    Raises:
        UsageError: a link cannot be made.
    """
    import shutil

    target = Path(shutil.which(str(program)) or program).absolute()
    for name in SERVERS.values():
        link = folder / name
        try:
            if not link.is_symlink() or link.readlink() != target:
                link.symlink_to(target)
        except OSError as error:
            raise UsageError(f"cannot make link {str(link)!r}: {error.strerror}") from error
        print(link)


def main() -> None:
    """Run the command line of this process and exit with 0, or 1 after a user's mistake."""
    try:
        run(sys.argv[0], sys.argv[1:])
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


if __name__ == "__main__":
    main()
