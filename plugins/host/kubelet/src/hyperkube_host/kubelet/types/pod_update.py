"""Where a pod comes from: static pods, their mirrors, and the annotations that tell them apart.

Source: kubernetes ``pkg/kubelet/types/pod_update.go``.
"""

from __future__ import annotations

from hyperkube.kinds.pods import MIRROR_ANNOTATION, is_mirror
from hyperkube.machinery.objects import Object, annotations_of, metadata, name_of, namespace_of

__all__ = ["HASH_ANNOTATION", "MIRROR_ANNOTATION", "SOURCE_ANNOTATION", "describe", "is_mirror", "is_static"]

SOURCE_ANNOTATION = "kubernetes.io/config.source"
SEEN_ANNOTATION = "kubernetes.io/config.seen"
HASH_ANNOTATION = "kubernetes.io/config.hash"


def is_static(pod: Object) -> bool:
    """Tell whether a pod comes from a file or URL of the node."""
    return annotations_of(pod).get(SOURCE_ANNOTATION, "api") != "api"


def describe(pod: Object) -> str:
    """Return ``name_namespace(uid)``, as Kubernetes' messages write a pod."""
    return f"{name_of(pod)}_{namespace_of(pod)}({metadata(pod).get('uid', '')})"
