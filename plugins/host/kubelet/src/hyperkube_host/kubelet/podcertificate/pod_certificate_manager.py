"""What the kubelet and the projected volumes need of pod certificates, and what stands in where there are none.

Source: kubernetes ``pkg/kubelet/podcertificate/podcertificatemanager.go`` (Manager, NoOpManager).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.objects import Object

GATE = "PodCertificateRequest"


class PodCertificateManager(Protocol):
    """What the kubelet and the projected volumes need."""

    def start(self) -> None:
        """Begin to request certificates."""

    def close(self) -> None:
        """Request no more."""

    def track(self, pod: Object) -> None:
        """Request certificates for the sources of a pod that are not known yet."""

    def forget(self, uid: str) -> None:
        """Drop the keys and certificates of a pod that is gone."""

    def credential_bundle(self, pod: Object, volume: str, index: int) -> tuple[bytes, bytes]:
        """Return the private key and the certificates of a source, both PEM.

        Raises:
            VolumeFailed: there are none yet, or there will be none; the message says which.
        """

    def states(self) -> Mapping[tuple[str, str], int]:
        """Return (signer, state) → how many sources there are."""


class NoPodCertificates:
    """Stands in where no certificates are requested: without the feature gate, or without an API server."""

    def start(self) -> None:
        """Begin nothing."""

    def close(self) -> None:
        """End nothing."""

    def track(self, pod: Object) -> None:
        """Request nothing; `credential_bundle` says so."""

    def forget(self, uid: str) -> None:
        """Drop nothing."""

    def credential_bundle(self, pod: Object, volume: str, index: int) -> tuple[bytes, bytes]:
        """Say why there is none."""
        raise VolumeFailed(
            "pod certificates need the feature gate PodCertificateRequest of the kubelet, and an API server"
        )

    def states(self) -> Mapping[tuple[str, str], int]:
        """Return nothing."""
        return {}
