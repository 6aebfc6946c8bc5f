"""A snapshot of `hyperkube snapshot save`: a whole store, which an API server of its own reads from a copy."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

from hyperkube_command.simulate.files import read_cluster
from hyperkube_lib.local_cluster.layout import Layout
from hyperkube_lib.local_cluster.store_upkeep import upkeep_at

from hyperkube.hookspecs import storage
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.objects import Object
from hyperkube.plugin import PluginContext, load

MAGIC = b"SQLite format 3\0"
BACKEND = "sqlite"


def is_saved_store(path: Path) -> bool:
    """Tell whether a file is a store and not a list of objects."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def place_of(snapshot: Path, data_dir: Path) -> Path:
    """Return the file that is meant: a path, or the name of a snapshot in a cluster's data folder."""
    named = Layout(data_dir.absolute()).root / "snapshots" / f"{snapshot.name}.db"
    return named if not snapshot.exists() and snapshot.parent == Path() and named.is_file() else snapshot


def read_saved_store(path: Path) -> list[Object]:
    """Return the objects of a saved store that scheduling looks at; the file stays as it is.

    Raises:
        UsageError: it cannot be read.
    """
    from hyperkube_testing.cluster.cluster import ControlPlane

    with tempfile.TemporaryDirectory(prefix="hyperkube-simulate-") as folder:
        upkeep_at(Path(folder), BACKEND).restore(path.absolute(), force=True)
        context = PluginContext(
            name=BACKEND,
            clock=SystemClock(),
            logger=logging.getLogger("hyperkube.storage"),
            settings={"data_dir": str(folder)},
        )
        store = load("storage", [BACKEND], storage, lambda _name: context).hook.storage_open()
        try:
            with ControlPlane(controller_manager=None, scheduler=None, store=store) as cluster:
                found, _ = read_cluster(cluster.client)
                return found
        finally:
            store.close()
