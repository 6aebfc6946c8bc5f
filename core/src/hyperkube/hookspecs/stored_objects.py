"""`Objects`: the stored objects as the strategies and handlers of an API group may touch them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object

Items: TypeAlias = list[Object]


class Objects(Protocol):
    """Stored objects as a strategy or a subresource handler may touch them: past authorization and admission."""

    def get(self, resource: GroupVersionResource, name: str, namespace: str = "") -> Object:
        """Return an object of your own.

        Raises:
            NotFound: there is none.
        """

    def list(self, resource: GroupVersionResource, namespace: str = "") -> Items:
        """Return all objects of a namespace, or of all with an empty one."""

    def by_field(self, resource: GroupVersionResource, field_name: str, value: str) -> Items:
        """Return the objects whose field selector `field_name` has `value`, by index."""

    def create(self, resource: GroupVersionResource, obj: Object, *, dry_run: bool = False) -> Object:
        """Create a complete object; defaults and validation apply."""

    def change(
        self,
        resource: GroupVersionResource,
        name: str,
        namespace: str,
        change: Callable[[Object], Object],
        *,
        dry_run: bool = False,
        admit: bool = False,
    ) -> Object:
        """Change an object by compare-and-swap; on a conflict `change` is called again with the newer one.

        With `admit` the change passes through defaulting, validation and admission as an update.
        """

    def delete(self, resource: GroupVersionResource, name: str, namespace: str = "", *, options: Object) -> Object:
        """Delete with DeleteOptions, finalizers and grace honoured."""

    def change_record(self, key: str, change: Callable[[Object | None], Object | None]) -> None:
        """Change what is stored under a key that no resource has, below the store's root (``ranges/…``).

        `change` gets what is there (None: nothing) and returns what shall be (None: leave it). It is called again when
        another server was quicker, and may raise.
        """
