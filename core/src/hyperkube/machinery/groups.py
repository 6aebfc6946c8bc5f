"""How a type and a resource are named: group, version, kind and resource."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple


class GroupVersion(NamedTuple):
    """An API group and version; the core group is the empty string."""

    group: str
    version: str

    def __str__(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @classmethod
    def parse(cls, api_version: str) -> GroupVersion:
        """Read an ``apiVersion``: ``apps/v1`` or ``v1``.

        Raises:
            ValueError: more than one slash.
        """
        group, slash, version = api_version.partition("/")
        if not slash:
            return cls("", group)
        if "/" in version:
            raise ValueError(f"unexpected GroupVersion string: {api_version}")
        return cls(group, version)


class GroupKind(NamedTuple):
    """A kind in a group, whatever the version."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


class GroupResource(NamedTuple):
    """A resource in a group, whatever the version; prints as messages show it: ``deployments.apps``."""

    group: str
    resource: str

    def __str__(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource


class GroupVersionKind(NamedTuple):
    """A kind in one version of a group."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        """The ``apiVersion`` an object of this kind carries."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_kind(self) -> GroupKind:
        """The kind without its version."""
        return GroupKind(self.group, self.kind)


@lru_cache(maxsize=1024)
def _group_resource(group: str, resource: str) -> GroupResource:
    return GroupResource(group, resource)


class GroupVersionResource(NamedTuple):
    """A resource in one version of a group: what a client addresses."""

    group: str
    version: str
    resource: str

    @property
    def api_version(self) -> str:
        """The group and version as an ``apiVersion``."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_resource(self) -> GroupResource:
        """The resource without its version."""
        return _group_resource(self.group, self.resource)

    @property
    def root(self) -> str:
        """The URL folder of the version: ``/api/v1`` or ``/apis/GROUP/VERSION``."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Return the URL path of the collection, one object, or its subresource."""
        parts = [self.root]
        if namespace:
            parts += ["namespaces", namespace]
        parts.append(self.resource)
        parts += [part for part in (name, subresource) if part]
        return "/".join(parts)
