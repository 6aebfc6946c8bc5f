"""Write docs/reference/hooks.md from the hook specs, so that the page cannot lie."""

from __future__ import annotations

import importlib
import inspect
import sys

from hyperkube_command.plugins import SPECIFICATIONS
from workspace import ROOT

PATH = ROOT / "docs" / "reference" / "hooks.md"
HEAD = """# Hooks

Generated from `hyperkube.hookspecs` by `./dev docs`; do not edit. A plugin implements hooks with `@hookimpl` on methods of a
`hyperkube.plugin.Plugin`; the promises under *Must* are tests in the family's contract class.
"""


def render() -> str:
    """Return the page."""
    parts = [HEAD]
    for family, name in sorted(SPECIFICATIONS.items()):
        module = importlib.import_module(name)
        parts.append(f"\n## {family}\n\n{inspect.getdoc(module)}\n")
        for hook, function in inspect.getmembers(module, inspect.isfunction):
            if hasattr(function, "hyperkube_spec"):
                signature = ", ".join(
                    f"{p.name}: {p.annotation}" for p in inspect.signature(function).parameters.values()
                )
                returns = inspect.signature(function).return_annotation
                parts.append(f"\n### `{hook}({signature}) -> {returns}`\n\n```text\n{inspect.getdoc(function)}\n```\n")
    return "".join(parts)


if __name__ == "__main__":
    if "--write" in sys.argv:
        PATH.parent.mkdir(parents=True, exist_ok=True)
        PATH.write_text(render())
    else:
        sys.stdout.write(render())
