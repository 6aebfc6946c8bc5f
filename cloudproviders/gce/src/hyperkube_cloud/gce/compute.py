"""The one way to Compute Engine: things by their path in a project, lists over all pages, changes until they are done.

A change is an operation that the API works off; this waits for it, as Kubernetes' provider does.
Source: https://compute.googleapis.com/discovery/v1/apis/compute/v1/rest, k8s-cloud-provider ``pkg/cloud/op.go``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from hyperkube_cloud.gce.location import Location
from hyperkube_lib.cloud_provider.rest import Json, Missing, Refused, RestApi, Send

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable
from hyperkube.machinery.pages import EndlessList, all_pages

THROTTLED: Final = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED"})
IN_USE: Final = frozenset({"resourceInUseByAnotherResource", "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE"})
CONFLICT: Final = 409
_OF_NETWORK: Final = re.compile(r"global/(firewalls|routes|networks|operations)\b|regions/[^/]+/subnetworks\b")
_WAITS: Final = 5
"""Times that an operation is waited for, two minutes each."""


def name_of_link(link: object) -> str:
    """Return the last part of a URL."""
    return str(link or "").rpartition("/")[2]


def is_in_use(error: Refused) -> bool:
    """Tell whether something is not deleted because another thing uses it."""
    return error.code in IN_USE or (error.status == 400 and "being used by" in str(error))


def explained(body: Json) -> tuple[str, str] | None:
    """Return Google's reason and message of a refusal."""
    error = body.get("error")
    if not isinstance(error, dict) or not isinstance(error.get("code"), int):
        return None
    reasons = [str(each.get("reason", "")) for each in error.get("errors") or () if isinstance(each, dict)]
    return (reasons or [str(error.get("status", ""))])[0], str(error.get("message", ""))


class Compute:
    """Calls of one project, and of the project that owns its network; thread-safe."""

    def __init__(self, send: Send, location: Location) -> None:
        self._api = RestApi(send, explained, throttled=THROTTLED)
        self._location = location

    def url(self, path: str) -> str:
        """Return a thing's URL: ``zones/ZONE/disks/NAME``, ``regions/REGION/…`` or ``global/…`` in its project."""
        project = self._location.network_project if self._of_network(path) else self._location.project
        return f"{self._location.endpoint}projects/{project}/{path}"

    def get(self, path: str) -> Json:
        """Return a thing.

        Raises:
            Missing: there is none.
        """
        return self._api.call("GET", self.url(path))

    def project(self) -> Json:
        """Return the machines' project.

        Raises:
            CloudUnavailable: the answer is no project; also all that `RestApi.call` raises.
        """
        found = self._api.call("GET", self.url("").rstrip("/"))
        if not found.get("name"):
            raise CloudUnavailable("the API describes a project without a name")
        return found

    def find(self, path: str) -> Json | None:
        """Return a thing, None if there is none."""
        try:
            return self.get(path)
        except Missing:
            return None

    def listed(self, path: str, matching: str = "") -> Iterator[Json]:
        """Yield the things of a collection that match a filter, over all pages.

        Raises:
            CloudUnavailable: they have no end; also all that `RestApi.call` raises.
        """
        return self._pages("GET", path, None, {"filter": matching} if matching else {}, "items")

    def query(self, path: str, body: Json, member: str) -> list[Json]:
        """Return what a method of a thing answers at once, over all pages.

        Raises:
            CloudUnavailable: they have no end; also all that `RestApi.call` raises.
        """
        return list(self._pages("POST", path, body, {}, member))

    def _pages(
        self, method: str, path: str, body: Json | None, query: Mapping[str, str], member: str
    ) -> Iterator[Json]:
        def read(token: str) -> tuple[Iterable[Json], str]:
            asked = {**query, "pageToken": token} if token else query
            answer = self._api.call(method, self.url(path), body, query=asked)
            return answer.get(member) or (), str(answer.get("nextPageToken") or "")

        try:
            yield from all_pages(read)
        except EndlessList as error:
            raise CloudUnavailable(f"{method} {path}: {error}") from None

    def change(self, method: str, path: str, body: Json | None = None) -> None:
        """Make a change and wait until it is done.

        Raises:
            Refused: it was refused, at once or in the end.
        """
        operation = self._api.call(method, self.url(path), body)
        for _ in range(_WAITS):
            if operation.get("status") == "DONE":
                return _done(f"{method} {path}", operation)
            if operation.get("status") not in {"PENDING", "RUNNING"} or not operation.get("name"):
                raise CloudUnavailable(f"{method} {path}: answered with what is no operation")
            place = path.partition("/")[0]
            where = f"{place}/{path.split('/')[1]}" if place in {"zones", "regions"} else "global"
            base = self.url(path).removesuffix(path)
            operation = self._api.call("POST", f"{base}{where}/operations/{operation['name']}/wait")
        raise CloudFailed(f"{method} {path}: operation {operation['name']} is still under way")

    def insert(self, collection: str, body: Json) -> bool:
        """Create a thing; return False if there is one of that name."""
        try:
            self.change("POST", collection, body)
        except Refused as error:
            if error.status != CONFLICT:
                raise
            return False
        return True

    def delete(self, path: str) -> None:
        """Delete a thing; no error if it is gone."""
        try:
            self.change("DELETE", path)
        except Missing:
            return

    def delete_unused(self, path: str) -> bool:
        """Delete a thing that others may use; return whether it is gone."""
        try:
            self.delete(path)
        except Refused as error:
            if not is_in_use(error):
                raise
            return False
        return True

    def _of_network(self, path: str) -> bool:
        return _OF_NETWORK.match(path) is not None and self._location.network_project != self._location.project


def _done(what: str, operation: Json) -> None:
    errors = (operation.get("error") or {}).get("errors") or ()
    if not errors:
        return
    code, text = str(errors[0].get("code", "")), str(errors[0].get("message", ""))
    status = int(operation.get("httpErrorStatusCode") or 400)
    message = f"{what}: {status} {code}: {text}"
    if status >= 500:
        raise CloudUnavailable(message)
    if status == 404 or code == "RESOURCE_NOT_FOUND":
        raise Missing(message, 404, code)
    raise Refused(message, CONFLICT if code == "RESOURCE_ALREADY_EXISTS" else status, code)
