"""The one way to OpenStack's services: their things by path, lists over all pages, waits until a thing has a state.

Sources: the API references of Nova, Neutron, Octavia and Cinder, https://docs.openstack.org/api-quick-start/.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from hyperkube_cloud.openstack.keystone import Endpoint
from hyperkube_lib.cloud_provider.rest import Json, Missing, RestApi, Send

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable, RetryLater
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.pages import EndlessList, all_pages

NOVA, NEUTRON, OCTAVIA, CINDER = "compute", "network", "load-balancer", "volumev3"
VERSIONS: Final = {NOVA: "", NEUTRON: "/v2.0", OCTAVIA: "/v2.0", CINDER: ""}
"""What follows a service's address in the catalog; the addresses of Nova and Cinder have theirs."""
POLL: Final = 1.0
LONGEST: Final = 60
"""Polls for a state before the caller is told to come back."""
AGAIN: Final = 5.0
_ERRORS: Final = {"ERROR", "error", "error_deleting", "error_extending"}


def explained(body: Json) -> tuple[str, str] | None:
    """Return the word and the text of a refusal: each service has a shape of its own."""
    if "faultstring" in body:  # Octavia
        return str(body.get("faultcode", "")), str(body["faultstring"])
    for name, told in body.items():
        if isinstance(told, dict) and "message" in told:  # Neutron, or Nova and Cinder by the error's name
            return str(told.get("type", name)), str(told["message"])
    return None


class Apis:
    """Calls of all services; thread-safe."""

    def __init__(self, send: Send, endpoint: Endpoint, clock: Clock) -> None:
        self._api = RestApi(send, explained, throttled=frozenset({"overLimit"}))
        self._endpoint, self._clock = endpoint, clock

    def call(
        self, service: str, method: str, path: str, body: Json | None = None, query: Mapping[str, str] | None = None
    ) -> Json:
        """Call a service.

        Raises:
            Missing, Refused, CloudUnavailable: as `RestApi.call`.
        """
        base = self._endpoint(service)
        version = VERSIONS[service]
        url = f"{base}{'' if version and base.endswith(version) else version}/{path}"
        return self._api.call(method, url, body, query=query)

    def get(self, service: str, path: str, member: str) -> Json:
        """Return a thing.

        Raises:
            Missing: there is none.
        """
        found = self.call(service, "GET", path).get(member)
        if not isinstance(found, dict) or not found.get("id"):
            raise CloudUnavailable(f"GET {path}: answered with no {member}")
        return found

    def find(self, service: str, path: str, member: str) -> Json | None:
        """Return a thing, None if there is none."""
        try:
            return self.get(service, path, member)
        except Missing:
            return None

    def listed(self, service: str, path: str, member: str, **query: str) -> list[Json]:
        """Return the things of a collection that match, over all pages.

        Raises:
            CloudUnavailable: they have no end, or are none; also all that `RestApi.call` raises.
        """

        def read(following: str) -> tuple[list[Json], str]:
            asked = {**query, **dict(parse_qsl(urlsplit(following).query))}
            answer = self.call(service, "GET", path, query=asked)
            rows = answer.get(member)
            if not isinstance(rows, list) or not all(isinstance(row, dict) and row.get("id") for row in rows):
                raise CloudUnavailable(f"GET {path}: answered with no {member}")
            links = answer.get(f"{member}_links") or ()
            ahead = [str(link["href"]) for link in links if link.get("rel") == "next"]
            return rows, ahead[0] if ahead and rows else ""

        try:
            return list(all_pages(read))
        except EndlessList as error:
            raise CloudUnavailable(f"GET {path}: {error}") from None

    def delete(self, service: str, path: str, query: Mapping[str, str] | None = None) -> None:
        """Delete a thing; no error if it is gone."""
        try:
            self.call(service, "DELETE", path, query=query)
        except Missing:
            return

    def sleep(self, seconds: float) -> None:
        """Let so many seconds pass."""
        self._clock.sleep(seconds)

    def wait(self, service: str, path: str, member: str, key: str, wanted: frozenset[str]) -> Json | None:
        """Return a thing once its state is one of those; None once it is gone.

        Raises:
            CloudFailed: it went to an error.
            RetryLater: it is still at it.
        """
        for attempt in range(LONGEST):
            if attempt:
                self._clock.sleep(POLL)
            found = self.find(service, path, member)
            if found is None or found.get(key) in wanted:
                return found
            if found.get(key) in _ERRORS:
                raise CloudFailed(f"{member} {found['id']} is in state {found[key]}")
        raise RetryLater(f"{member} at {path} is not {' or '.join(sorted(wanted))} yet", AGAIN)
