"""How groups declare a removed version: by the version that took its place.

What both have in common (names, storage, rules, table) is said once, by the newer one. An object of the older version
is checked and completed in the newer one's shape and comes back: so there is one set of rules, and what is stored is
always the newer version. Only defaults differ: an older version keeps those that it always had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from hyperkube_api.meta.specs import Version

from hyperkube.hookspecs import api as specs
from hyperkube.hookspecs.api import (
    ApiGroupVersion,
    ApiHooks,
    Call,
    Cells,
    Finish,
    ResourceSpec,
    Strategy,
    Subresource,
)
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.groups import GroupVersionKind, GroupVersionResource
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin, PluginContext, PluginHost

Convert = Callable[[Object], Object]
"""Returns an object of one version in the shape of another; leaves what it gets alone, and apiVersion to the caller."""

Default = Callable[[Object], None]
Accept = Callable[[FieldError], bool]
"""Tells whether an error of the newer version is one in the older version too."""

_Answer = TypeVar("_Answer")
_ATTRIBUTES = (
    "generation",
    "allow_create_on_update",
    "allow_unconditional_update",
    "status_subresource",
    "keeps_status_on_create",
    "reset_fields",
    "default_gc",
    "returns_deleted_object",
    "plain_finalizers",
    "internal_group",
    "metadata_checks",
)


def unchanged(obj: Object) -> Object:
    """Return the object: both versions have one shape."""
    return obj


def no_defaults(_obj: Object) -> None:
    """Fill in nothing that the newer version does not."""


def accept_all(_error: FieldError) -> bool:
    """Take over every error."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """How a kind of an older version differs from the newer one.

    Attributes:
        newer, older: bring an object into the newer and back into the older shape.
        default: fills in, in the older shape, what the newer version's defaults would fill in otherwise.
        accept: which errors of the newer version count.
    """

    newer: Convert = unchanged
    older: Convert = unchanged
    default: Default = no_defaults
    accept: Accept = accept_all


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """When a kind was deprecated and removed, as minor versions of Kubernetes 1, and what replaces it."""

    deprecated: int
    removed: int
    replacement: str = ""
    """An API version; empty when nothing does."""

    def warning(self, kind: GroupVersionKind) -> str:
        """Return what every request is told.

        Source: kubernetes apiserver ``pkg/endpoints/deprecation/deprecation.go``.
        """
        text = f"{kind.api_version} {kind.kind} is deprecated in v1.{self.deprecated}+"
        text += f", unavailable in v1.{self.removed}+"
        return f"{text}; use {self.replacement} {kind.kind}" if self.replacement else text


class ConvertingStrategy(Strategy):
    """A strategy for objects of an older version: asks the newer version's, in the newer shape."""

    def __init__(self, inner: Strategy, differences: Differences, newer: str, older: str) -> None:
        self._inner = inner
        self._differences = differences
        self._versions = newer, older
        for name in _ATTRIBUTES:
            setattr(self, name, getattr(inner, name))

    def newer(self, obj: Object) -> Object:
        """Return an object in the newer version."""
        return {**self._differences.newer(obj), "apiVersion": self._versions[0]}

    def older(self, obj: Object) -> Object:
        """Return an object in the older version."""
        return {**self._differences.older(obj), "apiVersion": self._versions[1]}

    def _within(self, obj: Object, act: Callable[[Object], _Answer]) -> _Answer:
        """Let something change an object in the newer shape."""
        newer = self.newer(obj)
        answer = act(newer)
        older = self.older(newer)
        obj.clear()
        obj.update(older)
        return answer

    def _accepted(self, errors: Iterable[FieldError]) -> list[FieldError]:
        return [error for error in errors if self._differences.accept(error)]

    def default(self, obj: Object) -> None:
        """Fill in the older version's own defaults, then the newer one's."""
        self._differences.default(obj)
        self._within(obj, self._inner.default)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Do as the newer version does."""
        self._within(obj, lambda new: self._inner.prepare_create(call, new))

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Do as the newer version does."""
        self._within(obj, lambda new: self._inner.prepare_update(call, new, self.newer(old)))

    def prepare_status_update(self, call: Call, obj: Object, old: Object) -> None:
        """Do as the newer version does."""
        self._within(obj, lambda new: self._inner.prepare_status_update(call, new, self.newer(old)))

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check by the newer version's rules."""
        return self._accepted(self._inner.validate(call, self.newer(obj)))

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check by the newer version's rules."""
        return self._accepted(self._inner.validate_update(call, self.newer(obj), self.newer(old)))

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check by the newer version's rules."""
        return self._accepted(self._inner.validate_status_update(call, self.newer(obj), self.newer(old)))

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        """Check by the newer version's rules."""
        return self._inner.validate_name(name, prefix=prefix)

    def validate_object_name(self, obj: Object, name: str, *, prefix: bool) -> list[str]:
        """Check by the newer version's rules."""
        return self._inner.validate_object_name(self.newer(obj), name, prefix=prefix)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn as the newer version does."""
        return self._inner.warnings(call, self.newer(obj), self.newer(old) if old is not None else None)

    def begin_create(self, call: Call, obj: Object) -> Finish | None:
        """Do as the newer version does."""
        return self._within(obj, lambda new: self._inner.begin_create(call, new))

    def begin_update(self, call: Call, obj: Object, old: Object) -> Finish | None:
        """Do as the newer version does."""
        return self._within(obj, lambda new: self._inner.begin_update(call, new, self.newer(old)))

    def grace_seconds(self, call: Call, obj: Object, requested: int | None) -> int | None:
        """Ask the newer version."""
        return self._inner.grace_seconds(call, self.newer(obj), requested)

    def blocks_deletion(self, obj: Object) -> bool:
        """Ask the newer version."""
        return self._inner.blocks_deletion(self.newer(obj))

    def prepare_delete(self, call: Call, obj: Object) -> None:
        """Do as the newer version does."""
        self._within(obj, lambda new: self._inner.prepare_delete(call, new))

    def deletion_warnings(self, call: Call) -> list[str]:
        """Warn as the newer version does."""
        return self._inner.deletion_warnings(call)

    def before_delete(self, call: Call, obj: Object) -> None:
        """Ask the newer version."""
        self._inner.before_delete(call, self.newer(obj))

    def after_delete(self, call: Call, obj: Object) -> None:
        """Do as the newer version does."""
        self._inner.after_delete(call, self.newer(obj))


def newest_resources(plugin: type[Plugin], context: PluginContext) -> dict[str, ResourceSpec]:
    """Return the resources of a group's newest version, by plural name."""
    host: PluginHost[ApiHooks] = PluginHost("api", specs, [(context.name, plugin(context))])
    newest = next(iter(host.hook.api_group_versions()[0]))
    return {spec.resource.resource: spec for spec in newest.resources}


