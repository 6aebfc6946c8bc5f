"""Write docs/reference/hooks.md from the hook specs, so that the page cannot lie."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from types import ModuleType

from hyperkube_command.plugins.catalog import SPECIFICATIONS
from workspace import ROOT

PATH = ROOT / "docs" / "reference" / "hooks.md"
HEAD = """# Hooks

Generated from `hyperkube.hookspecs` by `./dev docs`; do not edit. A plugin implements hooks with `@hookimpl` on methods of a
`hyperkube.plugin.Plugin`; the promises under *Must* are tests in the family's contract class.
"""

MORE = {"scheduler": ("hyperkube.hookspecs.pod_groups",), "volume": ("hyperkube.hookspecs.volume_storage",)}
"""Family → further modules with what its plugins may offer."""


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
        for more in MORE.get(family, ()):
            types += _own(importlib.import_module(more))
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
    """Return the types that signatures name, those that their members name, and the classes that a plugin may offer.

    The last ones are the protocols and bases of the family's module that nothing names: what a plugin can do beside.
    """
    found: dict[str, type] = {}
    due = [text]
    while due:
        for name in re.findall(r"\w+", due.pop()):
            each = getattr(module, name, None)
            if name not in found and isinstance(each, type) and each.__module__.startswith("hyperkube.hookspecs"):
                found[name] = each
                due.append(" ".join(line.partition("#")[0] for line in _members(each)))
    for each in _own(module):
        name, offers = each.__name__, _is_protocol(each) or _derives(each, found)
        if offers and name not in found and not name.endswith("Hooks"):
            found[name] = each
    return list(found.values())


def _own(module: ModuleType) -> list[type]:
    """Return the public classes of a module, in its order."""
    return [
        each
        for name, each in vars(module).items()
        if isinstance(each, type) and each.__module__ == module.__name__ and not name.startswith("_")
    ]


def _is_protocol(each: type) -> bool:
    return bool(getattr(each, "_is_protocol", False))


def _derives(each: type, known: Mapping[str, type]) -> bool:
    return any(base in known.values() for base in each.__mro__[1:])


def _described(each: type) -> str:
    """Return a type with its attributes and methods, as a reader of its source finds them."""
    summary = (inspect.getdoc(each) or "").partition("\n")[0]
    members = "\n".join(_members(each))
    listed = f"\n```python\n{members}\n```\n" if members else ""
    return f"\n`{each.__module__}.{each.__name__}`: {summary}\n{listed}"


def _members(each: type) -> list[str]:
    """Return the attributes and methods of a class, a line each, methods with what they do."""
    annotations = vars(each).get("__annotations__", {})
    members = [f"{name}: {annotation}".replace("'", '"') for name, annotation in annotations.items()]
    for name, member in vars(each).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property) and member.fget is not None:
            members.append(f"{name}: {inspect.signature(member.fget).return_annotation}")
        elif inspect.isfunction(member):
            said = (inspect.getdoc(member) or "").partition("\n")[0]
            members.append(f"def {_signature(name, member)}" + (f"  # {said}" if said else ""))
    return members


if __name__ == "__main__":
    if "--write" in sys.argv:
        PATH.parent.mkdir(parents=True, exist_ok=True)
        PATH.write_text(render())
    else:
        sys.stdout.write(render())
