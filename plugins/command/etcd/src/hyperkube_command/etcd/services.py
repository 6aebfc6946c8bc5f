"""All services of the server, wired to one `KV`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from hyperkube_command.etcd.keys import Message, Refusal
from hyperkube_command.etcd.kv import KV, MEMBER, TERM
from hyperkube_command.etcd.watch_stream import WatchStream

VERSION = "3.5.9"
"""The etcd whose API this is a part of: clients ask, to know what they may use."""

MOST_LEASE_SECONDS = 9_000_000_000
"""etcd: ``MaxLeaseTTL`` of ``server/lease``."""

Unary = Callable[[dict[str, Any]], Any]
Streamed = Callable[[Iterable[dict[str, Any]]], Iterator[Message]]


class Services:
    """What each call does, by service and method."""

    def __init__(self, kv: KV, name: str, client_urls: list[str], size: Callable[[], int]) -> None:
        self._kv = kv
        self._size = size
        self._member = {"ID": MEMBER, "name": name, "clientURLs": client_urls}

    def unary(self) -> Mapping[str, Mapping[str, Unary]]:
        """Return the calls with one request and one response."""
        return {
            "KV": {
                "Range": self._kv.range,
                "Put": self._kv.put,
                "DeleteRange": self._kv.delete_range,
                "Txn": self._kv.txn,
                "Compact": self._kv.compact,
            },
            "Lease": {
                "LeaseGrant": self._grant,
                "LeaseRevoke": self._revoke,
                "LeaseTimeToLive": self._time_to_live,
                "LeaseLeases": self._leases,
            },
            "Cluster": {"MemberList": lambda _request: {"header": self._kv.header(), "members": [self._member]}},
            "Maintenance": {"Status": self._status, "Alarm": lambda _request: {"header": self._kv.header()}},
        }

    def streamed(self) -> Mapping[str, Mapping[str, Streamed]]:
        """Return the calls with a stream each way."""
        return {
            "Watch": {"Watch": lambda requests: WatchStream(self._kv).responses(requests)},
            "Lease": {"LeaseKeepAlive": self._keep_alive},
        }

    def _status(self, _request: Mapping[str, Any]) -> Message:
        header = self._kv.header()
        revision = header["revision"]
        raft = {"leader": MEMBER, "raftIndex": revision, "raftTerm": TERM, "raftAppliedIndex": revision}
        size = self._size()
        return {"header": header, "version": VERSION, "dbSize": size, "dbSizeInUse": size, **raft}

    def _grant(self, request: Mapping[str, Any]) -> Message:
        seconds = max(request.get("TTL", 0), 1)
        if seconds > MOST_LEASE_SECONDS:
            raise Refusal.LEASE_TTL_TOO_LARGE.error()
        number = self._kv.leases.grant(seconds, request.get("ID", 0))
        return {"header": self._kv.header(), "ID": number, "TTL": seconds}

    def _revoke(self, request: Mapping[str, Any]) -> Message:
        self._kv.leases.revoke(request.get("ID", 0))
        return {"header": self._kv.header()}

    def _keep_alive(self, requests: Iterable[Mapping[str, Any]]) -> Iterator[Message]:
        for request in requests:
            number = request.get("ID", 0)
            yield {"header": self._kv.header(), "ID": number, "TTL": self._kv.leases.renew(number)}

    def _time_to_live(self, request: Mapping[str, Any]) -> Message:
        number = request.get("ID", 0)
        left, granted, keys = self._kv.leases.left(number)
        shown = [key.encode() for key in keys] if request.get("keys") else []
        return {"header": self._kv.header(), "ID": number, "TTL": left, "grantedTTL": granted, "keys": shown}

    def _leases(self, _request: Mapping[str, Any]) -> Message:
        leases = [{"ID": number} for number in self._kv.leases.numbers()]
        return {"header": self._kv.header(), "leases": leases}
