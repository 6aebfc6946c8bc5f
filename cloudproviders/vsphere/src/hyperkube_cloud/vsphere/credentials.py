"""As whom a vCenter is asked: the file's user, or one of a Secret or a folder that is read again at each login.

Source: cloud-provider-vsphere ``pkg/common/credentialmanager/credentialmanager.go``.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hyperkube_cloud.vsphere.config import VCenterConfig

from hyperkube.client.client import Client
from hyperkube.hookspecs.cloud import CloudUnavailable
from hyperkube.kinds.resources import SECRETS
from hyperkube.machinery.errors import ApiError

_LARGEST: Final = 1 << 20
"""Bytes of a Secret, as the API has it."""


class Credentials:
    """Tells user and password of one vCenter."""

    def __init__(self, config: VCenterConfig, client: Client | None) -> None:
        self._config, self._client = config, client

    def read(self) -> tuple[str, str]:
        """Return user and password as they are now.

        Raises:
            CloudUnavailable: they stand elsewhere, and are not there.
        """
        config = self._config
        if config.secret_name and config.secret_namespace:
            where = f"Secret {config.secret_namespace}/{config.secret_name}"
            return self._found(self._of_secret(where), where)
        if config.secrets_directory:
            return self._found(self._of_folder(config.secrets_directory), config.secrets_directory)
        return config.user, config.password

    def _found(self, data: Mapping[str, str], where: str) -> tuple[str, str]:
        for server in (self._config.server, self._config.server.strip("[]")):
            user, password = data.get(f"{server}.username", ""), data.get(f"{server}.password", "")
            if user and password:
                return user, password
            for key, value in data.items():  # addresses of IPv6 cannot be keys of a Secret: server_a, username_a …
                if key.startswith("server_") and value == server:
                    which = key.removeprefix("server_")
                    if f"username_{which}" in data and f"password_{which}" in data:
                        return data[f"username_{which}"], data[f"password_{which}"]
        raise CloudUnavailable(f"{where} has no user and password of vCenter {self._config.server!r}")

    def _of_secret(self, where: str) -> Mapping[str, str]:
        if self._client is None:
            raise CloudUnavailable(f"user and password stand in {where}, and there is no API to ask")
        try:
            secret = self._client.get(SECRETS, self._config.secret_name, self._config.secret_namespace)
        except ApiError as error:
            raise CloudUnavailable(f"user and password stand in {where}: {error}") from error
        try:
            data = {key: base64.b64decode(value) for key, value in (secret.get("data") or {}).items()}
            return {key: value.decode().removesuffix("\n") for key, value in data.items()}
        except (binascii.Error, ValueError):
            raise CloudUnavailable(f"{where} has what is no text") from None

    @staticmethod
    def _of_folder(folder: str) -> Mapping[str, str]:
        try:
            files = [file for file in Path(folder).iterdir() if file.is_file() and file.stat().st_size <= _LARGEST]
            return {file.name: file.read_text(encoding="utf-8").removesuffix("\n") for file in files}
        except (OSError, ValueError) as error:
            told = error.strerror if isinstance(error, OSError) else "has what is no text"
            raise CloudUnavailable(f"user and password stand in {folder}: {told}") from None
