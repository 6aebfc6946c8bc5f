"""What Amazon's metadata service tells a machine about itself: which one it is.

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html (version 2, with a token).
"""

from __future__ import annotations

import os
from typing import Final

from hyperkube_lib.cloud_provider.rest import Request, Send

from hyperkube.hookspecs.cloud import CloudUnavailable

ADDRESS: Final = "http://169.254.169.254"
TIMEOUT: Final = 5.0
"""Seconds: it is on the machine's own host, or not at all."""
_LIFETIME: Final = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}


class Metadata:
    """Asks the metadata service, at the address that the SDK's environment names, if any."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def instance_id(self) -> str:
        """Return the id of this machine.

        Raises:
            CloudUnavailable: this is no machine of Amazon's.
        """
        if os.environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
            raise CloudUnavailable("AWS_EC2_METADATA_DISABLED keeps the metadata service from being asked")
        token = self._told("PUT", "api/token", _LIFETIME)
        return self._told("GET", "meta-data/instance-id", {"X-aws-ec2-metadata-token": token})

    def _told(self, method: str, path: str, headers: dict[str, str]) -> str:
        address = os.environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT") or ADDRESS
        answer = self._send(Request(method=method, url=f"{address.rstrip('/')}/latest/{path}", headers=headers))
        text = answer.body.decode("utf-8", "replace").strip()
        if answer.status != 200 or not text or "\n" in text:
            raise CloudUnavailable(f"error fetching instance-id from ec2 metadata service: {answer.status} for {path}")
        return text
