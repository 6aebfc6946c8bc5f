"""The one command with many names: hyperkube, and each installed server under its own name.

The name it was called by, or else its first word, chooses what runs. Servers are found through the entry points
``hyperkube.server`` (name to `ServerCommand`), subcommands through ``hyperkube.command`` (word to click command). A
user's mistake prints one line and exits 1; a bug prints a traceback.

Source: kubernetes 1.x ``cmd/hyperkube``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.suggestions import closest
from hyperkube.plugin.failures import culprit
from hyperkube.plugin.loader import PluginLoadFailed, installed, load_entry, one_look

if TYPE_CHECKING:
    import click

    from hyperkube.command.server_command import ServerCommand

LONG = (
    "hyperkube is Kubernetes in Python: API server, controller manager, scheduler, kubelet and proxy behind one"
    " command, where every behaviour is a pip-installable plugin."
)
SERVER_FAMILY = "server"
COMMAND_FAMILY = "command"
_PREFIX = "kube-"


def servers() -> Mapping[str, EntryPoint]:
    """Return the installed servers by the word that starts them: ``scheduler`` for ``kube-scheduler``.

    Raises:
        PluginConflict: two distributions offer the same server.
    """
    return {name.removeprefix(_PREFIX): entry for name, entry in sorted(installed(SERVER_FAMILY).items())}


def commands() -> Mapping[str, EntryPoint]:
    """Return the installed subcommands by word.

    Raises:
        PluginConflict: two distributions offer the same subcommand.
    """
    return dict(sorted(installed(COMMAND_FAMILY).items()))


def server_command(word: str) -> ServerCommand:
    """Return the command line of the server that `word` starts.

    Raises:
        PluginLoadFailed: its module cannot be imported.
    """
    found: ServerCommand = load_entry(SERVER_FAMILY, servers()[word])
    return found


def subcommand(word: str) -> click.Command:
    """Return a subcommand as click knows it.

    Raises:
        PluginLoadFailed: its module cannot be imported.
    """
    found: click.Command = load_entry(COMMAND_FAMILY, commands()[word])
    return found


def usage() -> str:
    """Return what ``hyperkube --help`` prints: the installed servers and subcommands."""
    import textwrap

    lines = [*textwrap.wrap(LONG, 100), "", "Usage:", "  hyperkube COMMAND [flags]", "", "Servers:", ""]
    width = max(map(len, ("--make-symlinks", *servers(), *commands())))

    def row(word: str, text: str) -> str:
        return f"  {word:<{width}}  {text}"

    lines += [row(word, f"the same as {entry.name}") for word, entry in servers().items()] or ["  (none installed)"]
    lines += ["", "Commands:", "", *(row(word, _short_help(word)) for word in commands())]
    lines += [row("version", "print the version"), "", "Flags:", ""]
    lines += [row("--make-symlinks", "make a link to hyperkube for each server in the current folder")]
    lines += [row("--version", "print the version and exit"), row("-h, --help", "print this help and exit")]
    example = next((f"hyperkube {word} --help" for word in (*commands(), *servers())), "hyperkube version")
    lines += ["", "Example:", f"  {example}"]
    return "\n".join(lines)


def _short_help(word: str) -> str:
    try:
        command = subcommand(word)
    except PluginLoadFailed as error:
        return f"(cannot be loaded: {' '.join(str(error).split())})"
    return command.get_short_help_str(limit=100)


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
    if word in servers():
        server_command(word).main(rest)
    elif word in commands():
        run_click(subcommand(word), word, rest)
    elif word == "version":
        from hyperkube.command.version import command

        run_click(command, word, rest)
    else:
        print(usage(), file=sys.stderr)
        raise UsageError(_not_installed(word))


def _server_word(name: str) -> str | None:
    """Return which server a program's name or a first word means, installed or not; None if it is no server's name."""
    base = Path(name).name
    found = servers()
    if base in found or base.startswith(_PREFIX):
        return base.removeprefix(_PREFIX)
    return None


def _not_installed(word: str) -> str:
    """Return the line for a word that nothing installed answers to: which distribution would bring it."""
    near = closest(word, [*servers(), *commands(), "version"])
    hint = f"did you mean {near!r}? " if near else ""
    return (
        f"unknown command {word!r}: not installed ({hint}a server comes with distribution 'hyperkube-host-{word}',"
        f" a subcommand with 'hyperkube-command-{word}', all of them with 'hyperkube')"
    )


def run_click(command: click.Command, word: str, args: list[str]) -> None:
    """Run a click command with `args`; its non-zero result becomes the exit code.

    Raises:
        UsageError: a mistake in its arguments, or the user aborted.
    """
    import click

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
    """Make one link per installed server in `folder`, each to this program.

    Raises:
        UsageError: a link cannot be made.
    """
    import shutil

    target = Path(shutil.which(str(program)) or program).absolute()
    for entry in servers().values():
        link = folder / entry.name
        try:
            if not link.is_symlink() or link.readlink() != target:
                link.symlink_to(target)
        except OSError as error:
            raise UsageError(f"cannot make link {str(link)!r}: {error.strerror}") from error
        print(link)


def main() -> None:
    """Run the command line of this process and exit with 0, or 1 after a user's mistake."""
    try:
        with one_look():  # a command works with what is installed as it begins
            run(sys.argv[0], sys.argv[1:])
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if blamed := culprit(error):
            error.add_note(f"this is a bug of {blamed}")  # the traceback's last line
        raise


if __name__ == "__main__":
    main()
