"""``acr-credential-provider``: what a kubelet logs in to Azure's registries with, by the identity of ``azure.json``.

A token of Azure's is exchanged for one of the registry, where the registry itself says that is done; an application's
id and secret are a login as they are.
Source: cloud-provider-azure ``pkg/credentialprovider/azure_credentials.go``, ``azure_acr_helper.go``.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Final
from urllib.parse import urlencode, urlsplit

from hyperkube_cloud.azure.config import AzureConfig, read_config
from hyperkube_cloud.azure.credentials import credential_of
from hyperkube_lib.cloud_provider.image_credentials import Logins, registry_of, serve
from hyperkube_lib.cloud_provider.rest import HttpSend, Request, Send

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable
from hyperkube.machinery.errors import UsageError

REGISTRIES: Final = re.compile(r"[a-zA-Z0-9]+\.azurecr\.(?:io|cn|de|us)")
SCOPE: Final = "https://containerregistry.azure.net/.default"
USER: Final = "00000000-0000-0000-0000-000000000000"
SECONDS: Final = 300
"""How long a login is kept."""
_WORD: Final = re.compile(r'(\w+)="([^"]*)"')


def credentials(image: str, config: AzureConfig, send: Send, token: Callable[[AzureConfig], str]) -> Logins:
    """Return the login of an image's registry; none for an image of others.

    Raises:
        CloudFailed, CloudUnavailable: Azure or the registry gives no token.
    """
    registry = registry_of(image)
    if REGISTRIES.fullmatch(registry) is None:
        return Logins()
    if not config.use_managed_identity_extension and config.aad_client_secret:
        return Logins(by_registry={registry: (config.aad_client_id, config.aad_client_secret)}, seconds=SECONDS)
    password = _exchanged(registry, config.tenant_id, token(config), send)
    return Logins(by_registry={registry: (USER, password)}, seconds=SECONDS)


def token_of(config: AzureConfig) -> str:
    """Return a token of the file's identity.

    Raises:
        CloudUnavailable: there is none to be had.
    """
    from azure.core.exceptions import AzureError

    try:
        return credential_of(config).get_token(SCOPE).token
    except (AzureError, ValueError, OSError) as error:
        raise CloudUnavailable(f"no token for Azure's registries: {type(error).__name__}") from None


def _exchanged(registry: str, tenant: str, token: str, send: Send) -> str:
    """Return the registry's own token, which it gives for one of Azure's."""
    asked = send(Request(method="GET", url=f"https://{registry}/v2/", headers={}))
    told = dict(_WORD.findall(asked.headers.get("www-authenticate", "")))
    realm = urlsplit(told.get("realm", ""))
    if asked.status != 401 or not realm.netloc or not told.get("service"):
        raise CloudUnavailable(f"{registry} does not say where tokens are exchanged")
    if realm.scheme != "https" or realm.netloc != registry:  # the token goes to the registry alone
        raise CloudFailed(f"{registry} wants tokens to be sent elsewhere: {realm.netloc}")
    words = {"grant_type": "access_token", "service": told["service"], "access_token": token}
    body = urlencode(words | ({"tenant": tenant} if tenant else {})).encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = send(Request(method="POST", url=f"https://{registry}/oauth2/exchange", headers=headers, body=body))
    try:
        if answer.status != 200:
            raise CloudUnavailable(f"{registry} refuses the exchange of tokens: {answer.status}")
        return str(json.loads(answer.body)["refresh_token"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CloudUnavailable(f"{registry} answers the exchange with what is no token") from None


def main() -> None:
    """Answer the kubelet; the last argument is the file."""
    path = next((word for word in reversed(sys.argv[1:]) if not word.startswith("-")), "")
    try:
        config = read_config(path)
    except UsageError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(1)
    send = HttpSend(lambda _renew: {})
    sys.exit(serve(lambda image: credentials(image, config, send, token_of)))
