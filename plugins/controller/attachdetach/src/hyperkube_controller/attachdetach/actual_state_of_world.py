"""What is attached to which node, as far as this controller knows.

Source: kubernetes ``pkg/controller/volume/attachdetach/cache/actual_state_of_world.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from enum import Enum

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, name_of


class AttachState(Enum):
    """How sure it is that a node has a volume; one that is surely not there is not known at all."""

    ATTACHED = "attached"
    UNCERTAIN = "uncertain"
    """A request to attach or to detach it failed: the storage may have carried it out nevertheless."""


@dataclass(slots=True)
class _Attached:
    state: AttachState
    device: str = ""
    is_reported: bool = False
    detach_requested: float | None = None


class ActualStateOfWorld:
    """Volumes by node and unique name; thread-safe.

    The nodes' status is to say what is attached for sure, less what is about to be detached.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._nodes: dict[str, dict[str, _Attached]] = {}
        self._believed: set[str] = set()
        self._sure: dict[str, set[str]] = {}
        """Nodes by what they have for sure: who wants a volume asks at each sync who else has it."""
        self._to_report: set[str] = set()

    def populate(self, node: Object) -> None:
        """Believe a node's status, the first time; what is known by then of a volume is newer."""
        name = name_of(node)
        with self._lock:
            if name in self._believed:
                return
            self._believed.add(name)
            known = self._nodes.setdefault(name, {})
            for row in (node.get("status") or {}).get("volumesAttached") or ():
                if row["name"] not in known:
                    known[row["name"]] = _Attached(AttachState.ATTACHED, row.get("devicePath", ""), is_reported=True)
                    self._sure.setdefault(row["name"], set()).add(name)

    def mark_attached(self, node: str, volume: str, device: str) -> None:
        """Note that the node has the volume."""
        with self._lock:
            self._nodes.setdefault(node, {})[volume] = _Attached(AttachState.ATTACHED, device, is_reported=True)
            self._sure.setdefault(volume, set()).add(node)
            self._to_report.add(node)

    def mark_uncertain(self, node: str, volume: str) -> None:
        """Note that the node may have the volume; how long it has not been wanted is kept."""
        with self._lock:
            known = self._nodes.setdefault(node, {}).setdefault(volume, _Attached(AttachState.UNCERTAIN))
            known.state = AttachState.UNCERTAIN
            self._drop_sure(node, volume)
            self._set_reported(node, known, is_reported=False)

    def mark_detached(self, node: str, volume: str) -> None:
        """Note that the node has the volume no more."""
        with self._lock:
            known = self._nodes.get(node, {}).pop(volume, None)
            self._drop_sure(node, volume)
            if known is not None and known.is_reported:
                self._to_report.add(node)

    def forget(self, node: str) -> None:
        """Keep nothing of a node that is gone and has no volumes: a later one of its name is believed anew."""
        with self._lock:
            if not self._nodes.get(node):
                self._nodes.pop(node, None)
                self._believed.discard(node)
                self._to_report.discard(node)

    def _drop_sure(self, node: str, volume: str) -> None:
        nodes = self._sure.get(volume, set())
        nodes.discard(node)
        if not nodes:
            self._sure.pop(volume, None)

    def set_reported(self, node: str, volume: str, *, is_reported: bool) -> None:
        """Say whether the node's status is to name the volume."""
        with self._lock:
            known = self._nodes.get(node, {}).get(volume)
            if known is not None:
                self._set_reported(node, known, is_reported=is_reported)

    def _set_reported(self, node: str, known: _Attached, *, is_reported: bool) -> None:
        if known.is_reported != is_reported:
            known.is_reported = is_reported
            self._to_report.add(node)

    def attached_to(self, node: str) -> dict[str, AttachState]:
        """Return what a node has or may have."""
        with self._lock:
            return {name: known.state for name, known in self._nodes.get(node, {}).items()}

    def nodes_with(self, volume: str) -> list[str]:
        """Return the nodes that have the volume for sure."""
        with self._lock:
            return sorted(self._sure.get(volume, ()))

    def unwanted_seconds(self, node: str, wanted: Mapping[str, object], now: float) -> dict[str, float]:
        """Return for how long each volume that the node has has not been wanted, from the first such call on."""
        seconds: dict[str, float] = {}
        with self._lock:
            for name, known in self._nodes.get(node, {}).items():
                if name in wanted:
                    known.detach_requested = None
                    continue
                if known.detach_requested is None:
                    known.detach_requested = now
                seconds[name] = now - known.detach_requested
        return seconds

    def take_report(self, node: str) -> list[Object] | None:
        """Return what the node's status is to name, or None where it does so already.

        Who takes it writes it, or says so by `return_report`.
        """
        with self._lock:
            if node not in self._to_report:
                return None
            self._to_report.discard(node)
            known = sorted(self._nodes.get(node, {}).items())
            return [{"name": name, "devicePath": each.device} for name, each in known if each.is_reported]

    def return_report(self, node: str) -> None:
        """Say that what was taken could not be written."""
        with self._lock:
            self._to_report.add(node)

    def all(self) -> list[tuple[str, str]]:
        """Return all nodes with what they have or may have, as pairs."""
        with self._lock:
            return [(node, volume) for node, volumes in self._nodes.items() for volume in volumes]
