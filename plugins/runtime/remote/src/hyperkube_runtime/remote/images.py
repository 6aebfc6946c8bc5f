"""The image service of a runtime. Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_image.go``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from hyperkube_lib.cri import CriClient
from hyperkube_lib.grpc_messages import RpcFailed
from hyperkube_runtime.remote.records import image_of

from hyperkube.hookspecs.runtime import Config, Image, RegistryCredentials, RuntimeFailed


class RemoteImages:
    """Images of a runtime behind a socket."""

    def __init__(self, client: CriClient) -> None:
        self._client = client

    def _call_image(self, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self._client.call_image(method, request)
        except RpcFailed as error:
            raise RuntimeFailed(error.details) from error

    def images(self) -> Sequence[Image]:
        """Return the images on the node."""
        return [image_of(message) for message in self._call_image("ListImages", {}).get("images", ())]

    def image(self, reference: str) -> Image | None:
        """Return one image, or None."""
        found = self._call_image("ImageStatus", {"image": {"image": reference}}).get("image")
        return None if found is None else image_of(found)

    def pull_image(self, image: Config, credentials: RegistryCredentials | None, sandbox_config: Config) -> Image:
        """Pull an image; a failure's text is the runtime's own, for the kubelet to read the reason from.

        Raises:
            RuntimeFailed: it could not be pulled; a text that begins with a reason of CRI has that reason.
        """
        request: dict[str, Any] = {"image": image, "sandbox_config": sandbox_config}
        if credentials is not None:
            request["auth"] = {field: value for field, value in asdict(credentials).items() if value}
        try:
            reference = self._client.call_image("PullImage", request).get("image_ref", "")
        except RpcFailed as error:
            raise RuntimeFailed(_pull_text(error), _reason(error)) from error
        if not reference:
            raise RuntimeFailed(f"ImageRef is not set for image {image['image']!r}")
        # Containers are created with the reference of the pull, which names the registry, rather than with the id.
        found = self.image(reference) or self.image(image["image"])
        return replace(found, id=reference) if found else Image(id=reference, tags=(image["image"],))

    def remove_image(self, image_id: str) -> None:
        """Remove an image."""
        self._call_image("RemoveImage", {"image": {"image": image_id}})

    def image_fs_info(self) -> Config:
        """Return the file systems of images and containers."""
        return self._call_image("ImageFsInfo", {})


_REASONS = ("RegistryUnavailable", "SignatureValidationFailed", "InvalidImageName")


def _reason(error: RpcFailed) -> str:
    """Return the reason that a runtime writes in front of its text. Source: cri-api ``pkg/errors``."""
    return next((reason for reason in _REASONS if error.details.startswith(reason)), "ErrImagePull")


def _pull_text(error: RpcFailed) -> str:
    """Return what Kubernetes shows of a failed pull: without gRPC's words around it, unless these tell something."""
    return error.details if error.code == "UNKNOWN" else str(error)
