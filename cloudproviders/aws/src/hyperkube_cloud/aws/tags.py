"""How Amazon's resources say which cluster they belong to, and what they are for.

Source: kubernetes legacy-cloud-providers ``aws/tags.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

CLUSTER_PREFIX = "kubernetes.io/cluster/"
LEGACY_CLUSTER = "KubernetesCluster"
OWNED, SHARED = "owned", "shared"

Tag = dict[str, str]


def as_map(tags: Iterable[Mapping[str, Any]] | None) -> dict[str, str]:
    """Return tags by key."""
    return {str(tag["Key"]): str(tag.get("Value", "")) for tag in tags or ()}


def as_list(tags: Mapping[str, str]) -> list[Tag]:
    """Return tags as Amazon takes them."""
    return [{"Key": key, "Value": value} for key, value in sorted(tags.items())]


def belongs(tags: Mapping[str, str], cluster: str) -> bool:
    """Tell whether a resource is the cluster's, alone or with others."""
    return f"{CLUSTER_PREFIX}{cluster}" in tags or tags.get(LEGACY_CLUSTER) == cluster


def owned_by(cluster: str) -> dict[str, str]:
    """Return the tag of what a cluster makes for itself."""
    return {f"{CLUSTER_PREFIX}{cluster}": OWNED}
