# ruff: noqa: D102 - tests, whose names are their docstrings
"""What every pod network promises: subclass `NetworkContract` and build the network."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import ClassVar

from hyperkube.hookspecs.network import Network, PodNetworkRequest


class NetworkContract:
    """The promises of `hyperkube.hookspecs.network`, as tests.

    Attributes:
        distinct: whether each pod gets an address of its own.
    """

    distinct: ClassVar[bool] = True

    def build(self, state: Path) -> Network:
        """Return a new network over the folder `state`."""
        raise NotImplementedError

    def release(self, network: Network) -> None:
        """Let go of what `build` took, as the end of the kubelet's process would."""

    @staticmethod
    def pod(number: int) -> PodNetworkRequest:
        """Return the request of some pod."""
        return PodNetworkRequest("ns", f"p{number}", f"uid-{number}", f"sandbox-{number}")

    def test_a_pod_gets_a_valid_address(self, tmp_path: Path) -> None:
        network = self.build(tmp_path)

        (address, *_) = network.setup(self.pod(1)).ips

        assert ipaddress.ip_address(address)
        assert network.status() == ""
        self.release(network)

    def test_setup_is_idempotent_per_sandbox(self, tmp_path: Path) -> None:
        network = self.build(tmp_path)

        assert network.setup(self.pod(1)) == network.setup(self.pod(1))
        self.release(network)

    def test_no_two_pods_share_an_address(self, tmp_path: Path) -> None:
        network = self.build(tmp_path)

        addresses = {network.setup(self.pod(number)).ips[0] for number in range(20)}

        assert len(addresses) == (20 if self.distinct else 1)
        self.release(network)

    def test_teardown_is_idempotent(self, tmp_path: Path) -> None:
        network = self.build(tmp_path)
        network.setup(self.pod(1))

        network.teardown(self.pod(1))
        network.teardown(self.pod(1))

        assert network.setup(self.pod(1)).ips
        self.release(network)

    def test_teardown_needs_no_more_than_the_sandbox(self, tmp_path: Path) -> None:
        network = self.build(tmp_path)
        network.setup(self.pod(1))

        network.teardown(PodNetworkRequest("", "", "", self.pod(1).sandbox_id))

        assert network.setup(self.pod(2)).ips
        self.release(network)

    def test_addresses_outlive_the_kubelet(self, tmp_path: Path) -> None:
        before = self.build(tmp_path)
        first = before.setup(self.pod(1))
        self.release(before)

        after = self.build(tmp_path)
        other = after.setup(self.pod(2))

        assert after.setup(self.pod(1)) == first
        assert not self.distinct or other != first
        self.release(after)
