"""Storage backends: where the API server keeps its objects."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from hyperkube.hookspecs import hookspec
from hyperkube.machinery.dataclass import dataclass
from hyperkube.storage.store import Store


@dataclass(frozen=True, slots=True)
class Survey:
    """What a store held at one revision.

    Attributes:
        revision: the one that was asked for, or the last.
        oldest: the oldest revision that can still be read.
        keys: each live key with the revision of its last write.
    """

    revision: int
    oldest: int
    keys: Mapping[str, int]


class Upkeep(Protocol):
    """Care for a store on this machine's disk, from outside the server that uses it; most answers are a line to print.

    Raises: `UsageError` in one line for a file that is missing, foreign or damaged, or in use where it must not be.
    """

    def check(self) -> str:
        """Read everything and say what is there; allowed while a server uses the store."""

    def compact(self) -> str:
        """Forget all history and give the space back; refused while a server uses the store."""

    def backup(self, target: Path, *, force: bool) -> str:
        """Write one consistent state to a file, durable when it returns; allowed while a server uses the store."""

    def restore(self, source: Path, *, force: bool) -> str:
        """Make a backup the store; `force` replaces one that is there. Refused while a server uses the store."""

    def fork(self, folder: Path) -> str:
        """Make another store in an empty folder that begins as this one is now; allowed while a server uses this one.

        Must: share with this store what the disk can share.
        """

    def survey(self, *, source: Path | None = None, revision: int = 0) -> Survey:
        """Say what is in the store, or in the backup `source`, now (0) or at a revision; allowed while it is used.

        Raises: `UsageError` for a revision that is compacted or does not exist yet.
        """


class Unreadable(ValueError):
    """A stored form that cannot be turned into a value; the message says why."""


class ValueProvider(Protocol):
    """Encrypts values with the help of another service; safe to use from many threads.

    Attributes:
        prefix: how the values that it encrypted begin.
    """

    prefix: bytes

    def transform_to_storage(self, value: bytes, context: bytes) -> bytes:
        """Return the encrypted value with its prefix; `context` is authenticated but not stored.

        Raises: `StoreUnavailable` while that is not possible.
        """

    def transform_from_storage(self, stored: bytes, context: bytes) -> tuple[bytes, bool]:
        """Return the value, and whether it should be encrypted anew.

        Raises: `Unreadable` in place of a value.
        """

    def check(self) -> bool:
        """Return True if all is well.

        Raises: `StoreUnavailable` with the reason.
        """

    def close(self) -> None:
        """End whatever it has under way; idempotent."""


@hookspec(firstresult=True)
def storage_open() -> Store:
    """Open the store that the settings describe: flags of its own, and ``data-dir``, ``etcd-servers``, … of the host.

    Called: once per API server, before anything else; the host closes the store at the end.
    Raises: `UsageError` in one line if the place is taken by another process, unreadable, or of a newer format.
    Must: pass `hyperkube_testing.storage.store.StoreContract`: linearizable compare-and-swap, snapshot reads,
        complete ordered watches, durability before the answer. A store that can also be forked
        (`hyperkube.storage.store.Forkable`) passes `hyperkube_testing.storage.forks.ForkPromises` as well, one that
        commits the writes of many requests at once (`QueuesWrites`) `hyperkube_testing.storage.queued_writes`.
    """


@hookspec(firstresult=True)
def storage_upkeep() -> Upkeep | None:
    """Return what takes care of the store that the host's options describe.

    Called: by ``hyperkube storage``, once, in a process of its own; the store is not opened for it.
    Returns: None from a backend that others take care of (etcd has `etcdctl`).
    Must: open nothing and change nothing until one of the methods is called.
    """


@hookspec(firstresult=True)
def storage_encrypt(provider: str, settings: Mapping[str, Any]) -> ValueProvider | None:
    """Return what encrypts values for one entry of an EncryptionConfiguration.

    Called: for each entry whose provider is not built into the server, at start and when the file is read again, on any
        thread, with the provider's name and its table; the host closes what is returned.
    Returns: None for the name of another plugin's provider.
    Raises: `UsageError` in one line that begins with the place in the table.
    Must: answer at once; the service that helps with the encryption need not be there yet.
    """


class StorageHooks(Protocol):
    """How a host calls the hooks of this family: by keyword, all plugins at once."""

    def storage_open(self) -> Store:
        """Call `storage_open` of all plugins until one answers."""

    def storage_upkeep(self) -> Upkeep | None:
        """Call `storage_upkeep` of all plugins until one answers."""

    def storage_encrypt(self, *, provider: str, settings: Mapping[str, Any]) -> ValueProvider | None:
        """Call `storage_encrypt` of all plugins until one answers."""
