"""The network that a folder of configurations names: the first valid one, by the names of the files.

The files are read again when the folder has changed, which is looked at whenever the network is needed.

Source: kubernetes ``pkg/kubelet/dockershim/network/cni/cni.go`` (getDefaultCNINetwork).
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path

from hyperkube_lib.cni.errors import CniError, InvalidNetwork
from hyperkube_lib.cni.network_list import NetworkList, parse_network

EXTENSIONS = (".conf", ".conflist", ".json")
_log = logging.getLogger("hyperkube.cni")

_Signature = tuple[tuple[str, int, int], ...]


class ConfigurationFolder:
    """A folder of configurations; several threads may ask for its network."""

    def __init__(self, folder: str, programs: tuple[str, ...], validate: Callable[[NetworkList], None]) -> None:
        """Take the network that `validate` raises no error for; `programs` are the folders where its programs lie."""
        self._folder = folder
        self._programs = programs
        self._validate = validate
        self._lock = threading.Lock()
        self._seen: _Signature | None = None
        self._network: NetworkList | None = None

    def network(self) -> NetworkList | None:
        """Return the network, None if the folder has none that is valid."""
        with self._lock:
            found = self._signature()
            if found != self._seen:
                self._network = self._load([name for name, _, _ in found])
                self._seen = found
            return self._network

    def _signature(self) -> _Signature:
        """Return names, times and sizes of the files, and the times of the folders with the programs."""
        entries = [*_files(self._folder)]
        for folder in self._programs:
            try:
                entries.append((folder + os.sep, os.stat(folder).st_mtime_ns, 0))  # noqa: PTH116  one call is enough
            except OSError:
                continue
        return tuple(entries)

    def _load(self, names: list[str]) -> NetworkList | None:
        files = [name for name in names if not name.endswith(os.sep)]
        if not files:
            _log.warning("no networks found in %s", self._folder)
            return None
        for name in files:
            try:
                network = parse_network(Path(self._folder, name).read_text(encoding="utf-8"))
                self._validate(network)
            except (CniError, OSError, UnicodeDecodeError) as error:
                what = "configuration" if isinstance(error, InvalidNetwork | OSError) else "network"
                _log.warning("error loading CNI %s file %s: %s", what, Path(self._folder, name), error)
            else:
                _log.info("using CNI network %s of %s", network.name, name)
                return network
        _log.warning("no valid networks found in %s", self._folder)
        return None


def _files(folder: str) -> list[tuple[str, int, int]]:
    try:
        with os.scandir(folder) as entries:
            found = [(entry.name, entry.stat()) for entry in entries if entry.name.endswith(EXTENSIONS)]
    except OSError:
        return []
    return sorted((name, stat.st_mtime_ns, stat.st_size) for name, stat in found)
