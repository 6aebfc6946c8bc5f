"""Which of a machine's addresses its node gets: pure rules over what the guest tells of its network cards.

Source: cloud-provider-vsphere ``pkg/cloudprovider/vsphere/nodemanager.go`` (DiscoverNode, discoverIPs); kubernetes
``legacy-cloud-providers/vsphere/vsphere.go`` (getNodeAddressesFromVM) for ``[Network] public-network``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from hyperkube_cloud.vsphere.config import Nodes

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_VERSION: Final = {"ipv4": 4, "ipv6": 6}


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A network card as the guest tells of it; `is_virtual` for those that the guest made itself."""

    network: str
    addresses: tuple[str, ...] = ()
    is_virtual: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    address: Address
    network: str


def addresses(cards: Sequence[Card], nodes: Nodes, families: Sequence[str], public_network: str = "") -> list[Object]:
    """Return rows of ``status.addresses`` without the host's name.

    Raises:
        CloudFailed: the machine has cards, and none has an address that fits.
    """
    if public_network:
        return list(_unique(_of_network(cards, public_network)))
    real = [card for card in cards if not card.is_virtual]
    names = [nodes.internal_vm_network_name, nodes.external_vm_network_name]
    if all(names) and not any(_same(card.network, name) for card in real for name in names):
        raise CloudFailed("unable to find suitable IP address for node")
    candidates = [each for card in real for each in _candidates(card) if not _is_local(each.address)]
    rows: list[Object] = []
    for family in families:
        of_family = [each for each in candidates if each.address.version == _VERSION[family]]
        inner, outer = _pair(of_family, nodes)
        if cards and inner is None and outer is None:
            raise CloudFailed(f"unable to find suitable IP address for node with IP family {family}")
        rows += [
            {"type": of, "address": str(each.address)}
            for of, each in (("InternalIP", inner), ("ExternalIP", outer))
            if each is not None
        ]
    return rows


def _pair(candidates: Sequence[_Candidate], nodes: Nodes) -> tuple[_Candidate | None, _Candidate | None]:
    """Return the cluster's and the world's: by subnet, else by network, else the first for what is said of neither."""
    inner = _without(candidates, nodes.exclude_internal_network_subnet_cidr)
    outer = _without(candidates, nodes.exclude_external_network_subnet_cidr)
    found_inner = _chosen(inner, nodes.internal_network_subnet_cidr, nodes.internal_vm_network_name)
    found_outer = _chosen(outer, nodes.external_network_subnet_cidr, nodes.external_vm_network_name)
    if found_inner is None and found_outer is None:
        return next(iter(inner), None), next(iter(outer), None)
    return found_inner, found_outer


def _chosen(candidates: Sequence[_Candidate], subnets: Sequence[str], network: str) -> _Candidate | None:
    ways: list[Callable[[_Candidate], bool]] = [_in_subnet(subnet) for subnet in subnets]
    if network:
        ways.append(lambda each: _same(each.network, network))
    return next((each for way in ways for each in candidates if way(each)), None)


def _in_subnet(subnet: str) -> Callable[[_Candidate], bool]:
    network = ipaddress.ip_network(subnet, strict=False)
    return lambda each: each.address in network


def _without(candidates: Sequence[_Candidate], subnets: Sequence[str]) -> list[_Candidate]:
    excluded = [_in_subnet(subnet) for subnet in subnets]
    return [each for each in candidates if not any(is_in(each) for is_in in excluded)]


def _candidates(card: Card) -> Iterator[_Candidate]:
    for text in card.addresses:
        try:
            yield _Candidate(address=ipaddress.ip_address(text.partition("%")[0]), network=card.network)
        except ValueError:
            continue  # guests tell what they like


def _is_local(address: Address) -> bool:
    return address.is_unspecified or address.is_loopback or address.is_link_local or _is_local_multicast(address)


def _is_local_multicast(address: Address) -> bool:
    local = ipaddress.ip_network("224.0.0.0/24" if address.version == 4 else "ff02::/16")
    return address in local


def _of_network(cards: Iterable[Card], network: str) -> Iterator[Object]:
    for card in cards:
        if card.network == network:
            for each in _candidates(card):
                if not each.address.is_link_local:
                    yield {"type": "ExternalIP", "address": str(each.address)}
                    yield {"type": "InternalIP", "address": str(each.address)}


def _unique(rows: Iterable[Object]) -> Iterator[Object]:
    met: list[Object] = []
    for row in rows:
        if row not in met:
            met.append(row)
            yield row


def _same(one: str, other: str) -> bool:
    return one.lower() == other.lower()
