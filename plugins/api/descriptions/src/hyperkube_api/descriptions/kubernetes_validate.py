"""What types and fields mean, to the letter, from the schemas of kubernetes-validate, if it is installed.

It carries the definitions of many releases, each in one file with the white space of the original.

Source: https://github.com/willthames/kubernetes-validate
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import orjson
from hyperkube_api.descriptions import library

from hyperkube.hookspecs.descriptions import TypeDescription
from hyperkube.machinery import release
from hyperkube.machinery.objects import Object

DISTRIBUTION = "kubernetes-validate"
_PATH = rf"kubernetes_validate/kubernetes-json-schema/v{release.MAJOR}\.{release.MINOR}\.\d+-local/_definitions\.json"


def definitions() -> Mapping[str, Object]:
    """Return the definitions of our release, some 5 MB; none where the library does not have it."""
    path = next(iter(library.paths(DISTRIBUTION, _PATH)), "")
    return orjson.loads(library.text(DISTRIBUTION, path))["$defs"] if path else {}


def describe(names: Collection[str], known: Mapping[str, Object]) -> dict[str, TypeDescription]:
    """Return what the definitions `known` say of types, by name."""
    return {name: _description(known[name]) for name in names if known.get(name, {}).get("description")}


def _description(definition: Object) -> TypeDescription:
    fields = (definition.get("properties") or {}).items()
    about = {name: field["description"] for name, field in fields if field.get("description")}
    return TypeDescription(definition["description"], about)
