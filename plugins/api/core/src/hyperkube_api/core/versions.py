"""The one version of the core group."""

from __future__ import annotations

from hyperkube_api.meta.specs import Version

V1 = Version("", "v1", "hyperkube_api.core.v1")
