"""Docker's images as the kubelet's records.

Source: kubernetes ``pkg/kubelet/dockershim/docker_image.go``, ``convert.go`` (imageToRuntimeAPIImage).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_runtime.docker.engine import Engine, EngineFailed, Json

from hyperkube.hookspecs.runtime import Config, Image, RegistryCredentials, RuntimeFailed

_NO_NAME = "<none>"


class DockerImages:
    """The images of a daemon; the one of sandboxes is not for garbage collection."""

    def __init__(self, engine: Engine, sandbox_image: str) -> None:
        self._engine = engine
        self._sandbox_image = sandbox_image

    def images(self) -> Sequence[Image]:
        """Return the images on the node; their users are not in Docker's list."""
        try:
            rows = self._engine.images()
        except EngineFailed as error:
            raise RuntimeFailed(str(error)) from error
        of_sandboxes = self._find(self._sandbox_image)
        pinned = "" if of_sandboxes is None else of_sandboxes["Id"]
        return [image_of(row, pinned) for row in rows]

    def image(self, reference: str) -> Image | None:
        """Return one image, or None."""
        found = self._find(reference)
        return None if found is None else image_of(found)

    def _find(self, reference: str) -> Json | None:
        try:
            return self._engine.image(reference)
        except EngineFailed as error:
            if error.is_not_found:
                return None
            raise RuntimeFailed(str(error)) from error

    def pull_image(self, image: Config, credentials: RegistryCredentials | None, sandbox_config: Config) -> Image:
        """Pull an image.

        Raises:
            RuntimeFailed: it could not be pulled; the text is Docker's own.
        """
        reference = image["image"]
        try:
            self._engine.pull(reference, docker_login(credentials))
        except EngineFailed as error:
            raise RuntimeFailed(str(error), "ErrImagePull") from error
        found = self.image(reference)
        if found is None:
            raise RuntimeFailed(f"image {reference!r} is gone right after its pull", "ErrImagePull")
        return found

    def ensure_sandbox_image(self) -> None:
        """Pull the image of sandboxes unless it is there.

        Raises:
            RuntimeFailed: it is not there and could not be pulled.
        """
        if self.image(self._sandbox_image) is None:
            try:
                self._engine.pull(self._sandbox_image, {})
            except EngineFailed as error:
                text = f'unable to pull sandbox image "{self._sandbox_image}": {error}'
                raise RuntimeFailed(text, "ErrImagePull") from error

    def remove_image(self, image_id: str) -> None:
        """Remove an image with all its names: Docker keeps one that has several when it is asked for by its id."""
        found = self._find(image_id)
        if found is None:
            return
        try:
            names = _names(found, "RepoTags") or _names(found, "RepoDigests")
            for reference in names or [image_id]:
                self._engine.remove_image(reference)
        except EngineFailed as error:
            if not error.is_not_found:
                raise RuntimeFailed(str(error)) from error

    def image_bytes(self) -> int:
        """Return what all images take; layers of several count for each."""
        return sum(image.size for image in self.images())


def image_of(found: Json, pinned: str = "") -> Image:
    """Return a row of Docker's list, or its description of one image; the one whose id is `pinned` is kept."""
    user = str((found.get("Config") or {}).get("User", "")).partition(":")[0]
    return Image(
        id=found["Id"],
        tags=_names(found, "RepoTags"),
        digests=_names(found, "RepoDigests"),
        size=int(found.get("VirtualSize") or found.get("Size") or 0),
        uid=int(user) if user.isdecimal() else None,
        username="" if user.isdecimal() else user,
        pinned=found["Id"] == pinned,
    )


def _names(found: Json, field: str) -> tuple[str, ...]:
    return tuple(name for name in found.get(field) or () if _NO_NAME not in name)


def docker_login(credentials: RegistryCredentials | None) -> dict[str, str]:
    """Return Docker's ``AuthConfig``."""
    if credentials is None:
        return {}
    fields = {
        "username": credentials.username,
        "password": credentials.password,
        "auth": credentials.auth,
        "serveraddress": credentials.server_address,
        "identitytoken": credentials.identity_token,
        "registrytoken": credentials.registry_token,
    }
    return {name: value for name, value in fields.items() if value}
