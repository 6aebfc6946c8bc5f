"""The one way to Amazon's APIs: clients made at first use, and errors as the hook names them.

The SDK's own retries are off: the hosts space and repeat calls. No error carries more than the operation, Amazon's code
and its message, which never have credentials in them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from hyperkube_cloud.aws.config import AwsConfig

from hyperkube.hookspecs.cloud import CloudFailed, CloudThrottled, CloudUnavailable
from hyperkube.machinery.pages import EndlessList, all_pages

if TYPE_CHECKING:
    from boto3 import Session
    from botocore.client import BaseClient
    from botocore.exceptions import ClientError

THROTTLED = frozenset({"Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequestsException"})
DENIED = frozenset({"AuthFailure", "UnauthorizedOperation", "AccessDenied", "ExpiredToken", "InvalidClientTokenId"})
SERVICES = {"ec2": "ec2", "elb": "elasticloadbalancing", "elbv2": "elasticloadbalancing"}
"""The SDK's word → the word of ``[ServiceOverride]``."""
TOO_MANY = 429
_CONNECT, _READ = 5, 30  # seconds


class Refused(CloudFailed):
    """Amazon refused a call; `code` is its word for why."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class Calls:
    """Calls operations of EC2 and ELB; thread-safe, and connected to nothing before the first call."""

    def __init__(self, config: AwsConfig) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._session: Session | None = None
        self._clients: dict[str, BaseClient] = {}

    def call(self, service: str, operation: str, **arguments: Any) -> dict[str, Any]:
        """Call an operation by its name in the SDK and return its answer.

        Raises:
            CloudThrottled: too many calls.
            CloudUnavailable: Amazon cannot be reached, fails, or refuses the credentials.
            Refused: this one call was refused.
        """
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError

        try:
            answer: dict[str, Any] = getattr(self._client(service), operation)(**arguments)
        except ClientError as error:
            raise _translated(operation, error) from None
        except BotoCoreError as error:
            raise CloudUnavailable(f"{operation}: {error}") from None
        except ResponseParserError:
            raise CloudUnavailable(f"{operation}: answered with what is no XML") from None
        if not answer.get("ResponseMetadata", {}).get("RequestId"):  # any page of XML parses, as an empty answer
            raise CloudUnavailable(f"{operation}: answered with what is no answer of Amazon's")
        return answer

    def pages(self, service: str, operation: str, member: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        """Yield the entries of a list operation, over all its pages.

        Raises:
            CloudUnavailable: they have no end; also all that `call` raises.
        """
        more = "Marker" if service != "ec2" else "NextToken"

        def read(token: str) -> tuple[Iterable[dict[str, Any]], str]:
            answer = self.call(service, operation, **arguments, **({more: token} if token else {}))
            return answer.get(member) or (), str(answer.get("NextMarker") or answer.get("NextToken") or "")

        try:
            yield from all_pages(read)
        except EndlessList as error:
            raise CloudUnavailable(f"{operation}: {error}") from None

    def _client(self, service: str) -> BaseClient:
        with self._lock:
            if service not in self._clients:
                self._clients[service] = self._make(service)
            return self._clients[service]

    def _make(self, service: str) -> BaseClient:
        from botocore.config import Config

        if self._session is None:
            self._session = self._begin()
        override = self._config.overrides.get(SERVICES[service])
        settings = Config(retries={"total_max_attempts": 1}, connect_timeout=_CONNECT, read_timeout=_READ)
        return self._session.client(
            service,
            region_name=(override and override.region) or None,
            endpoint_url=override.url if override else None,
            config=settings,
        )

    def _begin(self) -> Session:
        import boto3

        region = self._config.region or os.environ.get("AWS_REGION") or machine_region()
        if not self._config.role_arn:
            return boto3.Session(region_name=region)
        told = boto3.client("sts", region_name=region).assume_role(
            RoleArn=self._config.role_arn, RoleSessionName="hyperkube"
        )["Credentials"]
        return boto3.Session(
            region_name=region,
            aws_access_key_id=told["AccessKeyId"],
            aws_secret_access_key=told["SecretAccessKey"],
            aws_session_token=told["SessionToken"],
        )


def machine_region() -> str:
    """Return the region of this machine, from the metadata service.

    Raises:
        CloudUnavailable: this is no machine of Amazon's.
    """
    from botocore.utils import InstanceMetadataRegionFetcher

    region = InstanceMetadataRegionFetcher(timeout=2, num_attempts=1).retrieve_region()
    if not region:
        raise CloudUnavailable("this machine does not know its region: give Zone in --cloud-config, or AWS_REGION")
    return str(region)


def _translated(operation: str, error: ClientError) -> CloudFailed:
    told = error.response.get("Error", {})
    code, text = str(told.get("Code", "")), str(told.get("Message", ""))
    metadata = error.response.get("ResponseMetadata", {})
    status = int(metadata.get("HTTPStatusCode", 0))
    message = f"{operation}: {code}: {text}"
    if code in THROTTLED or status == TOO_MANY:
        pause = str(metadata.get("HTTPHeaders", {}).get("retry-after", ""))
        return CloudThrottled(message, float(pause) if pause.isdecimal() else None)
    if status >= 500 or code in DENIED or not text:  # a refusal of Amazon's own has a message
        return CloudUnavailable(message)
    return Refused(message, code)
