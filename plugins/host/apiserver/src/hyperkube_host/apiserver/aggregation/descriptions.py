"""What other servers say of their types: their OpenAPI documents, fetched again only when they have changed.

A server that has no document of version 3 gets one made of that of version 2.

A document stays when its server does not answer for a while: what a type looks like is true all the same. It goes with
its APIService.
Source: kubernetes kube-aggregator ``pkg/controllers/{openapi,openapiv3}``.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Iterable
from dataclasses import field, replace

import orjson
from hyperkube_host.apiserver.aggregation.fetch import fetch
from hyperkube_host.apiserver.aggregation.remotes import Remote
from hyperkube_host.apiserver.aggregation.route import Routes, Unreachable
from hyperkube_host.apiserver.openapi import Document
from hyperkube_lib.serving.exchange import Response

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.users import UserInfo

_READER = UserInfo("system:aggregator", "", ("system:masters",))
_V2, _V3 = "/openapi/v2", "/openapi/v3"


@dataclass(slots=True)
class _Known:
    """What one APIService's server has said.

    Attributes:
        where: the address of its document of version 3, with the hash in it.
        etag: of its document of version 2.
        v2: the part of that document that is the group version's.
        is_old: whether it has no documents of version 3: what it says is turned into one.
    """

    remote: Remote
    where: str = ""
    v3: Document | None = None
    etag: str = ""
    v2: Object = field(default_factory=dict)
    is_old: bool = False


class RemoteOpenApi:
    """The documents of all servers behind APIServices; written by one controller, read by requests.

    Attributes:
        generation: grows with every change.
    """

    def __init__(self, routes: Routes, clock: Clock, logger: logging.Logger) -> None:
        self._routes = routes
        self._clock = clock
        self._logger = logger
        self._lock = threading.Lock()
        self._known: dict[str, _Known] = {}
        self.generation = 0

    # fetching

    def refresh(self, remote: Remote) -> None:
        """Ask a server for what has changed; a server without documents is one that says nothing."""
        old = self._known.get(remote.name)
        new = _Known(remote) if old is None else replace(old, remote=remote)
        for step in (self._fetch_v3, self._fetch_v2):
            try:
                step(new)
            except (OSError, Unreachable, UsageError, ValueError, TypeError, AttributeError, KeyError) as error:
                self._logger.info("%s does not describe its types: %s", remote.name, error)
        with self._lock:
            if old is None or (old.where, old.etag, _order(old)) != (new.where, new.etag, _order(new)):
                self.generation += 1
            self._known[remote.name] = new

    def keep(self, names: Iterable[str]) -> None:
        """Forget all but these APIServices."""
        with self._lock:
            gone = self._known.keys() - set(names)
            for name in gone:
                del self._known[name]
            self.generation += bool(gone)

    def _fetch_v3(self, known: _Known) -> None:
        answer = self._get(known.remote, _V3)
        was_old, known.is_old = known.is_old, answer.status == 404
        if known.is_old:
            if not was_old:
                known.where, known.v3, known.etag = "", None, ""
            return
        if answer.status != 200:
            known.where, known.v3 = "", None
            return
        entry = (orjson.loads(answer.body).get("paths") or {}).get(_path(known.remote)) or {}
        where = str(entry.get("serverRelativeURL") or "")
        if where and where != known.where:
            document = self._get(known.remote, where)
            if document.status == 200:
                orjson.loads(document.body)
                digest = hashlib.sha512(document.body).hexdigest().upper()
                known.where, known.v3 = where, Document(document.body, digest)
        elif not where:
            known.where, known.v3 = "", None

    def _fetch_v2(self, known: _Known) -> None:
        answer = self._get(known.remote, _V2, known.etag)
        if answer.status == 200:
            from hyperkube_host.apiserver.aggregation.merged import part_of  # with the first APIService of a server

            headers = {name.lower(): value for name, value in answer.headers}
            document = orjson.loads(answer.body)
            known.v2 = part_of(document, (f"/{_path(known.remote)}",))
            if known.is_old:
                from hyperkube_host.apiserver.aggregation.converted import to_v3

                body = orjson.dumps(to_v3(document))
                known.v3 = Document(body, hashlib.sha512(body).hexdigest().upper())
            known.etag = headers.get("etag") or hashlib.sha512(answer.body).hexdigest()
        elif answer.status != 304:
            known.etag, known.v2 = "", {}
            known.v3 = None if known.is_old else known.v3

    def _get(self, remote: Remote, path: str, etag: str = "") -> Response:
        relay = self._routes.relay(remote, path, _READER)
        headers = {"Host": relay.server_name, "Accept": "application/json"}
        headers = {**headers, "If-None-Match": etag} if etag else headers
        return fetch(relay, self._clock, headers=headers, kept=self._routes.kept)

    # showing

    def documents(self) -> dict[str, Document]:
        """Return the documents of version 3 by their path in the index."""
        return {_path(one.remote): one.v3 for one in list(self._known.values()) if one.v3 is not None}

    def merged(self, local: Object) -> Object:
        """Return our document of version 2 with those of the others, in order of their groups' priority."""
        from hyperkube_host.apiserver.aggregation.merged import merged

        return merged(local, [one.v2 for one in sorted(self._known.values(), key=_order) if one.v2])


def _path(remote: Remote) -> str:
    return f"apis/{remote.group}/{remote.version}"


def _order(known: _Known) -> tuple[int, int, str]:
    return -known.remote.group_priority, -known.remote.version_priority, known.remote.name
