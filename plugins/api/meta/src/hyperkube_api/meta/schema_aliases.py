"""Schemas that a removed version shares with the version of today: one declaration, another name."""

from __future__ import annotations

from types import new_class
from typing import Any

from hyperkube.machinery.schema import KubeSchema
from hyperkube.machinery.schema import fields as f


def alias(base: type[KubeSchema], home: str, **members: Any) -> Any:
    """Return the schema under the package of the module `home`, with `members` in place of its own."""
    described = {"__module__": home, "__doc__": base.__doc__, **members}
    return new_class(base.__name__, (base,), {}, lambda body: body.update(described))


def list_alias(base: type[KubeSchema], home: str) -> Any:
    """Return the schema of a list under the package of the module `home`; its items are that module's too."""
    kind = base.__name__.removesuffix("List")
    return alias(base, home, items=f.List(kind, 2, required=True, nullable=True, doc="The objects."))
