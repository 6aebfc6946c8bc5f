"""The cluster's own zones: a question's answer, or the word that it is to be asked elsewhere.

An absent name is answered with the zone's SOA, so that resolvers may go on with the next domain of their search path at
once. Names that merely have others below them exist, without data.
"""

from __future__ import annotations

import enum
import ipaddress
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from hyperkube_addon.dns.records import AAAA, CNAME, NS, PTR, SOA, SRV, TXT, A, Record, RecordSet

from hyperkube.machinery.dataclass import dataclass

SCHEMA_VERSION = "1.1.0"
VERSION_TTL = 28800
MOST_ALIASES = 8
"""How many aliases are followed within the zone: more are a ring."""
REVERSE_ZONES = ("in-addr.arpa", "ip6.arpa")
_DASHES_OF_IPV4 = 3


class Code(enum.Enum):
    """The outcome, by the mnemonics of DNS."""

    NOERROR = 0
    SERVFAIL = 2
    NXDOMAIN = 3


class Answer(NamedTuple):
    """What is known of a question; each record's time to live beside it.

    Attributes:
        code: the outcome.
        records: the answer section.
        additional: records that save the asker a second question.
        is_negative: the SOA goes with it.
        alias: a name outside the zone that the last alias leads to; its records are asked elsewhere.
    """

    code: Code
    records: Sequence[tuple[Record, int]] = ()
    additional: Sequence[tuple[Record, int]] = ()
    is_negative: bool = False
    alias: str = ""


NO_SUCH_NAME = Answer(Code.NXDOMAIN, is_negative=True)
NO_DATA = Answer(Code.NOERROR, is_negative=True)


@dataclass(frozen=True, slots=True)
class Zone:
    """The zone of a cluster.

    Attributes:
        domain: its name, in small letters, without the last dot.
        records: what is in it.
        ttl: how many seconds answers hold.
        addresses: those of the DNS server's Service.
        shuffled: puts addresses of one name into another order each time, so that askers spread.
    """

    domain: str
    records: RecordSet
    ttl: int
    addresses: Callable[[], Sequence[str]]
    shuffled: Callable[[list[str]], None]

    @property
    def server(self) -> str:
        """The name of the name server."""
        return f"ns.dns.{self.domain}"

    @property
    def soa(self) -> Record:
        """The zone's start of authority."""
        data = f"{self.server}. hostmaster.{self.domain}. {self.records.generation + 1} 7200 1800 86400 {self.ttl}"
        return Record(self.domain, SOA, data)

    def holds(self, name: str) -> bool:
        """Tell whether a name is within the zone."""
        return name == self.domain or name.endswith(f".{self.domain}")

    def answer(self, name: str, kind: str) -> Answer | None:
        """Answer a question; None if it is to be asked elsewhere.

        Args:
            name: in small letters, without the last dot.
            kind: the type's mnemonic.
        """
        if not self.holds(name):
            return self._reverse(name, kind)
        found: list[tuple[Record, int]] = []
        for _ in range(MOST_ALIASES):
            kinds = self._find(name)
            if kinds is None:
                return NO_SUCH_NAME._replace(records=found)
            alias = next(iter(kinds.get(CNAME, ())), "")
            if not alias or kind == CNAME:
                return self._finished(found, name, kind, kinds)
            found.append((Record(name, CNAME, alias), self.ttl))
            if not self.holds(alias):
                return Answer(Code.NOERROR, found, alias=alias)
            name = alias
        return Answer(Code.SERVFAIL)

    def _finished(
        self, found: list[tuple[Record, int]], name: str, kind: str, kinds: Mapping[str, Iterable[str]]
    ) -> Answer:
        data = list(kinds.get(kind, ()))
        if not data:
            return NO_DATA._replace(records=found)
        if len(data) > 1:
            self.shuffled(data)
        ttl = VERSION_TTL if kind == TXT else self.ttl
        found += [(Record(name, kind, row), ttl) for row in data]
        return Answer(Code.NOERROR, found, self._additional(data) if kind == SRV else ())

    def _additional(self, rows: Iterable[str]) -> list[tuple[Record, int]]:
        hosts = dict.fromkeys(row.partition(" ")[2] for row in rows)
        return [
            (Record(host, kind, address), self.ttl)
            for host in hosts
            for kind in (A, AAAA)
            for address in (self.records.find(host) or {}).get(kind, ())
        ]

    def _reverse(self, name: str, kind: str) -> Answer | None:
        if not name.endswith(REVERSE_ZONES):
            return None
        kinds = self.records.find(name)
        if not kinds:
            return None  # an address of somewhere else
        return self._finished([], name, kind, kinds)

    def _find(self, name: str) -> Mapping[str, Iterable[str]] | None:
        """Return type → data of a name in the zone; None if there is no such name."""
        if name == self.domain:
            return {SOA: [self.soa.data], NS: [self.server]}
        within = name[: -len(self.domain) - 1]
        if within == "dns-version":
            return {TXT: [SCHEMA_VERSION]}
        if within == "ns.dns":
            return _by_type(self.addresses())
        if within in {"svc", "pod", "dns"}:
            return {}
        labels = within.split(".")
        if labels[-1] == "pod":
            return self._pod(labels[:-1])
        if labels[-1] == "svc" and len(labels) == 2 and labels[0] in self.records.namespaces:
            return {}
        return self.records.find(name)

    def _pod(self, labels: Sequence[str]) -> Mapping[str, Iterable[str]] | None:
        """Return what ``10-0-0-1.NAMESPACE`` stands for: no look at whether there is such a pod."""
        if labels[-1] not in self.records.namespaces or len(labels) > 2:
            return None
        if len(labels) == 1:
            return {}
        text = labels[0]
        is_ipv4 = text.count("-") == _DASHES_OF_IPV4 and "--" not in text
        try:
            address = ipaddress.ip_address(text.replace("-", "." if is_ipv4 else ":"))
        except ValueError:
            return None
        return _by_type([str(address)])


def _by_type(addresses: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for address in addresses:
        found.setdefault(AAAA if ":" in address else A, []).append(address)
    return found


__all__ = ["PTR", "Answer", "Code", "Zone"]
