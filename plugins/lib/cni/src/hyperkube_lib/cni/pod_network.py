"""A pod network made of a network of CNI: see `hyperkube.hookspecs.network.Network`.

Source: kubernetes ``pkg/kubelet/dockershim/network/cni/cni.go``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hyperkube_lib.cni.bandwidth import bandwidth
from hyperkube_lib.cni.bridge_network import split_cidrs
from hyperkube_lib.cni.cache import Attachment, AttachmentCache
from hyperkube_lib.cni.errors import CniError
from hyperkube_lib.cni.network import CniNetworks
from hyperkube_lib.cni.network_list import NetworkList, parse_network
from hyperkube_lib.cni.result import addresses

from hyperkube.hookspecs.network import NetworkFailed, PodNetwork, PodNetworkRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

INTERFACE = "eth0"
UNINITIALIZED = "cni config uninitialized"
NOT_INITIALIZED = "cni plugin not initialized"
LOOPBACK = parse_network('{"cniVersion": "0.2.0", "name": "cni-loopback", "plugins": [{"type": "loopback"}]}')

_log = logging.getLogger("hyperkube.cni")


class CniPodNetwork:
    """Connects pods by the network that `network` returns at the time, None as long as there is none."""

    needs_namespaces = True
    forwards_host_ports = True

    def __init__(
        self,
        plugin: str,
        network: Callable[[], NetworkList | None],
        networks: CniNetworks,
        cache: AttachmentCache,
        learn: Callable[[str], None] = lambda _cidr: None,
    ) -> None:
        """Take the name that errors call it by, and what runs and remembers; `learn` is told the node's pod ranges."""
        self._plugin = plugin
        self._current = network
        self._learn = learn
        self._networks = networks
        self._cache = cache
        self._cidrs: tuple[str, ...] = ()
        self._garbage = _ReadersWriter()
        self._done: set[str] = set()

    def setup(self, pod: PodNetworkRequest) -> PodNetwork:
        """Add the sandbox to the network; one that is in it already keeps its addresses.

        Raises:
            NetworkFailed: nothing is left half-done.
        """
        try:
            with self._garbage.reading():
                return PodNetwork(self._add(pod))
        except CniError as error:
            full_name = f"{pod.name}_{pod.namespace}"
            text = f'networkPlugin {self._plugin} failed to set up pod "{full_name}" network: {error}'
            raise NetworkFailed(text) from error

    def _add(self, pod: PodNetworkRequest) -> tuple[str, ...]:
        network = self._current()
        if network is None:
            raise CniError(NOT_INITIALIZED)
        if not pod.namespace_path:
            raise CniError("the sandbox has no network namespace")
        known = [found for found in self._cache.of_container(pod.sandbox_id) if found.interface == INTERFACE]
        if known:
            return addresses(known[0].result)
        self._done.discard(pod.sandbox_id)
        attachment = Attachment(
            container_id=pod.sandbox_id,
            interface=INTERFACE,
            network=network.name,
            namespace_path=pod.namespace_path,
            arguments=_arguments(pod),
            capabilities=capabilities(pod, self._cidrs),
        )
        self._networks.add_loopback(LOOPBACK, attachment)
        result = self._networks.add(network, attachment)
        try:
            return addresses(result)
        except CniError:
            self._networks.delete(network, attachment)
            raise

    def teardown(self, pod: PodNetworkRequest) -> None:
        """Take the sandbox out of each network that it is known to be in, or else out of that of today.

        Raises:
            NetworkFailed: a program failed; it is to be tried again.
        """
        if pod.sandbox_id in self._done:
            return
        known = self._cache.of_container(pod.sandbox_id)
        try:
            for attachment in known:  # the namespace of before may be gone, and its path be another's
                self._networks.delete(
                    parse_network(attachment.configuration), replace(attachment, namespace_path=pod.namespace_path)
                )
            network = None if known else self._current()
            if network is not None:  # an ADD that was cut off may have left something that is not remembered
                self._networks.delete(network, _unknown(pod, network.name))
        except CniError as error:
            full_name = f"{pod.name}_{pod.namespace}"
            text = f'networkPlugin {self._plugin} failed to teardown pod "{full_name}" network: {error}'
            raise NetworkFailed(text) from error
        self._done.add(pod.sandbox_id)

    def status(self) -> str:
        """Return why pods get no network, in the words of the runtimes."""
        try:
            network = self._current()
            if network is not None:
                self._networks.status(network)
                return ""
            problem = UNINITIALIZED
        except CniError as error:
            problem = str(error)
        return f"NetworkReady=false reason:NetworkPluginNotReady message:network plugin is not ready: {problem}"

    def set_pod_cidr(self, cidr: str) -> None:
        """Learn what the capability argument ``ipRanges`` says from now on."""
        self._cidrs = split_cidrs(cidr)
        self._learn(cidr)

    def collect_garbage(self, sandbox_ids: Callable[[], frozenset[str]]) -> None:
        """Take sandboxes that are gone out of their networks; no pod is added meanwhile.

        What fails is logged: it is no pod's any more.
        """
        network = self._current()
        if network is None:
            return
        with self._garbage.writing():
            attachments = self._cache.all()
            existing = sandbox_ids()
            stale = [one for one in attachments if one.container_id not in existing]
            valid = [one for one in attachments if one.container_id in existing and one.network == network.name]
            try:
                self._networks.collect_garbage(network, stale, valid)
            except CniError as error:
                _log.warning("network %s: failed to collect garbage: %s", network.name, error)

    def check(self, sandbox_id: str) -> None:
        """Ask the programs whether a sandbox's interfaces are as they left them.

        Raises:
            CniError: they are not.
        """
        for attachment in self._cache.of_container(sandbox_id):
            self._networks.check(parse_network(attachment.configuration), attachment)


