"""One write in all the versions that its resource is served in.

A webhook or a policy names one version; with ``matchPolicy: Equivalent`` it is asked about a write whichever version
the client used, and sees the object in the one it names. Versions are equivalent when what they write is kept in one
place.

Source: kubernetes apimachinery ``pkg/runtime/mapper.go``, apiserver ``pkg/server/config.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.resources.served import ServedResource, converted

from hyperkube.hookspecs.admission import Equivalent
from hyperkube.machinery.errors import InternalError
from hyperkube.machinery.groups import GroupVersion, GroupVersionKind
from hyperkube.machinery.objects import Object

_NOWHERE: tuple[Equivalent, ...] = ()


class ServedVersions:
    """The versions of what a request addresses (`hyperkube.hookspecs.admission.Versions`)."""

    __slots__ = ("_target",)

    def __init__(self, target: Target) -> None:
        self._target = target

    def equivalents(self) -> Sequence[Equivalent]:
        """Return the other versions, in the order of discovery."""
        own, sub = self._target.served, self._target.sub
        if own.storage is None:
            return _NOWHERE
        others = [one for one in own.versions() if one.kind != own.kind]
        if sub is None:
            return [Equivalent(one.spec.resource, one.kind) for one in others]
        found: list[Equivalent] = []
        for other in others:
            same = other.spec.subresource(sub.name)
            # A part of the object is converted as the object is; a kind of its own must be one and the same.
            if same is not None and sub.kind in {own.kind, same.kind}:
                found.append(Equivalent(other.spec.resource, same.kind))
        return found

    def convert(self, obj: Object, kind: GroupVersionKind) -> Object:
        """Return an object in another version.

        Raises:
            ApiError: it cannot be converted.
        """
        version = GroupVersion.parse(str(obj.get("apiVersion") or ""))
        own = GroupVersionKind(version.group, version.version, str(obj.get("kind") or ""))
        if own == kind:
            return obj
        return converted(obj, self._of(own), self._of(kind))

    def _of(self, kind: GroupVersionKind) -> ServedResource:
        for one in self._target.served.versions():
            if one.kind == kind:
                return one
        raise InternalError.because(f"unable to convert to {kind.api_version}, Kind={kind.kind}: unknown kind")
