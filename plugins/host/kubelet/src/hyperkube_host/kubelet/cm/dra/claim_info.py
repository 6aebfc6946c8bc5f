"""Which claims are prepared, for which pods and by which drivers; kept in the file ``dra_manager_state``.

Sources: kubernetes ``pkg/kubelet/cm/dra/claiminfo.go``, ``state/checkpointer.go``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from hyperkube_host.kubelet.checkpointmanager.checkpoint_file import (
    CheckpointCorrupt,
    CheckpointFile,
    canonical_json,
)

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of

FILE_NAME = "dra_manager_state"
_KIND, _VERSION = "DRACheckpoint", "checkpoint.dra.kubelet.k8s.io/v1"


@dataclass(slots=True)
class PreparedDevice:
    """A device that a driver has prepared; `requests` empty when it is for all of the claim's."""

    pool: str
    name: str
    requests: list[str]
    cdi_ids: list[str]


@dataclass(slots=True)
class ClaimInfo:
    """A claim that pods of this node use.

    Attributes:
        drivers: driver → the devices that it has prepared.
        prepared: whether all drivers have; not after a restart before they were asked.
    """

    uid: str
    name: str
    namespace: str
    pods: list[str] = field(default_factory=list)
    drivers: dict[str, list[PreparedDevice]] = field(default_factory=dict)
    prepared: bool = False

    def devices_for(self, request: str) -> list[tuple[str, PreparedDevice]]:
        """Return driver and device of those for a request (all for the empty one), of its alternatives too."""
        return [
            (driver, device)
            for driver, devices in self.drivers.items()
            for device in devices
            if not request or not device.requests or any(one.split("/")[0] == request for one in device.requests)
        ]


def claim_info_of(claim: Object) -> ClaimInfo:
    """Return what a claim says: its drivers, that have prepared nothing yet."""
    allocation = (claim.get("status") or {}).get("allocation") or {}
    results = (allocation.get("devices") or {}).get("results") or ()
    drivers: dict[str, list[PreparedDevice]] = {result["driver"]: [] for result in results}
    return ClaimInfo(uid_of(claim), name_of(claim), namespace_of(claim), drivers=drivers)


class ClaimInfoCache:
    """The claims of this node; not for several threads at a time."""

    def __init__(self, folder: Path) -> None:
        """Read what an earlier kubelet knew.

        Raises:
            UsageError: the file cannot be trusted.
        """
        self._file = CheckpointFile(folder / FILE_NAME, key="Checksum", print_for_hash=canonical_json)
        self._claims: dict[tuple[str, str], ClaimInfo] = {}
        try:
            content = self._file.read()
            for entry in () if content is None else json.loads(content["Data"])["entries"]:
                info = _read(entry)
                self._claims[info.namespace, info.name] = info
        except (CheckpointCorrupt, ValueError, KeyError, TypeError, AttributeError) as error:
            why = f"create ResourceClaim cache: failed to read checkpoint: {error}"
            raise UsageError(f"{why}; drain the node and delete {self._file.path}") from error

    def get(self, namespace: str, name: str) -> ClaimInfo | None:
        """Return a claim, or None."""
        return self._claims.get((namespace, name))

    def add(self, info: ClaimInfo) -> None:
        """Add a claim; `store` writes it down."""
        self._claims[info.namespace, info.name] = info

    def remove(self, info: ClaimInfo) -> None:
        """Remove a claim; `store` writes that down."""
        self._claims.pop((info.namespace, info.name), None)

    def of_pod(self, uid: str) -> list[ClaimInfo]:
        """Return the claims that a pod uses."""
        return [info for info in self._claims.values() if uid in info.pods]

    def pods(self) -> set[str]:
        """Return the uids of the pods that use claims."""
        return {uid for info in self._claims.values() for uid in info.pods}

    def all(self) -> Iterable[ClaimInfo]:
        """Return all claims."""
        return list(self._claims.values())

    def store(self) -> None:
        """Write all down."""
        entries = [asdict(info) for info in self._claims.values()]
        data = json.dumps({"kind": _KIND, "apiVersion": _VERSION, "entries": entries}, sort_keys=True)
        self._file.write({"Data": data})


def _read(entry: Mapping[str, Any]) -> ClaimInfo:
    drivers = {driver: [PreparedDevice(**one) for one in devices] for driver, devices in entry["drivers"].items()}
    return ClaimInfo(
        entry["uid"], entry["name"], entry["namespace"], list(entry["pods"]), drivers, prepared=entry["prepared"]
    )
