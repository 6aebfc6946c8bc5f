"""Tags of a vCenter's objects: its REST API, which has a session of its own.

Source: vSphere Automation API ``com.vmware.cis.session``, ``com.vmware.cis.tagging``; govmomi ``vapi/tags``.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from hyperkube_cloud.vsphere.credentials import Credentials
from hyperkube_cloud.vsphere.sign_on import TokenService, is_certificate
from hyperkube_lib.cloud_provider.rest import UNAUTHORIZED, Answer, Json, Missing, Request, RestApi, Send

from hyperkube.hookspecs.cloud import CloudUnavailable
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass

BASE: Final = "/rest/com/vmware/cis"
HEADER: Final = "vmware-api-session-id"
_BATCH: Final = 500
"""Objects of one question."""
Reference = tuple[str, str]
"""Type and id of an object: ``HostSystem``, ``host-9``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A tag by name, and its category's name."""

    name: str
    category: str


def explained(body: Json) -> tuple[str, str] | None:
    """Return the API's code and message of a refusal."""
    value = body.get("value")
    if not isinstance(body.get("type"), str) or not isinstance(value, dict):
        return None
    rows = value.get("messages")
    first = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}
    return body["type"].rpartition(".")[2], str(first.get("default_message", ""))


class Tags:
    """Asks for tags; thread-safe."""

    def __init__(self, send: Send, url: str, credentials: Credentials, clock: Clock) -> None:
        self._tokens, self._clock = TokenService(send, url), clock
        self._send, self._url, self._credentials = send, f"{url}{BASE}", credentials
        self._api = RestApi(self._with_session, explained)
        self._lock, self._session = threading.Lock(), ""

    def of(self, objects: Sequence[Reference]) -> Mapping[Reference, Sequence[str]]:
        """Return the ids of the tags that each of some objects has; objects without any are left out."""
        found: dict[Reference, Sequence[str]] = {}
        for start in range(0, len(objects), _BATCH):
            asked = [{"type": kind, "id": ident} for kind, ident in objects[start : start + _BATCH]]
            path = "/tagging/tag-association?~action=list-attached-tags-on-objects"
            for row in self._value("POST", path, list, {"object_ids": asked}):
                try:
                    of, ids = row["object_id"], row["tag_ids"]
                    found[str(of["type"]), str(of["id"])] = [str(each) for each in ids]
                except (KeyError, TypeError):
                    raise CloudUnavailable(f"POST {path}: answered with what are no tags") from None
        return found

    def described(self, ids: Iterable[str]) -> Mapping[str, Tag]:
        """Return tags by id; those that have gone meanwhile are left out."""
        found: dict[str, Tag] = {}
        categories: dict[str, str] = {}
        for each in sorted(set(ids)):
            try:
                tag = self._value("GET", f"/tagging/tag/id:{each}", dict)
                category = str(tag["category_id"])
                if category not in categories:
                    told = self._value("GET", f"/tagging/category/id:{category}", dict)
                    categories[category] = str(told["name"])
                found[each] = Tag(name=str(tag["name"]), category=categories[category])
            except Missing:
                continue
            except KeyError:
                raise CloudUnavailable(f"tag {each} is described without a name or a category") from None
        return found

    def log_out(self) -> None:
        """End the session, if there is one."""
        if self._session:
            try:
                self._api.call("DELETE", f"{self._url}/session")
            except (CloudUnavailable, OSError):
                return  # it ends by itself

    def _value(self, method: str, path: str, shape: type[Any], body: object = None) -> Any:
        value = self._api.call(method, f"{self._url}{path}", body).get("value")
        if not isinstance(value, shape):
            raise CloudUnavailable(f"{method} {path}: answered with what is no {shape.__name__} of tags")
        return value

    def _with_session(self, request: Request) -> Answer:
        session = self._session or self._renewed("")
        answer = self._sent(request, session)
        return answer if answer.status != UNAUTHORIZED else self._sent(request, self._renewed(session))

    def _sent(self, request: Request, session: str) -> Answer:
        return self._send(replace(request, headers={**request.headers, HEADER: session}))

    def _renewed(self, refused: str) -> str:
        with self._lock:
            if self._session == refused:
                self._session = ""
                self._session = self._log_in()
            return self._session

    def _log_in(self) -> str:
        user, password = self._credentials.read()
        where = f"{self._url}/session"
        if is_certificate(user):
            word = self._tokens.issue(user, password).authorization("POST", where, self._clock)
        else:
            word = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        answer = self._send(
            Request(method="POST", url=where, headers={"Authorization": word, "Accept": "application/json"})
        )
        given = RestApi(lambda _request: answer, explained).call("POST", f"{self._url}/session").get("value")
        if not isinstance(given, str) or not given:
            raise CloudUnavailable(f"POST {BASE}/session: the vCenter gives no session")
        return given
