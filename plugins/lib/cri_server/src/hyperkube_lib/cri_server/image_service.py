"""The calls of CRI's ImageService on a runtime.

Source: kubernetes ``staging/src/k8s.io/cri-api/pkg/apis/runtime/v1/api.proto`` (ImageService).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube_lib.cri_server import messages
from hyperkube_lib.grpc_messages import Handler

from hyperkube.hookspecs.runtime import Config, ReportsStats, Runtime

Request = Mapping[str, Any]
Answer = dict[str, Any]


class ImageService:
    """CRI's ImageService."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def handlers(self) -> dict[str, Handler]:
        """Return the calls by name."""
        found: dict[str, Handler] = {
            "ListImages": self.list_images,
            "ImageStatus": self.image_status,
            "PullImage": self.pull_image,
            "RemoveImage": self.remove_image,
        }
        if isinstance(self._runtime, ReportsStats):
            runtime: ReportsStats = self._runtime
            found["ImageFsInfo"] = lambda _request: _file_systems(runtime)
        return found

    def list_images(self, request: Request) -> Answer:
        """Return all images, or the one that a filter names."""
        wanted = request.get("filter", {}).get("image", {}).get("image", "")
        if wanted:
            found = self._runtime.image(wanted)
            return {"images": [] if found is None else [messages.image(found)]}
        return {"images": [messages.image(one) for one in self._runtime.images()]}

    def image_status(self, request: Request) -> Answer:
        """Return one image, or nothing."""
        found = self._runtime.image(_reference(request))
        return {} if found is None else {"image": messages.image(found)}

    def pull_image(self, request: Request) -> Answer:
        """Pull an image; return by what it is known from now on."""
        login = messages.credentials(request.get("auth"))
        found = self._runtime.pull_image(request.get("image", {}), login, request.get("sandbox_config", {}))
        return {"image_ref": found.id}

    def remove_image(self, request: Request) -> None:
        """Remove an image; fine for one that is gone."""
        found = self._runtime.image(_reference(request))
        if found is not None:
            self._runtime.remove_image(found.id)


def _reference(request: Request) -> str:
    return str(request.get("image", {}).get("image", ""))


def _file_systems(runtime: ReportsStats) -> Config:
    return runtime.image_fs_info()
