"""The resource, the object and the subresource that a request addresses."""

from __future__ import annotations

from hyperkube_host.apiserver.resources.served import ServedResource

from hyperkube.hookspecs.api import Subresource
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.groups import GroupVersionKind


@dataclass(frozen=True, slots=True)
class Target:
    """What a resource request addresses."""

    served: ServedResource
    namespace: str
    name: str
    sub: Subresource | None = None

    @property
    def kind(self) -> GroupVersionKind:
        """The kind of the request's object: the subresource's where it has one of its own."""
        return self.sub.kind if self.sub is not None else self.served.kind
