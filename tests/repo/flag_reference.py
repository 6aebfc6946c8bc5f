"""Write docs/reference/flags.md from the servers' tables of flags, so that the page cannot lie."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from workspace import ROOT

from hyperkube.command.main import server_command, servers
from hyperkube.command.server_command import ServerCommand
from hyperkube.plugin.flags import BOOL, Flag, plugin_flags

PATH = ROOT / "docs" / "reference" / "flags.md"
HEAD = """# Flags

Generated from the tables of flags of the servers by `./dev docs`; do not edit. An underscore in a flag's name counts as a dash, a boolean
needs no value, a list is comma-separated and ordered, and a repeated list flag adds to it. The last column names the plugin
that brings a flag: the flag is there while that plugin is installed, and has an effect while it is enabled; `--plugin-config` can
give the same setting. *Not built yet* means: accepted with a warning. *Refused until built* marks options that keep a cluster safe:
ignoring one would leave it open, so it is an error.
"""


def render() -> str:
    """Return the page."""
    parts = [HEAD]
    for word in servers():
        command = server_command(word)
        name = command.name
        parts.append(f"\n## {name}\n\n{command.long}\n")
        flags, owners = command.all_flags(), _owners(command)
        for title in dict.fromkeys(flag.section for flag in flags):
            parts.append(f"\n### {name}: {title}\n\n| flag | default | | plugin |\n|---|---|---|---|\n")
            parts += [_row(flag, owners.get(flag.name, ())) for flag in flags if flag.section == title]
    return "".join(parts)


def _owners(command: ServerCommand) -> dict[str, list[str]]:
    """Return the plugins that bring each flag that is not the server's own."""
    owners: dict[str, list[str]] = {}
    for plugin in plugin_flags(command.name, command.families):
        for flag in plugin.flags:
            owners.setdefault(flag.name, []).append(f"`{plugin.family}.{plugin.name}`")
    return owners


def _row(flag: Flag, owners: Sequence[str]) -> str:
    names = ", ".join(f"`--{name}`" for name in (flag.name, *flag.aliases))
    kind = f" {flag.kind.name}" if flag.kind is not BOOL else ""
    notes = [flag.help]
    notes += ["*not built yet*"] if flag.accepted and flag.idle != "no effect" else []
    notes += ["*refused until built*"] if flag.refused else []
    notes += [f"*deprecated: {flag.deprecated}*"] if flag.deprecated else []
    return f"| {names}{kind} | {_shown(flag.default)} | {_cell('; '.join(notes))} | {', '.join(owners)} |\n"


def _shown(default: object) -> str:
    if default in ("", False, None):
        return ""
    return f"`{_cell(str(default).lower() if isinstance(default, bool) else str(default))}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    if "--write" in sys.argv:
        PATH.parent.mkdir(parents=True, exist_ok=True)
        PATH.write_text(render())
    else:
        sys.stdout.write(render())
