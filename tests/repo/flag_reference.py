"""Write docs/reference/flags.md from the servers' tables of flags, so that the page cannot lie."""

from __future__ import annotations

import sys

from workspace import ROOT

from hyperkube.command.main import server_command, servers
from hyperkube.plugin.flags import BOOL, Flag

PATH = ROOT / "docs" / "reference" / "flags.md"
HEAD = """# Flags

Generated from the tables of flags of the servers by `./dev docs`; do not edit. An underscore in a flag's name counts as a dash, a boolean
needs no value, a list is comma-separated and ordered, and a repeated list flag adds to it. *Not built yet* means: accepted with a
warning. *Refused until built* marks options that keep a cluster safe: ignoring one would leave it open, so it is an error.
"""


def render() -> str:
    """Return the page."""
    parts = [HEAD]
    for word in servers():
        command = server_command(word)
        name = command.name
        parts.append(f"\n## {name}\n\n{command.long}\n")
        for title in dict.fromkeys(flag.section for flag in command.flags):
            parts.append(f"\n### {name}: {title}\n\n| flag | default | |\n|---|---|---|\n")
            parts += [_row(flag) for flag in command.flags if flag.section == title]
    return "".join(parts)


def _row(flag: Flag) -> str:
    names = ", ".join(f"`--{name}`" for name in (flag.name, *flag.aliases))
    kind = f" {flag.kind.name}" if flag.kind is not BOOL else ""
    notes = [flag.help]
    notes += ["*not built yet*"] if flag.accepted and flag.idle != "no effect" else []
    notes += ["*refused until built*"] if flag.refused else []
    notes += [f"*deprecated: {flag.deprecated}*"] if flag.deprecated else []
    return f"| {names}{kind} | {_shown(flag.default)} | {_cell('; '.join(notes))} |\n"


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
