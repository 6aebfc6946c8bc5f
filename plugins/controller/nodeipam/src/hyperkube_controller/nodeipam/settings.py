"""What node ranges are made of: the flags, and the ranges of the cluster that they describe.

Source: kubernetes ``cmd/kube-controller-manager/app/core.go`` (setNodeCIDRMaskSizes).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import ip_network
from typing import Final

from hyperkube_controller.nodeipam.cidr_set import CidrMetrics, CidrSet, Network

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError

MASKS: Final = {4: 24, 6: 64}
MAX_IPV6_MASK_DIFFERENCE: Final = 16
RANGE_ALLOCATOR, CLOUD_ALLOCATOR = "RangeAllocator", "CloudAllocator"
IPAM_FROM_CLUSTER, IPAM_FROM_CLOUD = "IPAMFromCluster", "IPAMFromCloud"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Whether nodes get ranges, of which addresses, and how long their masks are (0: the usual length)."""

    allocate_node_cidrs: bool = False
    cidr_allocator_type: str = RANGE_ALLOCATOR
    cloud_provider: str = ""
    cluster_cidr: str = ""
    service_cluster_ip_range: str = ""
    node_cidr_mask_size: int = 0
    node_cidr_mask_size_ipv4: int = 0
    node_cidr_mask_size_ipv6: int = 0


def cidr_sets(settings: Settings, metrics: CidrMetrics) -> list[CidrSet]:
    """Return the ranges of the cluster, one of each family.

    Raises:
        UsageError: there is none, there are too many, or the masks of their parts do not fit.
    """
    texts = settings.cluster_cidr.split(",")
    if not settings.cluster_cidr:
        raise UsageError("--cluster-cidr must be set when --allocate-node-cidrs is")
    clusters = [ip_network(text, strict=False) for text in texts]
    if len(clusters) > len({each.version for each in clusters}):
        raise UsageError(f"--cluster-cidr: expected one range, or two of different families, not {texts!r}")
    masks = _masks(settings, [each.version for each in clusters])
    return [_cidr_set(each, masks[each.version], metrics) for each in clusters]


def _masks(settings: Settings, families: Sequence[int]) -> Mapping[int, int]:
    """Return the length of the masks by family."""
    both = settings.node_cidr_mask_size
    special = {4: settings.node_cidr_mask_size_ipv4, 6: settings.node_cidr_mask_size_ipv6}
    if both and len(families) > 1:
        raise UsageError("usage of --node-cidr-mask-size is not allowed with dual-stack clusters")
    if both and any(special.values()):
        raise UsageError(
            "usage of --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6 is not allowed if --node-cidr-mask-size"
            " is set. For dual-stack clusters please unset it and use IPFamily specific flags"
        )
    for family, mask in special.items():
        if mask and family not in families:
            (only,) = families
            flag = f"--node-cidr-mask-size-ipv{family}"
            raise UsageError(f"usage of {flag} is not allowed for a single-stack IPv{only} cluster")
    return {family: both or special[family] or MASKS[family] for family in families}


def _cidr_set(cluster: Network, mask: int, metrics: CidrMetrics) -> CidrSet:
    if not cluster.prefixlen <= mask <= cluster.max_prefixlen:
        raise UsageError(f"node mask /{mask} does not fit into --cluster-cidr {str(cluster)!r}")
    if cluster.version == 6 and mask - cluster.prefixlen > MAX_IPV6_MASK_DIFFERENCE:
        most = cluster.prefixlen + MAX_IPV6_MASK_DIFFERENCE
        raise UsageError(f"node mask /{mask} makes too many parts of --cluster-cidr {str(cluster)!r}: at most /{most}")
    return CidrSet(cluster, mask, metrics)
