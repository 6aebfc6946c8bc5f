"""`KubeSchema`: the class of which every API type is declared once.

A schema module names its `Package`, then declares one class per type, its fields in the order Go declares them, which
is the order of members in JSON. Importing a module builds the classes; nothing is compiled before it is used.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from functools import cache
from typing import Any, ClassVar

from hyperkube.machinery.schema.field import KubeField
from hyperkube.machinery.schema.light_marshmallow import ma
from hyperkube.machinery.schema.traits import Package, Union

_NO_PACKAGE = Package("", "", "", "")
_NO_HOOKS: dict[str, list[tuple[str, bool, dict[str, Any]]]] = defaultdict(list)
_options = cache(ma.SchemaOpts)
"""All schemas have the same settings: a kilobyte counts where there are hundreds."""


class KubeSchemaMeta(ma.schema.SchemaMeta):
    """Reads the class arguments and settles the fields; skips marshmallow's registry and search for hooks."""

    def __new__(  # noqa: D102 -- the class says it
        mcs, name: str, bases: tuple[type, ...], attrs: dict[str, Any], **arguments: Any
    ) -> KubeSchemaMeta:
        module = attrs["__module__"]
        for attribute, value in attrs.items():
            if isinstance(value, KubeField):
                value.settle(attribute, module)
        attrs["package"] = getattr(sys.modules.get(module), "PACKAGE", _NO_PACKAGE)
        attrs |= {"published": True, **arguments}
        schema = super().__new__(mcs, name, bases, attrs)
        assert isinstance(schema, KubeSchemaMeta)  # noqa: S101 -- what `super` makes is of `mcs`
        return schema

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any], **_arguments: Any) -> None:
        super().__init__(name, bases, attrs)  # type: ignore[no-untyped-call] # marshmallow's is not annotated

    def resolve_hooks(cls) -> dict[str, list[tuple[str, bool, dict[str, Any]]]]:
        """API types have no marshmallow hooks; looking for them would cost most of the import."""
        return _NO_HOOKS


class KubeSchema(ma.Schema, metaclass=KubeSchemaMeta):
    """One API type; class arguments tell what is unusual about it.

    Attributes:
        package: the names shared by the types of the module.
        published: whether the type has a definition in OpenAPI (inlined and internal ones have none).
        struct_type: ``atomic`` when server-side apply takes the object as one value.
        unions: groups of members of which one is set, as OpenAPI shows them.
        shape: for the three types of JSON schemas that may be something simpler: ``array``, ``bool``, ``strings``.
        every_group: the kind is registered in every group version (DeleteOptions, WatchEvent).
        kinded: whether objects say what they are.
        templated: whether many objects have the same value, made from one template: it is decoded once.
        own: texts that each object has of its own where all else comes from one template: the rest is encoded once.
    """

    package: ClassVar[Package] = _NO_PACKAGE
    published: ClassVar[bool] = True
    struct_type: ClassVar[str] = ""
    unions: ClassVar[tuple[Union, ...]] = ()
    shape: ClassVar[str] = ""
    every_group: ClassVar[bool] = False
    kinded: ClassVar[bool] = False
    templated: ClassVar[bool] = False
    own: ClassVar[tuple[str, ...]] = ()

    OPTIONS_CLASS = staticmethod(_options)  # type: ignore[assignment] # called like the class

    class Meta:
        """Marshmallow's own settings."""

        register = False

    @classmethod
    def declared(cls) -> dict[str, KubeField]:
        """Return the fields by attribute, in JSON order."""
        fields: Any = cls._declared_fields
        return dict(fields)

    @classmethod
    def proto_name(cls) -> str:
        """Return the full name of the protobuf message."""
        return f"{cls.package.proto}.{cls.__name__}"

    @classmethod
    def openapi_name(cls) -> str:
        """Return the name of the OpenAPI definition."""
        return f"{cls.package.openapi}.{cls.__name__}"
