"""The one way to Azure's resource manager: things by their id, lists over all pages, changes until they are done.

A change is answered while it goes on; the thing itself tells by its ``provisioningState`` when it has ended.
Source: https://github.com/Azure/azure-rest-api-specs, ``specification/{compute,network,storage}/resource-manager``;
https://learn.microsoft.com/azure/azure-resource-manager/management/async-operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from hyperkube_cloud.azure.config import AzureConfig
from hyperkube_lib.cloud_provider.rest import Json, Missing, Refused, RestApi, Send

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable, RetryLater
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.pages import EndlessList, all_pages

COMPUTE, NETWORK, STORAGE = "Microsoft.Compute", "Microsoft.Network", "Microsoft.Storage"
VERSIONS: Final = {"microsoft.compute": "2024-07-01", "microsoft.network": "2023-11-01"}
DISKS_VERSION: Final = "2024-03-02"
STORAGE_VERSION: Final = "2023-05-01"
THROTTLED: Final = frozenset({"TooManyRequests", "OperationNotAllowedThrottled", "SubscriptionRequestsThrottled"})
GONE: Final = frozenset(
    {"ResourceNotFound", "NotFound", "ParentResourceNotFound", "InstanceIdNotFound", "ShareNotFound"}
)
"""Azure's words for a thing that is not there; a group or a subscription that is not is a mistake in the file."""
_READ_ONLY: Final = frozenset(
    {"etag", "id", "type", "name", "provisioningState", "instanceView", "vmId", "resourceGuid"}
)
POLL: Final = 2.0
LONGEST: Final = 60
AGAIN: Final = 30.0
"""Seconds between looks, looks, and seconds after which the caller is to come back."""


def explained(body: Json) -> tuple[str, str] | None:
    """Return Azure's code and message of a refusal."""
    error = body.get("error")
    if not isinstance(error, dict) or not isinstance(error.get("code"), str):
        return None
    return error["code"], str(error.get("message", ""))


def last_of(ident: object) -> str:
    """Return the last part of an id."""
    return str(ident or "").rpartition("/")[2]


def same(one: object, other: object) -> bool:
    """Tell whether two ids or names are the same: Azure does not keep their case."""
    return str(one or "").lower() == str(other or "").lower()


def properties(thing: Mapping[str, Any] | None) -> Json:
    """Return a thing's properties, empty if it has none."""
    found = (thing or {}).get("properties")
    return found if isinstance(found, dict) else {}


class Arm:
    """Calls of one subscription; thread-safe."""

    def __init__(self, send: Send, config: AzureConfig, clock: Clock) -> None:
        self._api = RestApi(send, explained, throttled=THROTTLED)
        self._config, self._clock = config, clock

    def id(self, provider: str, path: str, group: str = "") -> str:
        """Return the id of a thing: ``disks/NAME`` of a provider, in the cluster's resource group or another."""
        base = f"/subscriptions/{self._config.subscription_id}"
        return f"{base}/resourceGroups/{group or self._config.resource_group}/providers/{provider}/{path}"

    def get(self, ident: str, **query: str) -> Json:
        """Return a thing.

        Raises:
            Missing: there is none.
            CloudUnavailable: what is answered is no thing of Azure's.
        """
        found = self._call("GET", ident, query=query)
        if not isinstance(found.get("id"), str) or not isinstance(found.get("properties"), dict):
            raise CloudUnavailable(f"GET {ident}: answered with what is no resource")
        return found

    def find(self, ident: str, **query: str) -> Json | None:
        """Return a thing, None if there is none."""
        try:
            return self.get(ident, **query)
        except Missing:
            return None

    def listed(self, collection: str, **query: str) -> Iterator[Json]:
        """Yield the things of a collection, over all pages.

        Raises:
            CloudUnavailable: they have no end, or are no list of Azure's.
        """

        def read(following: str) -> tuple[Iterable[Json], str]:
            asked = dict(parse_qsl(urlsplit(following).query)) if following else query
            answer = self._call("GET", collection, query=asked)
            rows = answer.get("value")
            if not isinstance(rows, list) or not all(isinstance(row, dict) and row.get("id") for row in rows):
                raise CloudUnavailable(f"GET {collection}: answered with what is no list of resources")
            return rows, str(answer.get("nextLink") or "")

        try:
            yield from all_pages(read)
        except EndlessList as error:
            raise CloudUnavailable(f"GET {collection}: {error}") from None

    def told(self, path: str, **query: str) -> Json:
        """Return what a path tells that is no thing."""
        return self._call("GET", path, query=query)

    def act(self, path: str) -> Json:
        """Return what an action on a thing answers, e.g. ``listKeys``."""
        return self._call("POST", path)

    def put(self, ident: str, body: Json, *, method: str = "PUT", at_once: bool = False) -> Json:
        """Make or change a thing, and return it once that is done; not if it has been changed since it was read.

        Args:
            ident: of the thing.
            body: the thing, or what is to change of it.
            method: PUT or PATCH.
            at_once: the change is done when it is answered, as with things that have no ``provisioningState``.

        Raises:
            Refused: it was refused, at once or in the end.
            RetryLater: it is still under way.
        """
        sent = {key: value for key, value in body.items() if key not in _READ_ONLY}
        sent["properties"] = {key: value for key, value in properties(body).items() if key not in _READ_ONLY}
        headers = {"If-Match": str(body["etag"])} if body.get("etag") else None
        held = self._call(method, ident, sent, headers=headers)
        return held if at_once else self.settled(ident, held, method)

    def settled(self, ident: str, held: Json, method: str = "GET") -> Json:
        """Return a thing once no change of it is under way; `held` is what is known of it, or empty.

        Raises:
            CloudFailed: the change has failed.
            RetryLater: it is still under way.
        """
        for _ in range(LONGEST):
            state = properties(held).get("provisioningState")
            if state == "Succeeded":
                return held
            if state in {"Failed", "Canceled"}:
                raise CloudFailed(f"{method} {ident}: ended as {state}")
            if held:
                self._clock.sleep(POLL)
            held = self.get(ident)
        raise RetryLater(f"{method} {ident} is still under way", AGAIN)

    def delete(self, ident: str) -> None:
        """Delete a thing, and return once it is gone; no error if it is gone already.

        Raises:
            RetryLater: it is still under way.
        """
        try:
            self._call("DELETE", ident)
        except Missing:
            return
        for _ in range(LONGEST):
            if self.find(ident) is None:
                return
            self._clock.sleep(POLL)
        raise RetryLater(f"DELETE {ident} is still under way", AGAIN)

    def _call(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        asked = {"api-version": _version(path), **(query or {})}
        try:
            return self._api.call(method, f"{self._config.endpoint}{path}", body, query=asked, headers=headers)
        except Missing as error:
            if error.code in GONE:
                raise
            raise Refused(str(error), error.status, error.code) from error


def _version(path: str) -> str:
    lower = path.lower()
    if "/providers/microsoft.storage/" in lower:
        return STORAGE_VERSION
    if "/disks" in lower or "/snapshots" in lower:
        return DISKS_VERSION
    if "/virtualmachinescalesets/" in lower and "/networkinterfaces" in lower:
        return "2018-10-01"  # a scale set's interfaces are asked for in that version alone
    return VERSIONS[NETWORK.lower() if "/providers/microsoft.network/" in lower else COMPUTE.lower()]
