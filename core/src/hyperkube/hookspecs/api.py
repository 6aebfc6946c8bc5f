"""API groups: the resources a server serves, declared as `ResourceSpec`s.

A spec bundles all that the generic registry needs to serve a resource: names, schema, storage, strategy, table
columns, field selectors and subresources. Built-in groups are plugins of this family; CustomResourceDefinitions
produce the same records at run time, so the pipeline knows one kind of resource.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from hyperkube.hookspecs import hookspec
from hyperkube.hookspecs.api_services import ApiServices
from hyperkube.hookspecs.descriptions import Descriptions
from hyperkube.hookspecs.stored_objects import Items, Objects
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.groups import GroupVersionKind, GroupVersionResource
from hyperkube.machinery.names import dns1123_subdomain
from hyperkube.machinery.objects import Object
from hyperkube.machinery.users import UserInfo

if TYPE_CHECKING:
    from hyperkube.hookspecs.authz import Authorizer
    from hyperkube.machinery.field import FieldError


@dataclass(slots=True, kw_only=True)
class Call:
    """One request on one resource, as strategies and subresource handlers see it.

    Attributes:
        body: the decoded and defaulted request body, for handlers of subresources and virtual resources.
        services: the server's settings and services.
        warnings: texts for the client's ``Warning`` header.
        query: the request's query parameters (first values).
        data: room for a strategy to carry something from one step to the next within this call.
        audit_id: tells the request from all others.
    """

    user: UserInfo
    verb: str
    resource: GroupVersionResource
    namespace: str
    name: str
    subresource: str = ""
    body: Object | None = None
    dry_run: bool = False
    field_manager: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    objects: Objects
    clock: Clock
    authorizer: Authorizer
    services: ApiServices = field(default_factory=ApiServices)
    gates: Mapping[str, bool] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    audit_id: str = ""


Finish = Callable[[bool], None]
"""Called once with whether the write was stored."""


class Strategy:
    """What is particular to one resource when it is created, updated and deleted.

    The generic registry has already decoded, defaulted and checked metadata. Methods may change `obj` in place where
    they say so; `old` is shared and read-only. Subclass and override what differs.
    """

    generation: ClassVar[bool] = False
    """Whether ``metadata.generation`` counts changes of everything but metadata and status."""
    allow_create_on_update: ClassVar[bool] = False
    allow_unconditional_update: ClassVar[bool] = True
    status_subresource: ClassVar[bool] = False
    """Whether status is cleared on create, kept on update, and written through ``/status`` only."""
    keeps_status_on_create: ClassVar[bool] = False
    """Whether a created object keeps its status all the same: a node registers with one."""
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Subresource → field paths it may not own (``""``: the main resource), for server-side apply."""
    leaves_what_stays: ClassVar[bool] = False
    """Whether the methods before an update do nothing to a member that is as it was: then it may be that of `old`."""
    renewed: ClassVar[str] = ""
    """The member of ``spec``, a MicroTime, that clients keep setting anew: its change concerns no method here."""
    default_gc: ClassVar[Literal["Delete", "Orphan", "Unsupported"]] = "Delete"
    rewritten_once: ClassVar[bool] = False
    """Whether the first update of an object is stored even if it changes nothing that can be seen."""
    returns_deleted_object: ClassVar[bool] = False
    """Whether a deletion is answered with the object, as it was, instead of a Status."""
    generates_names: ClassVar[bool] = True
    """Whether a generateName gets a suffix; an address is a name as it stands."""
    plain_finalizers: ClassVar[bool] = False
    """Whether a finalizer needs no path (``example.com/x``), as in kinds that others define."""
    internal_group: ClassVar[str | None] = None
    """The group that refusals name where the objects belong to another one inside: events are the core group's."""
    metadata_checks: ClassVar[tuple[Literal["object", "change"], ...]] = ("object", "change")
    """Which of Kubernetes' checks of metadata the kind itself runs on an update, after the registry ran both: `object`
    are the rules for new objects, ``change`` is what may change; clients see each error as often as it is found.
    """

    def default(self, obj: Object) -> None:
        """Fill in defaults that the schema cannot declare, in place; idempotent."""

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Clear what a client may not set and compute what the server sets, in place."""

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Keep what a client may not change and compute what the server sets, in place."""

    def prepare_status_update(self, call: Call, obj: Object, old: Object) -> None:
        """Adjust a write to ``/status`` after the generic registry restored everything but the status.

        Only status and metadata may be changed: the rest is that of `old`.
        """

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Return what is wrong with a new object (metadata was already checked)."""
        return []

    def repeats(self, obj: Object) -> bool:
        """Tell whether `default`, `prepare_create` and `validate` treat all new objects of one template alike.

        Then what became of one is taken for the next, such as the pods of a ReplicaSet. Of the object they look at all
        but name, uid, time of creation and managed fields; of the call at nothing but what stays while the server runs;
        and they change nothing but `obj`, in which metadata stays as it is.
        """
        return False

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Return what is wrong with an update; the default applies the rules for new objects."""
        return self.validate(call, obj)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Return what is wrong with a write to ``/status``."""
        return []

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        """Return what is wrong with a name (`prefix`: a generateName); DNS-1123 subdomain unless overridden."""
        return dns1123_subdomain(name.rstrip("-") + "a" if prefix and name.endswith("-") else name)

    def validate_object_name(self, obj: Object, name: str, *, prefix: bool) -> list[str]:
        """Return what is wrong with a name where that depends on the object; see `validate_name`."""
        return self.validate_name(name, prefix=prefix)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Return texts for the client's ``Warning`` header."""
        return []

    def begin_create(self, call: Call, obj: Object) -> Finish | None:
        """Allocate what the object needs (an IP, a port) just before it is stored; undo in the returned function."""
        return None

    def begin_update(self, call: Call, obj: Object, old: Object) -> Finish | None:
        """Allocate or release around an update; undo or complete in the returned function."""
        return None

    def grace_seconds(self, call: Call, obj: Object, requested: int | None) -> int | None:
        """Return the grace period for a deletion, or None if the resource knows no graceful deletion."""
        return None

    def blocks_deletion(self, obj: Object) -> bool:
        """Tell whether something other than ``metadata.finalizers`` and grace keeps an object that is being deleted.

        A namespace waits for its ``spec.finalizers``.
        """
        return False

    def prepare_delete(self, call: Call, obj: Object) -> None:
        """Adjust an object, in place, that was just marked for deletion (deletionTimestamp and grace are set)."""

    def deletion_warnings(self, call: Call) -> list[str]:
        """Return texts for the client's ``Warning`` header; asked before the object is looked for."""
        return []

    def before_delete(self, call: Call, obj: Object) -> None:
        """Refuse a deletion by raising an `ApiError`."""

    def after_delete(self, call: Call, obj: Object) -> None:
        """Release what was allocated; called after the object is gone from the store."""


