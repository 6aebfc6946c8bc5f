"""What the cache of a resource asks of the cache of the whole store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from hyperkube.machinery.errors import StorageReadError, Timeout
from hyperkube.storage.store import RangeResult, Store, StoreEvent

Cache_contra = TypeVar("Cache_contra", contravariant=True)
"""The cache of a resource."""


def too_large(revision: int, current: int) -> Timeout:
    """Return the error for a resource version that the cache does not reach in time.

    Source of the text: kubernetes apiserver ``pkg/storage/errors.go``.
    """
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    message = f"Timeout: Too large resource version: {revision}, current: {current}"
    return Timeout(message, details={"causes": [cause], "retryAfterSeconds": 1})


class Source(Protocol[Cache_contra]):
    """What a resource's cache asks of the cache of the whole store."""

    store: Store
    newest: Callable[[], int]
    """Returns the store's revision as far as it is known without asking another process: 0 if it is not."""

    @property
    def applied(self) -> int:
        """The revision up to which every loaded resource has all changes."""

    def wait_for(self, cache: Cache_contra, revision: int | None) -> None:
        """Block until `cache` is loaded and has reached `revision` (None: the store's current one)."""

    def when_current(self, reader: Callable[[Exception | None], None]) -> None:
        """Tell a reader when there is all that the store has now, or why not."""

    def read_range(self, start: str, end: str, revision: int, most: int = 0) -> Iterator[RangeResult]:
        """Read a range at a revision (0: now) straight from the store, in pages of not many more than are needed."""

    def report_damaged(self, key: str, error: StorageReadError) -> None:
        """Tell that the store has lost a key's value; called while the cache is locked, so it must not block."""

    def require_retained(self, prefix: str, revision: int) -> None:
        """Raise `Compacted` if the store under a prefix cannot be read at a revision any more."""

    def read_changes(self, start: str, end: str, after: int, until: int) -> Sequence[StoreEvent]:
        """Read a range's changes between two revisions straight from the store."""
