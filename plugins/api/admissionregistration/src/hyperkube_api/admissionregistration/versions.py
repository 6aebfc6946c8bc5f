"""The version of the group admissionregistration.k8s.io that is served."""

from __future__ import annotations

from hyperkube_api.meta.specs import Version

V1 = Version("admissionregistration.k8s.io", "v1", "hyperkube_api.admissionregistration.v1")
