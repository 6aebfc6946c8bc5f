"""The limits of bandwidth that a pod's annotations ask for.

Source: kubernetes ``pkg/util/bandwidth/utils.go`` (ExtractPodBandwidthResources).
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperkube_lib.cni.errors import CniError

from hyperkube.machinery.quantity import QuantityError, parse

BURST = (1 << 31) - 1
_LEAST, _MOST = 10**3, 10**15


def bandwidth(annotations: Mapping[str, str]) -> dict[str, int]:
    """Return the capability argument ``bandwidth`` in bits per second, empty without a limit.

    Raises:
        CniError: an annotation is no quantity, or no reasonable one.
    """
    found: dict[str, int] = {}
    for direction in ("ingress", "egress"):
        text = annotations.get(f"kubernetes.io/{direction}-bandwidth")
        if text is None:
            continue
        try:
            value = parse(text).value()
        except QuantityError as error:
            raise CniError(f"failed to get pod bandwidth from annotations: {error}") from error
        if value < _LEAST:
            raise CniError("failed to get pod bandwidth from annotations: resource is unreasonably small (< 1kbit)")
        if value > _MOST:
            raise CniError("failed to get pod bandwidth from annotations: resource is unreasonably large (> 1Pbit)")
        found |= {f"{direction}Rate": value, f"{direction}Burst": BURST}
    return found