def capabilities(pod: PodNetworkRequest, cidrs: tuple[str, ...]) -> Mapping[str, Any]:
    """Return all that programs could be told of a pod: the capability arguments of CNI's conventions.

    Raises:
        CniError: the pod's annotations ask for an unreasonable bandwidth.
    """
    found: dict[str, Any] = {"aliases": [pod.name]}
    if pod.port_mappings:
        found["portMappings"] = [
            {
                "hostPort": port.host_port,
                "containerPort": port.container_port,
                "protocol": port.protocol.lower(),
                "hostIP": port.host_ip,
            }
            for port in pod.port_mappings
        ]
    limits = bandwidth(pod.annotations)
    if limits:
        found["bandwidth"] = limits
    if cidrs:
        found["ipRanges"] = [[{"subnet": cidr}] for cidr in cidrs]
    dns = {"servers": pod.dns.servers, "searches": pod.dns.searches, "options": pod.dns.options}
    if any(dns.values()):
        found["dns"] = {name: list(values) for name, values in dns.items()}
    return found


def _arguments(pod: PodNetworkRequest) -> tuple[tuple[str, str], ...]:
    return (
        ("IgnoreUnknown", "1"),
        ("K8S_POD_NAMESPACE", pod.namespace),
        ("K8S_POD_NAME", pod.name),
        ("K8S_POD_INFRA_CONTAINER_ID", pod.sandbox_id),
        ("K8S_POD_UID", pod.uid),
    )


def _unknown(pod: PodNetworkRequest, network: str) -> Attachment:
    """Return the attachment of a sandbox of which nothing is remembered."""
    return Attachment(
        container_id=pod.sandbox_id,
        interface=INTERFACE,
        network=network,
        namespace_path=pod.namespace_path,
        arguments=_arguments(pod),
        capabilities={"portMappings": []},
    )


class _ReadersWriter:
    """Many may add at a time, none while garbage is collected: what is half added looks like garbage."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0
        self._writes = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._writes)
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._writes)
            self._writes = True
            self._changed.wait_for(lambda: not self._readers)
        try:
            yield
        finally:
            with self._changed:
                self._writes = False
                self._changed.notify_all()
