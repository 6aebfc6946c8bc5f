"""Schemas are named as text, ``package.module:Class``, and imported when they are first needed."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from hyperkube.machinery.schema.base import KubeSchema


@cache
def resolve(name: str, home: str = "") -> type[KubeSchema]:
    """Import and return the schema class that `name` names; a bare class name is looked up in the module `home`.

    Raises:
        LookupError: the module or the class does not exist, or is no schema.
    """
    module_name, _, class_name = name.rpartition(":")
    module_name = module_name or home
    try:
        # Not from sys.modules: what another thread is still importing is there already, without its classes.
        schema = getattr(import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise LookupError(f"no schema {name!r}: {error}") from error
    if not (isinstance(schema, type) and issubclass(schema, KubeSchema)):
        raise LookupError(f"{name!r} is not a KubeSchema")  # noqa: TRY004 -- the name is wrong, not a type
    return schema