@dataclass(frozen=True, slots=True)
class Column:
    """A table column; priority above 0 is shown by ``-o wide`` only.

    A column without a `description` has that of the `field` it shows: a dotted path from the object
    (``status.readyReplicas``), after the name of its schema and a slash if another version is printed.
    """

    name: str
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0
    field: str = ""


Cells = Callable[[Object, datetime], list[Any]]
"""Returns one row's cells for an object at a wall time, in the order of the columns."""

SubresourceHandler = Callable[[Call], Object]
"""Answers a request to a subresource or virtual resource; raises an `ApiError` to refuse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subresource:
    """A path below an object.

    Exactly one way of serving:

    - A part of the object itself (``status``, ``approval``, ``resize``, ``ephemeralcontainers``, ``finalize``):
      ``status`` goes through the strategy's ``*_status_*`` methods; every other part has a `strategy` of its own whose
      `prepare_update` and `validate_update` get the whole object and restore what the part may not touch.
    - An action or a view (binding, eviction, token, scale) has a `handler`, called once per request with `Call.verb`
      ``create``, ``get`` or ``update``; a patch is a ``get``, the patch, and an ``update`` with the result.
    - ``log``, ``exec``, ``attach``, ``portforward`` and ``proxy`` set `connect`, and the API server streams them from
      the kubelet or the backend.
    """

    name: str
    kind: GroupVersionKind
    verbs: tuple[str, ...]
    schema: str = ""
    """Where the body's schema is, ``package.module:Class``; empty: the parent's."""
    strategy: Strategy | None = None
    """For subresources that are a part of the object: ``status``, ``approval``, ``resize``, …; None otherwise.

    ``status`` calls `prepare_status_update` and `validate_status_update` of this one or else of the parent's, after
    everything but status and metadata was restored. Any other part calls `prepare_update` and `validate_update` of its
    own strategy, which restores what the part may not change; nothing was restored before but the system's metadata.
    """
    handler: SubresourceHandler | None = None
    connect: bool = False
    also_accepts: tuple[GroupVersionKind, ...] = ()
    """Kinds of other versions with the same shape that a body may have instead."""
    replicas_path: tuple[str, ...] = ("spec", "replicas")
    """For ``scale``: which field of the parent it writes."""
    columns: tuple[Column, ...] = ()
    cells: Cells | None = None
    """How tables show it; without columns as they show its parent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceSpec:
    """One resource in one version of a group, complete.

    Attributes:
        schema: ``package.module:Class`` of the marshmallow schema, imported on first use; or the schema's own
            `TypeInfo`-compatible object for custom resources.
        storage_kind: the version in which it is stored; None for a virtual resource (reviews, bindings).
        storage_prefix: below the store's root, e.g. ``pods``, ``services/specs``, ``minions``.
        to_storage, from_storage: conversion between this version and the storage version; None when equal.
        from_storage_all: converts many stored objects at once. A resource that has it asks a webhook, which takes a
            while and may fail, so that it is never called where nothing may wait.
        fields: field selector → its value for an object (metadata.name and .namespace are built in).
        indexes: field selectors that are worth an index.
        create: serves creation of a virtual resource.
        cells: prints one object's row; None: Name and Age.
        names_kind_in_selectors: whether the refusal of a field selector names the kind, as it does for some.
        row_conditions: what is said of a whole row: ``type``, ``status``, ``reason`` and ``message`` each.
        row_order: sorts the rows of a list by what it returns; None leaves them in the list's order.
        served: whether it is served without being asked for by ``--runtime-config``.
        own_annotations: annotations that stand for fields of other versions: tables and partial objects lack them.
        deprecated: the text of the warning that every request to it carries, or empty.
        read: answers gets and lists of a resource that is computed instead of stored (componentstatuses): called with
            the verb ``get`` or ``list``, returns the object or ``{"items": [...]}``.
    """

    resource: GroupVersionResource
    kind: GroupVersionKind
    singular: str
    namespaced: bool
    verbs: tuple[str, ...]
    schema: Any
    list_kind: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    storage_kind: GroupVersionKind | None = None
    storage_prefix: str = ""
    storage_version_hash: str = ""
    to_storage: Callable[[Object], Object] | None = None
    from_storage: Callable[[Object], Object] | None = None
    from_storage_all: Callable[[Sequence[Object]], Items] | None = None
    strategy: Strategy = field(default_factory=Strategy)
    columns: tuple[Column, ...] = ()
    cells: Cells | None = None
    row_conditions: Callable[[Object], list[Object]] | None = None
    row_order: Callable[[Object], Any] | None = None
    fields: Mapping[str, Callable[[Object], str]] = field(default_factory=dict)
    indexes: tuple[str, ...] = ()
    names_kind_in_selectors: bool = False
    subresources: tuple[Subresource, ...] = ()
    create: SubresourceHandler | None = None
    own_annotations: frozenset[str] = frozenset()
    served: bool = True
    deprecated: str = ""
    read: SubresourceHandler | None = None
    ttl_seconds: Callable[[ApiServices], int] | None = None
    """Seconds an object lives, by the server's settings (events); None: for ever."""

    def subresource(self, name: str) -> Subresource | None:
        """Return a subresource by name, if the resource has it."""
        for sub in self.subresources:  # once or twice for each request: a generator would cost as much again
            if sub.name == name:
                return sub
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiGroupVersion:
    """One version of a group with its resources; higher priorities come first in discovery.

    A `legacy` version is one that Kubernetes has removed since: it is served when it is asked for by its own name, or
    with all of its kind by ``--runtime-config=api/legacy=true``, and by no other word.
    """

    group: str
    version: str
    resources: tuple[ResourceSpec, ...]
    group_priority: int = 1000
    version_priority: int = 15
    legacy: bool = False


