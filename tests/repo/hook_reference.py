"""Write docs/reference/hooks.md from the hook specs, so that the page cannot lie."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable
from types import ModuleType

from hyperkube_command.plugins.catalog import SPECIFICATIONS
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
        hooks = [
            (hook, function)
            for hook, function in inspect.getmembers(module, inspect.isfunction)
            if hasattr(function, "hyperkube_spec")
        ]
        for hook, function in hooks:
            parts.append(f"\n### `{_signature(hook, function)}`\n\n```text\n{inspect.getdoc(function)}\n```\n")
        types = _types(module, " ".join(_signature(*row) for row in hooks))
        if types:
            parts += [f"\n### Types of {family}\n", *map(_described, types)]
    return "".join(parts)


def _signature(name: str, function: Callable[..., object]) -> str:
    found = inspect.signature(function)
    parameters = ", ".join(
        f"{p.name}: {p.annotation}" if p.annotation is not p.empty else p.name for p in found.parameters.values()
    )
    returns = "" if found.return_annotation is found.empty else f" -> {found.return_annotation}"
    return f"{name}({parameters}){returns}"


def _types(module: ModuleType, text: str) -> list[type]:
    """Return the types of the family that a text of signatures names."""
    named = dict.fromkeys(re.findall(r"\w+", text))
    types = [getattr(module, name, None) for name in named]
    return [each for each in types if isinstance(each, type) and each.__module__.startswith("hyperkube.hookspecs")]


def _described(each: type) -> str:
    """Return a type with its attributes and methods, as a reader of its source finds them."""
    annotations = vars(each).get("__annotations__", {})
    members = [f"{name}: {annotation}".replace("'", '"') for name, annotation in annotations.items()]
    for name, member in vars(each).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property) and member.fget is not None:
            members.append(f"{name}: {inspect.signature(member.fget).return_annotation}")
        elif inspect.isfunction(member):
            members.append(f"def {_signature(name, member)}")
    summary = (inspect.getdoc(each) or "").partition("\n")[0]
    listed = f"\n```python\n{chr(10).join(members)}\n```\n" if members else ""
    return f"\n`{each.__module__}.{each.__name__}`: {summary}\n{listed}"


if __name__ == "__main__":
    if "--write" in sys.argv:
        PATH.parent.mkdir(parents=True, exist_ok=True)
        PATH.write_text(render())
    else:
        sys.stdout.write(render())
