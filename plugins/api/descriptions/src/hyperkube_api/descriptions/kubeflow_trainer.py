"""What the values of enumerations mean, and types without fields, from the models of kubeflow-trainer-api.

It is made from Kubernetes' OpenAPI documents of version 3, which alone say this, and has what a training job needs:
core/v1, batch/v1 and autoscaling/v2. Another field that may have the same values means the same by them.

Source: https://github.com/kubeflow/trainer, whose line breaks have become spaces
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import cache
from types import MappingProxyType

from hyperkube_api.descriptions import library

from hyperkube.hookspecs.descriptions import Meanings, TypeDescription

DISTRIBUTION = "kubeflow-trainer-api"
_ROOT = "kubeflow_trainer_api/models/"
_FIELD = re.compile(r"""^    (\w+): .*?description="((?:[^"\\]|\\.)*)\"""", re.MULTILINE)
_CLASS = re.compile(r'^class \w+\(BaseModel\):\n    """\n(.*?)\n    """', re.DOTALL | re.MULTILINE)
_LISTED = "Possible enum values:"
_VALUE = re.compile(r' - `"([^"]*)"`(.*?)(?= - `"|$)')


def meanings(definition: str, fields: Mapping[str, Collection[str]]) -> dict[str, Meanings]:
    """Return what is said of the values of a definition's fields, by field; `fields`: each with its values."""
    own = dict(_enumerations(_path(definition)))
    found = {name: own.get(library.snake(name)) or _shared().get(frozenset(fields[name])) for name in fields}
    return {name: about for name, about in found.items() if about}


def describe(names: Collection[str]) -> dict[str, TypeDescription]:
    """Return what is said of types that have no fields, by name: Quantity and IntOrString."""
    texts = {name: library.text(DISTRIBUTION, _path(name)) for name in names}
    found = {name: _CLASS.search(text) for name, text in texts.items() if not _FIELD.search(text)}
    return {name: TypeDescription(_paragraphs(each[1].strip()), {}) for name, each in found.items() if each}


def _path(definition: str) -> str:
    group, _, kind = definition.rpartition(".")
    return f"{_ROOT}{group.replace('.', '_').replace('-', '_')}_{library.snake(kind)}.py"


def _enumerations(path: str) -> list[tuple[str, Meanings]]:
    """Return a file's fields, as Python spells them, that list values, each with what is said of these."""
    fields = _FIELD.findall(library.text(DISTRIBUTION, path))
    parts = ((name, library.unescaped(text).partition(_LISTED)) for name, text in fields)
    return [
        (name, {value: said.strip() for value, said in _VALUE.findall(listed)}) for name, (_, at, listed) in parts if at
    ]


@cache
def _shared() -> Mapping[frozenset[str], Meanings]:
    """Return what is said of sets of values, for those of which all fields say the same; some ten kilobytes."""
    found: defaultdict[frozenset[str], list[Meanings]] = defaultdict(list)
    for path in library.matching(DISTRIBUTION, _ROOT, "io_k8s_*.py"):
        for _, said in _enumerations(path):
            if said not in found[frozenset(said)]:
                found[frozenset(said)].append(said)
    return MappingProxyType({values: said[0] for values, said in found.items() if len(said) == 1})


def _paragraphs(text: str) -> str:
    """Return a literal's text with its blank lines: two spaces stand for one, a third for a tab after it."""
    return re.sub(r"(?<=\S)  ( ?)(?=\S)", lambda found: "\n\n\t" if found[1] else "\n\n", library.unescaped(text))
