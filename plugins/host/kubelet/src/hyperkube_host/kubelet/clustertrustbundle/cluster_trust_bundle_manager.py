"""Trust anchors of ClusterTrustBundles, by name or by signer and labels, each certificate once.

The bundles are watched from the first volume on that needs them. Programs shall not come to depend on an order: it is
the same as long as the kubelet runs, and another one after.

Source: kubernetes ``pkg/kubelet/clustertrustbundle/clustertrustbundle_manager.go``.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Mapping
from secrets import token_bytes
from typing import Protocol

from hyperkube_host.kubelet.types.pem import blocks, certificate

from hyperkube.client.client import Client
from hyperkube.client.informer import Informer
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import CLUSTER_TRUST_BUNDLES
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.labels import from_label_selector
from hyperkube.machinery.objects import Object, labels_of

GATE = "ClusterTrustBundleProjection"
SYNC_SECONDS = 2.0
"""How long the first volume waits for the bundles to be known, before it is tried again."""


class TrustAnchors(Protocol):
    """What the projected volumes need."""

    def anchors(self, source: Object) -> bytes:
        """Return the certificates that a ``clusterTrustBundle`` source selects, PEM.

        Raises:
            VolumeFailed: it selects none and is not optional, or bundles cannot be read here or not yet.
        """

    def close(self) -> None:
        """Watch no more."""


class NoTrustAnchors:
    """Stands in without the feature gate, or without an API server."""

    def anchors(self, source: Object) -> bytes:
        """Say that there are none."""
        raise VolumeFailed("ClusterTrustBundle projection is not supported in static kubelet mode")

    def close(self) -> None:
        """End nothing."""


class ClusterTrustBundleManager:
    """Reads the bundles of the cluster; implements `TrustAnchors`."""

    def __init__(self, client: Client, clock: Clock, salt: bytes) -> None:
        """Watch nothing yet; `salt` makes the order."""
        self._bundles = Informer(client, clock, CLUSTER_TRUST_BUNDLES)
        self._salt = salt
        self._lock = threading.Lock()
        self._started = False

    def anchors(self, source: Object) -> bytes:
        """Return the certificates that a source selects; see `TrustAnchors`."""
        with self._lock:
            starts, self._started = not self._started, True
        if starts:
            self._bundles.start()
        if not self._bundles.wait_synced(SYNC_SECONDS):
            raise VolumeFailed("ClusterTrustBundle informer has not yet synced")
        found = self._named(source["name"]) if source.get("name") else self._of_signer(source)
        if not found and not source.get("optional"):
            if source.get("name"):
                missing = NotFound.about(CLUSTER_TRUST_BUNDLES.group_resource, source["name"])
                raise VolumeFailed(f"while getting ClusterTrustBundle: {missing.message}")
            raise VolumeFailed("combination of signerName and labelSelector matched zero ClusterTrustBundles")
        return self._normalized(found)

    def _named(self, name: str) -> list[Object]:
        bundle = self._bundles.get("", name)
        return [] if bundle is None else [bundle]

    def _of_signer(self, source: Object) -> list[Object]:
        """Return the bundles of a signer; without a selector none match, with an empty one all do."""
        selector = from_label_selector(source.get("labelSelector"))
        signer = source.get("signerName")
        return [
            bundle
            for bundle in self._bundles.list()
            if (bundle.get("spec") or {}).get("signerName") == signer and selector.matches(labels_of(bundle))
        ]

    def _normalized(self, bundles: Iterable[Object]) -> bytes:
        anchors = {der for bundle in bundles for der in blocks(str(bundle["spec"].get("trustBundle") or ""))}
        return b"".join(map(certificate, sorted(anchors, key=self._place)))

    def _place(self, der: bytes) -> bytes:
        return hashlib.sha256(self._salt + der).digest()

    def close(self) -> None:
        """Watch no more."""
        if self._started:
            self._bundles.stop()


def build_trust_anchors(client: Client | None, clock: Clock, gates: Mapping[str, bool]) -> TrustAnchors:
    """Return what reads the bundles, if the gate is on and there is an API server."""
    if client is None or not gates.get(GATE, False):
        return NoTrustAnchors()
    return ClusterTrustBundleManager(client, clock, token_bytes())
