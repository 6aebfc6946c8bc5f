"""Tokens for Azure's API: of an application, of the machine's identity, or of a workload's, by Azure's own library.

What a login, or what stands before it, answers to a refused request may repeat the request, with the secret in it: only
the kind of the failure and Microsoft's number for it are told, and the library's own lines on failures are off.

Source: cloud-provider-azure ``pkg/azclient/auth_conf.go``.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from hyperkube_cloud.azure.config import AzureConfig

from hyperkube.hookspecs.cloud import CloudUnavailable

if TYPE_CHECKING:
    from azure.core.credentials import TokenCredential

_NUMBER: Final = re.compile(r"AADSTS\d+")
OF_THE_MACHINE = "msi"
"""The application's id and secret that stand for the machine's identity in files of old."""


class Tokens:
    """Gives the headers that authorize; thread-safe, and connected to nothing before. The library keeps tokens."""

    def __init__(self, config: AzureConfig) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._credential: TokenCredential | None = None

    def __call__(self, renew: bool) -> Mapping[str, str]:
        """Return the headers.

        Raises:
            CloudUnavailable: no token is to be had.
        """
        from azure.core.exceptions import AzureError

        with self._lock:
            try:
                if renew or self._credential is None:
                    self._credential = credential_of(self._config)
                token = self._credential.get_token(f"{self._config.endpoint}/.default").token
            except (AzureError, ValueError, OSError) as error:
                number = _NUMBER.search(str(error))
                reason = f"{type(error).__name__} {number[0] if number else ''}".rstrip()
                raise CloudUnavailable(f"no token for Azure's API: {reason}") from None
        return {"Authorization": f"Bearer {token}"}


def credential_of(config: AzureConfig) -> TokenCredential:
    """Return the library's credential that a file asks for.

    Raises:
        ValueError, OSError: it asks for none, or its certificate cannot be read.
    """
    from azure import identity

    logging.getLogger("azure.identity").setLevel(logging.CRITICAL)
    authority = config.authority
    if config.use_federated_workload_identity_extension:
        return identity.WorkloadIdentityCredential(
            tenant_id=config.tenant_id or None,
            client_id=config.aad_client_id or None,
            token_file_path=config.aad_federated_token_file or None,
            authority=authority,
        )
    if config.use_managed_identity_extension or config.aad_client_id == config.aad_client_secret == OF_THE_MACHINE:
        chosen = config.user_assigned_identity_id
        if "/" in chosen:
            return identity.ManagedIdentityCredential(identity_config={"resource_id": chosen})
        return identity.ManagedIdentityCredential(client_id=chosen or None)
    if config.aad_client_secret:
        return identity.ClientSecretCredential(
            config.tenant_id, config.aad_client_id, config.aad_client_secret, authority=authority
        )
    if config.aad_client_cert_path:
        return identity.CertificateCredential(
            config.tenant_id,
            config.aad_client_id,
            config.aad_client_cert_path,
            password=config.aad_client_cert_password or None,
            authority=authority,
        )
    raise ValueError("no credentials provided for Azure cloud provider")
