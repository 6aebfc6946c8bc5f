"""What pods can be selected by with ``--field-selector``.

Source: kubernetes pkg/registry/core/pod/strategy.go; ``spec.host`` and ``status.podIPs`` are accepted and read alike.
"""

from __future__ import annotations

from collections.abc import Callable

from hyperkube_api.meta.specs import fields

from hyperkube.machinery.fields import MemberText
from hyperkube.machinery.objects import Object


def pod_fields() -> dict[str, Callable[[Object], str]]:
    """Return the field selectors of pods."""
    return {
        **fields(
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.phase",
            "status.nominatedNodeName",
            flags=("spec.hostNetwork",),
        ),
        "spec.host": MemberText("spec.nodeName"),
        "status.podIP": _pod_ip,
        "status.podIPs": _pod_ip,
    }


def _pod_ip(pod: Object) -> str:
    status = pod.get("status") or {}
    addresses = status.get("podIPs") or []
    return str(addresses[0].get("ip") or "") if addresses else str(status.get("podIP") or "")
