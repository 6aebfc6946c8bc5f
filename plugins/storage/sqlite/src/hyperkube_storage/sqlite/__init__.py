"""sqlite: the whole cluster in one file, durable before the answer; the default where no etcd runs."""

from __future__ import annotations

from pathlib import Path

from hyperkube_storage.sqlite.store import SqliteStore

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.storage import Upkeep
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin
from hyperkube.storage.retention import DEFAULT_SECONDS
from hyperkube.storage.store import Store

FILE_NAME = "storage.db"
"""The name of the file in ``--data-dir``; SQLite keeps ``-wal`` and ``-shm`` files beside it while it is open."""

__all__ = ["FILE_NAME", "Sqlite", "SqliteSettings", "SqliteStore"]


class SqliteSettings(Record):
    """Settings of this plugin.

    Attributes:
        path: the file; empty for ``storage.db`` in ``--data-dir``.
        history_seconds: how long replaced versions of an object stay readable; 0 keeps them until compacted;
            None for ``--etcd-compaction-interval``.
    """

    path: str = ""
    history_seconds: float | None = None
    data_dir: str = ""
    etcd_compaction_interval: float = DEFAULT_SECONDS


class Sqlite(Plugin):
    """Opens the file that the settings or ``--data-dir`` name."""

    @hookimpl
    def storage_open(self) -> Store:
        """Open the file, making it and its folder if need be."""
        settings = self.settings(SqliteSettings)
        seconds = settings.history_seconds
        if seconds is None:
            seconds = settings.etcd_compaction_interval
        return SqliteStore(self._path(settings), self.context.clock, history_seconds=seconds)

    @hookimpl
    def storage_upkeep(self) -> Upkeep | None:
        """Return what takes care of the file."""
        from hyperkube_storage.sqlite.upkeep import FileUpkeep  # no server asks for it

        return FileUpkeep(self._path(self.settings(SqliteSettings)))

    def _path(self, settings: SqliteSettings) -> Path:
        folder = settings.data_dir
        if not settings.path and not folder:
            raise UsageError("storage plugin 'sqlite' needs --data-dir")
        return Path(settings.path) if settings.path else Path(folder) / FILE_NAME
