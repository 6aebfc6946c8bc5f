"""``auth-provider-gcp``: what a kubelet logs in to Google's registries with, of the machine's own account.

Source: cloud-provider-gcp ``cmd/auth-provider-gcp``, ``pkg/gcpcredential/gcpcredential.go``.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Final

from hyperkube_cloud.gce.location import Metadata
from hyperkube_lib.cloud_provider.image_credentials import IMAGE, Logins, registry_of, serve
from hyperkube_lib.cloud_provider.rest import HttpSend, Send

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable

REGISTRIES: Final = re.compile(r"container\.cloud\.google\.com|(?:[\w-]+\.)?gcr\.io|[\w-]+(?:\.[\w-]+)*\.pkg\.dev")
PATH: Final = "instance/service-accounts/default/token"
USER: Final = "_token"
TIMEOUT: Final = 10.0


def credentials(image: str, send: Send) -> Logins:
    """Return the login of an image's registry, which the kubelet is not to keep.

    Raises:
        CloudFailed: the image is not in one of Google's registries.
        CloudUnavailable: the machine's account gives no token.
    """
    registry = registry_of(image)
    if REGISTRIES.fullmatch(registry) is None:
        raise CloudFailed(f"{registry} is none of Google's registries")
    try:
        token = str(json.loads(Metadata(send).get(PATH))["access_token"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CloudUnavailable("the metadata server's token cannot be read") from None
    return Logins(by_registry={registry: (USER, token)}, kept_for=IMAGE)


def main() -> None:
    """Answer the kubelet."""
    send = HttpSend(lambda _renew: {}, read_timeout=TIMEOUT)
    sys.exit(serve(lambda image: credentials(image, send)))
