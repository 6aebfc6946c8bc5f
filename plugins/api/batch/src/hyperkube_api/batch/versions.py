"""The version of the group batch that is served."""

from __future__ import annotations

from hyperkube_api.meta.specs import Version

V1 = Version("batch", "v1", "hyperkube_api.batch.v1")
