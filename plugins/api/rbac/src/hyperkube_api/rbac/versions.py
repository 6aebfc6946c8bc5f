"""The group rbac.authorization.k8s.io and the version of it that is served."""

from __future__ import annotations

from hyperkube_api.meta.specs import Version

GROUP = "rbac.authorization.k8s.io"
V1 = Version(GROUP, "v1", "hyperkube_api.rbac.v1")
