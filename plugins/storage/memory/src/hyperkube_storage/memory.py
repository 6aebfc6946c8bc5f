"""memory: the cluster forgets everything when it stops.

For tests, demonstrations and throw-away clusters; nothing touches the disk, so nothing has to be cleaned up.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.retention import DEFAULT_SECONDS
from hyperkube.storage.store import Store


class MemorySettings(Record):
    """Settings of this plugin.

    Attributes:
        history_seconds: how long replaced versions of an object stay readable; 0 keeps them until compacted;
            None for ``--etcd-compaction-interval``.
    """

    history_seconds: float | None = None
    etcd_compaction_interval: float = DEFAULT_SECONDS


class Memory(Plugin):
    """Opens an empty store in this process."""

    @hookimpl
    def storage_open(self) -> Store:
        """Return a new, empty store."""
        settings = self.settings(MemorySettings)
        seconds = settings.history_seconds
        if seconds is None:
            seconds = settings.etcd_compaction_interval
        return MemoryStore(self.context.clock, history_seconds=seconds)