@hookspec
def api_group_versions() -> Iterable[ApiGroupVersion]:
    """Return the group versions this plugin serves.

    Called: once, while the API server is built, before any request.
    Must: return complete specs; import schemas lazily (name them as text); each resource in one spec only.
    """


@hookspec
def api_bootstrap_objects() -> Sequence[Object]:
    """Return objects that the server creates at start if they are missing (namespaces, priority classes).

    Called: once after the API server serves, on a background thread.
    Must: return complete objects with apiVersion, kind and name.
    """


class ObjectRules(Protocol):
    """The rules that a custom resource's schema states in a language of its own (CEL)."""

    def check(self, obj: Object, old: Object | None) -> tuple[list[FieldError], list[str]]:
        """Return what is wrong with an object, and warnings for what was wrong before and stayed as it was."""


@hookspec(firstresult=True)
def api_object_rules(schema: Mapping[str, Any]) -> ObjectRules | None:
    """Compile the rules of one version of a custom resource.

    Called: on the definitions' thread, whenever a definition whose schema has rules is served anew.
    Returns: the rules, ready to be asked on any thread; None leaves them to another plugin.
    Must: not raise for rules that cannot be compiled: asking them says so.
    """


@hookspec(firstresult=True)
def api_descriptions() -> Descriptions | None:
    """Return where descriptions are to be had.

    Called: whenever an OpenAPI document or the columns of a table are made, which is seldom, on any thread.
    Returns: something to ask; None leaves it to another plugin, and the schemas' own texts stay where none is known.
    Must: answer at once; read in the methods alone, and keep little of it, since they are asked once per document.
    """


class ApiHooks(Protocol):
    """How a host calls the hooks of this family: by keyword, all plugins at once."""

    def api_group_versions(self) -> list[Iterable[ApiGroupVersion]]:
        """Call `api_group_versions` of all plugins."""

    def api_bootstrap_objects(self) -> list[Sequence[Object]]:
        """Call `api_bootstrap_objects` of all plugins."""

    def api_object_rules(self, *, schema: Mapping[str, Any]) -> ObjectRules | None:
        """Call `api_object_rules` of all plugins until one answers."""

    def api_descriptions(self) -> Descriptions | None:
        """Call `api_descriptions` of all plugins until one answers."""
