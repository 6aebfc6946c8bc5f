"""``ecr-credential-provider``: what a kubelet logs in to Amazon's registries with, of the account that the SDK finds.

Source: cloud-provider-aws ``cmd/ecr-credential-provider/main.go``.
"""

from __future__ import annotations

import base64
import re
import sys
from typing import Any, Final

from hyperkube_lib.cloud_provider.image_credentials import Logins, registry_of, serve

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable
from hyperkube.machinery.clock import Clock, SystemClock

PRIVATE: Final = re.compile(
    r"(\d{12})\.dkr[.-]ecr(?:-fips)?\.([a-zA-Z0-9][\w-]*)\."
    r"(?:amazonaws\.com(?:\.cn)?|on\.(?:aws|amazonwebservices\.com\.cn)|sc2s\.sgov\.gov|c2s\.ic\.gov)"
)
PUBLIC: Final = "public.ecr.aws"
PUBLIC_REGION: Final = "us-east-1"


def credentials(image: str, clock: Clock) -> Logins:
    """Return the login of an image's registry, kept for half of its time.

    Raises:
        CloudFailed: the image is not in one of Amazon's registries.
        CloudUnavailable: Amazon gives no token.
    """
    registry = registry_of(image)
    found = PRIVATE.fullmatch(registry)
    if found is None and registry != PUBLIC:
        raise CloudFailed(f"{registry} is not a valid ECR repository URL")
    data = _asked("ecr", found[2], registryIds=[found[1]]) if found else _asked("ecr-public", PUBLIC_REGION)
    try:
        token = base64.b64decode(str(data["authorizationToken"])).decode()
        left = int((data["expiresAt"] - clock.now()).total_seconds()) // 2 if data.get("expiresAt") else 0
    except (KeyError, ValueError):
        raise CloudUnavailable("Amazon's authorization token cannot be read") from None
    name, _, password = token.partition(":")
    return Logins(by_registry={registry: (name, password)}, seconds=max(left, 0))


def _asked(service: str, region: str, **arguments: Any) -> dict[str, Any]:
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        client: Any = boto3.Session(region_name=region).client(service)
        told = client.get_authorization_token(**arguments)["authorizationData"]
        found: dict[str, Any] = told[0] if isinstance(told, list) else told
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        raise CloudUnavailable(f"get_authorization_token: {code}") from None
    except (BotoCoreError, LookupError) as error:
        raise CloudUnavailable(f"get_authorization_token: {type(error).__name__}") from None
    return found


def main() -> None:
    """Answer the kubelet."""
    sys.exit(serve(lambda image: credentials(image, SystemClock())))
