"""Who looks after the embedded store of a data folder, while a server uses it or not."""

from __future__ import annotations

import logging
from pathlib import Path

from hyperkube_lib.local_cluster.layout import Layout

from hyperkube.hookspecs import storage
from hyperkube.hookspecs.storage import Upkeep
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext, load


def store_folder(data_dir: Path) -> Path:
    """Return where the store is in a cluster's data folder, or in an API server's ``--data-dir``."""
    own = Layout(data_dir.absolute()).store
    return own if own.is_dir() else data_dir.absolute()


def upkeep_at(folder: Path, backend: str = "sqlite") -> Upkeep:
    """Return what looks after the store in a folder.

    Raises:
        UsageError: the backend is not installed, or is looked after by others.
    """
    context = PluginContext(
        name=backend,
        clock=SystemClock(),
        logger=logging.getLogger("hyperkube.storage"),
        settings={"data_dir": str(folder)},
    )
    found: Upkeep | None = load("storage", [backend], storage, lambda _name: context).hook.storage_upkeep()
    if found is None:
        raise UsageError(f"storage backend {backend!r} is not looked after by this command")
    return found
