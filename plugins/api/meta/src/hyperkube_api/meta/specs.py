"""How groups declare their resources: one `Version` per group version, and what its resources share.

A declaration names what is particular to a resource: name, kind, short names, columns. What all resources of a version
have in common (verbs, where the schema is, where they are stored) is filled in here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Generic, TypedDict, TypeVar, Unpack

from hyperkube.hookspecs.api import (
    Cells,
    Column,
    ResourceSpec,
    Strategy,
    Subresource,
    SubresourceHandler,
)
from hyperkube.hookspecs.api_services import ApiServices
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.fields import MemberText
from hyperkube.machinery.groups import GroupVersionKind, GroupVersionResource
from hyperkube.machinery.objects import Object

Result = TypeVar("Result")

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
CREATE_ONLY = ("create",)
PART_VERBS = ("get", "patch", "update")
"""What one may do to a part of an object: ``/status``, ``/approval``, ``/scale``."""
PROXY_VERBS = ("create", "delete", "get", "patch", "update")


class Stored(TypedDict, total=False):
    """In which version a resource is stored, and how its own becomes that one."""

    storage_kind: GroupVersionKind
    to_storage: Callable[[Object], Object]
    from_storage: Callable[[Object], Object]


class Traits(Stored, total=False):
    """What a resource may say about itself; see `ResourceSpec` for the meaning of each."""

    namespaced: bool
    verbs: tuple[str, ...]
    singular: str
    schema: str
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    storage_prefix: str
    storage_version_hash: str
    strategy: Strategy
    columns: tuple[Column, ...]
    cells: Cells
    row_conditions: Callable[[Object], list[Object]]
    row_order: Callable[[Object], Any]
    fields: Mapping[str, Callable[[Object], str]]
    indexes: tuple[str, ...]
    names_kind_in_selectors: bool
    subresources: tuple[Subresource, ...]
    create: SubresourceHandler
    read: SubresourceHandler
    deprecated: str
    served: bool
    own_annotations: frozenset[str]
    ttl_seconds: Callable[[ApiServices], int]


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a group and the module that holds its schemas."""

    group: str
    version: str
    module: str

    def kind(self, name: str) -> GroupVersionKind:
        """Return a kind of this version."""
        return GroupVersionKind(self.group, self.version, name)

    def schema(self, name: str) -> str:
        """Return where the schema of a kind of this version is."""
        return f"{self.module}:{name}"

    def resource(self, name: str, kind: str, **traits: Unpack[Traits]) -> ResourceSpec:
        """Declare a resource; stored ones say so by a `storage_prefix`, virtual ones by not having any."""
        settings: dict[str, object] = {
            "namespaced": True,
            "verbs": ALL_VERBS,
            "singular": kind.lower(),
            "schema": self.schema(kind),
            "list_kind": f"{kind}List",
        }
        if traits.get("storage_prefix"):
            settings["storage_kind"] = self.kind(kind)
        return ResourceSpec(
            resource=GroupVersionResource(self.group, self.version, name),
            kind=self.kind(kind),
            **{**settings, **traits},  # type: ignore[arg-type]  # the keys are those of Traits
        )

    def stored_as(self, storage: Version, kind: str) -> Stored:
        """Declare that a kind is stored in another version, which has the same members."""
        stored = storage.kind(kind)
        if storage.version == self.version:
            return Stored(storage_kind=stored)
        return Stored(storage_kind=stored, to_storage=_labelled(stored), from_storage=_labelled(self.kind(kind)))

    def status(self, kind: str, strategy: Strategy | None = None) -> Subresource:
        """Declare ``/status`` of a kind; the parent's strategy serves it unless it has one of its own."""
        return self.part("status", kind, strategy)

    def part(self, name: str, kind: str, strategy: Strategy | None, verbs: tuple[str, ...] = PART_VERBS) -> Subresource:
        """Declare a subresource that writes a part of the object itself, through `strategy`."""
        return Subresource(name=name, kind=self.kind(kind), verbs=verbs, strategy=strategy)


def _labelled(kind: GroupVersionKind) -> Callable[[Object], Object]:
    return lambda obj: {**obj, "apiVersion": kind.api_version}


class OnFirstUse(Generic[Result]):
    """A function that is imported with its first call: a table, a handler, rules that few resources are asked for.

    Attributes:
        path: ``package.module:function``.
        call: the same, with any arguments; from the first call on the function itself, so that it costs nothing more.
    """

    __slots__ = ("call", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.call: Callable[..., Result] = self._first_call

    def __call__(self, *arguments: Any) -> Result:
        """Call the function."""
        return self.call(*arguments)

    def function(self) -> Callable[..., Result]:
        """Import and return the function.

        Raises:
            ImportError: there is no such module.
            AttributeError: it has no such function.
        """
        module, _, name = self.path.partition(":")
        function: Callable[..., Result] = getattr(import_module(module), name)
        self.call = function
        return function

    def _first_call(self, *arguments: Any, **named: Any) -> Result:
        return self.function()(*arguments, **named)


def connect(name: str, kind: GroupVersionKind, verbs: tuple[str, ...]) -> Subresource:
    """Declare a subresource that the API server streams from a kubelet or a backend."""
    return Subresource(name=name, kind=kind, verbs=verbs, connect=True)


def fields(*paths: str, flags: tuple[str, ...] = ()) -> dict[str, Callable[[Object], str]]:
    """Return field selectors by path; `flags` are booleans that count as ``false`` when absent."""
    readers: dict[str, Callable[[Object], str]] = {path: MemberText(path) for path in paths}
    return readers | {path: MemberText(path, "false") for path in flags}
