"""What types and fields mean, from the docstrings of lightkube-models.

The modules are read as text, one after the other, and nothing of them is kept: importing them would build a thousand
dataclasses. A docstring has the type's text, a line ``**parameters**``, and a point for each field, all wrapped.

Where the `kubernetes` client is installed too, its texts tell what the wrapping has hidden.

Source: https://github.com/gtsystem/lightkube-models
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from hyperkube_api.descriptions import kubernetes_client, library
from hyperkube_api.descriptions.aligned import aligned
from hyperkube_api.descriptions.wrapped import joined

from hyperkube.hookspecs.descriptions import TypeDescription

DISTRIBUTION = "lightkube-models"
_CLASS = re.compile(r'class \w+\(DictMixin\):\n    r"""(.*?)"""\n(.*?)(?=^@dataclass|\Z)', re.DOTALL | re.MULTILINE)
_FIELDS = "\n\n      **parameters**\n"
_FIELD = re.compile(r"      \* \*\*(\w+)\*\* ``.*?`` - (.*)")
_RENAMED = re.compile(r"""^    (\w+): .*metadata=\{"json": "([^"]+)"\}""", re.MULTILINE)
_MARGIN, _FIELD_MARGIN = " " * 6, " " * 8


def version() -> str:
    """Return the library's version, whose first parts are Kubernetes' own."""
    return library.version(DISTRIBUTION)


def describe(names: Collection[str]) -> dict[str, TypeDescription]:
    """Return what the library knows of OpenAPI definitions, by name."""
    wanted: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for name in names:
        module, kind = _home(name)
        wanted[module][kind] = name
    found = {}
    for module, kinds in wanted.items():
        for kind, docstring, body in _classes(module, kinds):
            flat = kubernetes_client.fields(kinds[kind])
            found[kinds[kind]] = _parse(docstring, dict(_RENAMED.findall(body)), flat)
    return found


def _home(name: str) -> tuple[str, str]:
    """Return the module and the class of a definition: ``io.k8s.api.apps.v1.DaemonSet`` is in ``apps_v1``."""
    *_, group, version, kind = ("", "", *name.split("."))
    return (f"{group}_{version}" if version.startswith("v") and version != "version" else version), kind


def _classes(module: str, kinds: Iterable[str]) -> Iterable[tuple[str, str, str]]:
    """Yield name, docstring and body of those classes that a module has; of none where there is no such module."""
    text = library.text(DISTRIBUTION, f"lightkube/models/{module}.py")
    for kind in kinds:
        match = _CLASS.match(text, text.find(f"\nclass {kind}(DictMixin):") + 1)
        if match:
            yield kind, match[1], match[2]


def _parse(docstring: str, renamed: Mapping[str, str], flat: Mapping[str, str]) -> TypeDescription:
    about, _, listed = docstring.partition(_FIELDS)
    fields: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in listed.splitlines():
        begins = _FIELD.match(line)
        if begins:
            lines = fields[renamed.get(begins[1], begins[1])] = [begins[2]]
        elif line.startswith(_FIELD_MARGIN):
            lines.append(line.removeprefix(_FIELD_MARGIN))
    own = [line.removeprefix(_MARGIN) for line in about.splitlines()]
    texts = {name: _unwrapped(lines, flat.get(name, "")) for name, lines in fields.items()}
    return TypeDescription(joined(own), {name: text for name, text in texts.items() if text})


def _unwrapped(lines: Sequence[str], flat: str) -> str:
    text = aligned(lines, flat) if flat else None
    return joined(lines) if text is None else text
