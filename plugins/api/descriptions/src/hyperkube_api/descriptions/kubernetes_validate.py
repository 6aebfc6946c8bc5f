"""What types and fields mean, to the letter, from the schemas of kubernetes-validate, if it is installed.

It carries the definitions of many releases, each in one file of 5 MB with the white space of the original.

Source: https://github.com/willthames/kubernetes-validate
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from json import JSONDecoder

import orjson
from hyperkube_api.descriptions import library

from hyperkube.hookspecs.descriptions import TypeDescription
from hyperkube.machinery import release
from hyperkube.machinery.objects import Object

DISTRIBUTION = "kubernetes-validate"
FEW = 16
"""So many are found in the text one by one, as for the columns of a table; for a document all are parsed."""
_FOLDER = "kubernetes_validate/kubernetes-json-schema"
_FILE = f"v{release.MAJOR}.{release.MINOR}.*[0-9]-local/_definitions.json"
_DECODER = JSONDecoder()


class Definitions:
    """The definitions of our release; none where the library does not have them. What was read is kept."""

    @cached_property
    def _text(self) -> str:
        return next((library.text(DISTRIBUTION, path) for path in library.matching(DISTRIBUTION, _FOLDER, _FILE)), "")

    @cached_property
    def _all(self) -> Mapping[str, Object]:
        return orjson.loads(self._text)["$defs"] if self._text else {}

    def describe(self, names: Collection[str]) -> dict[str, TypeDescription]:
        """Return what the definitions say of types, by name."""
        if len(names) > FEW or "_all" in vars(self):
            found = {name: self._all.get(name, {}) for name in names}
        else:
            found = {name: self._one(name) for name in names}
        return {name: _description(each) for name, each in found.items() if each.get("description")}

    def _one(self, name: str) -> Object:
        begin = f'"{name}": '
        place = self._text.find(begin)
        found: Object = _DECODER.raw_decode(self._text, place + len(begin))[0] if place >= 0 else {}
        return found


def _description(definition: Object) -> TypeDescription:
    fields = (definition.get("properties") or {}).items()
    about = {name: field["description"] for name, field in fields if field.get("description")}
    return TypeDescription(definition["description"], about)
