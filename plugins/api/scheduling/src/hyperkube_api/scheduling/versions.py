"""The versions of the group scheduling.k8s.io that are served."""

from __future__ import annotations

from hyperkube_api.meta.specs import Version

V1 = Version("scheduling.k8s.io", "v1", "hyperkube_api.scheduling.v1")


V1ALPHA2 = Version("scheduling.k8s.io", "v1alpha2", "hyperkube_api.scheduling.v1alpha2")
