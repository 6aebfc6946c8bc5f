"""The loopback network: each pod has an address of its own in 127.0.0.0/8, which on Linux is all local.

No root and no device is needed, but nothing forces a program to use its pod's address either: it should bind to
``$POD_IP``. The pods of one node get their addresses from ``--pod-cidr``; without it the node locks a slice
127.N.0.0/16 of its own among all clusters of the machine and takes the lower half, the upper one being for services.
"""

from __future__ import annotations

import ipaddress
import json
import threading
from pathlib import Path

from hyperkube_lib.loopback_slices import HeldSlice, hold_slice, slices_folder

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.network import Network, NetworkFailed, PodNetwork, PodNetworkRequest
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

__all__ = ["Loopback"]

_LOOPBACK = ipaddress.IPv4Network("127.0.0.0/8")


class LoopbackNetwork:
    """Hands out addresses and remembers them in a file; see `Network`."""

    def __init__(self, state: Path, slices: Path, cidr: str = "") -> None:
        """Keep the addresses in the file `state`; lock slices in the folder `slices` unless `cidr` is given.

        Raises:
            UsageError: the range is not a loopback one, or all slices are taken.
        """
        self._state = state
        self._lock = threading.Lock()
        self._slice: HeldSlice | None = None
        self._addresses: dict[str, str] = json.loads(state.read_text()) if state.exists() else {}
        self._last = 1
        self._range = _parse(cidr) if cidr else self._own_slice(slices)

    def _own_slice(self, slices: Path) -> ipaddress.IPv4Network:
        before = {int(address.split(".")[1]) for address in self._addresses.values()}
        self._slice = hold_slice(slices, before)
        return ipaddress.IPv4Network(f"127.{self._slice.number}.0.0/17")

    def setup(self, pod: PodNetworkRequest) -> PodNetwork:
        """Return the sandbox's address, a fresh one the first time.

        Raises:
            NetworkFailed: the range is used up.
        """
        with self._lock:
            known = self._addresses.get(pod.sandbox_id)
            if known is not None:
                return PodNetwork((known,))
            address = self._free()
            self._addresses[pod.sandbox_id] = address
            self._save()
            return PodNetwork((address,))

    def _free(self) -> str:
        """Return the next address after the last one given, so that an address rests before it is used again."""
        taken = set(self._addresses.values())
        size = self._range.num_addresses
        for step in range(1, size):
            offset = (self._last + step) % size
            address = str(self._range[offset])
            if 2 <= offset < size - 1 and address not in taken:
                self._last = offset
                return address
        raise NetworkFailed(f"no address is left in {self._range}")

    def teardown(self, pod: PodNetworkRequest) -> None:
        """Take the sandbox's address back."""
        with self._lock:
            if self._addresses.pop(pod.sandbox_id, None) is not None:
                self._save()

    def _save(self) -> None:
        fresh = self._state.with_name(self._state.name + ".tmp")
        fresh.write_text(json.dumps(self._addresses))
        fresh.replace(self._state)

    def status(self) -> str:
        """Return the empty string: the loopback device is always there."""
        return ""

    def set_pod_cidr(self, cidr: str) -> None:
        """Give the pods to come addresses of another loopback range; any other range is no use here."""
        network = ipaddress.ip_network(cidr.split(",", maxsplit=1)[0], strict=False)
        if isinstance(network, ipaddress.IPv4Network) and network.subnet_of(_LOOPBACK):
            with self._lock:
                self._range = network

    def close(self) -> None:
        """Release the slice."""
        if self._slice is not None:
            self._slice.release()
            self._slice = None


def _parse(cidr: str) -> ipaddress.IPv4Network:
    network = ipaddress.ip_network(cidr.split(",", maxsplit=1)[0], strict=False)
    if not isinstance(network, ipaddress.IPv4Network) or not network.subnet_of(_LOOPBACK):
        raise UsageError(f"--pod-cidr={cidr!r} is not within 127.0.0.0/8, which the loopback network needs")
    return network


class LoopbackSettings(Record):
    """Settings of the loopback network.

    Attributes:
        root_dir: the folder with the file of the addresses in use.
        pod_cidr: the range of the node's pods; empty for a slice that no other cluster of the machine uses.
    """

    root_dir: str = "/var/lib/kubelet"
    pod_cidr: str = ""


class Loopback(Plugin):
    """Builds the loopback network, with its state under ``--root-dir``."""

    _network: LoopbackNetwork | None = None

    @hookimpl
    def network_build(self) -> Network:
        """Build it with the addresses of the run before."""
        settings = self.settings(LoopbackSettings)
        root = Path(settings.root_dir).absolute()
        root.mkdir(parents=True, exist_ok=True)
        self._network = LoopbackNetwork(root / "loopback.json", slices_folder(), settings.pod_cidr)
        return self._network

    def close(self) -> None:
        """Release the slice."""
        if self._network is not None:
            self._network.close()
