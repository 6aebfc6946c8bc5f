"""Pod networks: an address for each pod, and what connects them."""

from __future__ import annotations

from typing import Protocol

from hyperkube.hookspecs import hookspec
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import HyperkubeError


class NetworkFailed(HyperkubeError):
    """The pod's network could not be set up; it is retried with back-off."""


@dataclass(frozen=True, slots=True)
class PodNetwork:
    """A pod's addresses, first the primary one, and what its processes should know of it."""

    ips: tuple[str, ...]
    namespace_path: str = ""


@dataclass(frozen=True, slots=True)
class PodNetworkRequest:
    """Which pod, where: `namespace_path` is the sandbox's network namespace, empty when there is none."""

    namespace: str
    name: str
    uid: str
    sandbox_id: str
    namespace_path: str = ""
    host_ports: tuple[tuple[str, int, int], ...] = ()


class Network(Protocol):
    """Connects pods; called by one kubelet, from several threads for different pods."""

    def setup(self, pod: PodNetworkRequest) -> PodNetwork:
        """Give the pod its addresses; idempotent per sandbox.

        Raises:
            NetworkFailed: nothing is left half-done.
        """

    def teardown(self, pod: PodNetworkRequest) -> None:
        """Take them back; no error if they are gone already."""

    def status(self) -> str:
        """Return why the network is not ready, or the empty string."""

    def set_pod_cidr(self, cidr: str) -> None:
        """Learn the node's pod range; may be called again when it changes."""


@hookspec(firstresult=True)
def network_build() -> Network:
    """Build the network that ``--network-plugin`` names.

    Called: once by the kubelet, before any pod starts.
    Must: reuse no address while its pod lives, also across a restart of the kubelet.
    """


class NetworkHooks(Protocol):
    """How a host calls the hooks of this family: by keyword, all plugins at once."""

    def network_build(self) -> Network:
        """Call `network_build` of all plugins until one answers."""
