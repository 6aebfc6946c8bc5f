"""The version of the group apps that is served."""

from __future__ import annotations

from hyperkube_api.meta.specs import Version

V1 = Version("apps", "v1", "hyperkube_api.apps.v1")