@dataclass(frozen=True, slots=True, kw_only=True)
class OlderVersion:
    """One older version: how its resources are made from the newer ones.

    Attributes:
        scale: makes ``/scale`` of a workload, where the version has a Scale of its own.
    """

    version: Version
    lifecycle: Lifecycle
    scale: Callable[[Version, str], Subresource] | None = None

    def resource(
        self, newer: ResourceSpec, differences: Differences | None = None, *, lifecycle: Lifecycle | None = None
    ) -> ResourceSpec:
        """Declare a resource that the newer version has too."""
        kind = self.version.kind(newer.kind.kind)
        strategies = _Strategies(differences or Differences(), newer.kind.api_version, kind.api_version)
        through = strategies.of(newer.strategy)
        subresources = tuple(self._subresource(newer, sub, strategies) for sub in newer.subresources)
        return replace(
            newer,
            resource=GroupVersionResource(self.version.group, self.version.version, newer.resource.resource),
            kind=kind,
            schema=self.version.schema(kind.kind),
            storage_kind=newer.kind,
            to_storage=through.newer,
            from_storage=through.older,
            strategy=through,
            cells=_cells(newer.cells, through) if newer.cells is not None else None,
            fields={path: _reader(read, through) for path, read in newer.fields.items()},
            subresources=subresources,
            served=False,
            deprecated=(lifecycle or self.lifecycle).warning(kind),
        )

    def _subresource(self, newer: ResourceSpec, sub: Subresource, strategies: _Strategies) -> Subresource:
        if sub.name == "scale" and self.scale is not None:
            return self.scale(self.version, newer.resource.resource)
        own = (sub.kind.group, sub.kind.version) == (newer.kind.group, newer.kind.version)
        return replace(
            sub,
            kind=self.version.kind(sub.kind.kind) if own else sub.kind,
            strategy=strategies.of(sub.strategy) if sub.strategy is not None else None,
        )

    def group_version(
        self, resources: Iterable[ResourceSpec], *, group_priority: int, version_priority: int
    ) -> ApiGroupVersion:
        """Return the version; it is served when asked for, by its name or with all that is legacy."""
        return ApiGroupVersion(
            group=self.version.group,
            version=self.version.version,
            resources=tuple(resources),
            group_priority=group_priority,
            version_priority=version_priority,
            legacy=True,
        )


@dataclass(frozen=True, slots=True)
class _Strategies:
    differences: Differences
    newer: str
    older: str

    def of(self, inner: Strategy) -> ConvertingStrategy:
        return ConvertingStrategy(inner, self.differences, self.newer, self.older)


def _cells(cells: Cells, through: ConvertingStrategy) -> Cells:
    def shown(obj: Object, now: datetime) -> list[Any]:
        return cells(through.newer(obj), now)

    return shown


def _reader(read: Callable[[Object], str], through: ConvertingStrategy) -> Callable[[Object], str]:
    return lambda obj: read(through.newer(obj))
