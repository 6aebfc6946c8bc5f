"""What a field's declaration may say beside its type: the facts of Go's struct tags and of the API markers.

Source: kubernetes ``types.go`` files (json, protobuf and patch tags; ``+listType`` and its relatives).
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict


class Traits(TypedDict, total=False):
    """The keyword arguments of every field class; what is left out is false, empty or none.

    Attributes:
        name: the JSON name, where the attribute cannot bear it (``from``, ``$ref``).
        required: OpenAPI lists the field as required.
        ptr: a Go pointer: unset differs from the zero value.
        omitempty: an empty value is left out of JSON.
        omitzero: a zero value is left out, of structs too.
        nullable: written as ``null`` when it is unset.
        default: the declared default.
        enum: the closed set of values.
        format: the OpenAPI format, where the type does not give it.
        typedef: the Go name of the type, where it is not the plain one: ``v1.Protocol``.
        list_type: atomic (the default), set or map.
        list_map_keys: the keys of a list of type map.
        map_type: granular (the default) or atomic.
        struct_type: granular (the default) or atomic.
        patch_strategy: of strategic merge patch: ``merge``, ``replace``, ``retainKeys``, comma-separated.
        patch_merge_key: the key by which a list is merged.
        gate: the feature gate that guards the field.
        dv: markers of declarative validation, as Kubernetes writes them.
        wrapper: on the wire the list is one message with the items as its field 1.
        hidden: not in JSON, on the wire only.
        go_int: a Go ``int``: of 64 bits, but ``int`` in messages.
        doc: a line in our words for ``kubectl explain``.
    """

    name: str
    required: bool
    ptr: bool
    omitempty: bool
    omitzero: bool
    nullable: bool
    default: Any
    enum: tuple[str, ...]
    format: str
    typedef: str
    list_type: str
    list_map_keys: tuple[str, ...]
    map_type: str
    struct_type: str
    patch_strategy: str
    patch_merge_key: str
    gate: str
    dv: tuple[str, ...]
    wrapper: bool
    hidden: bool
    go_int: bool
    doc: str


class Package(NamedTuple):
    """What all types of one module share; every schema module defines one as ``PACKAGE`` before its classes.

    Attributes:
        group: the API group; empty for core and meta.
        version: the API version.
        proto: the protobuf package.
        openapi: the prefix of OpenAPI definition names.
    """

    group: str
    version: str
    proto: str
    openapi: str


class Union(NamedTuple):
    """Members of which one is set, as OpenAPI shows it.

    Attributes:
        discriminator: the member that names the one that is set, if there is such.
        members: JSON name → Go name of the members.
    """

    discriminator: str
    members: dict[str, str]
