"""Which names a cluster has, and what they stand for: kept up to date Service by Service.

Source: kubernetes/dns ``docs/specification.md`` (version 1.1.0); what it leaves open is as CoreDNS' plugin
``kubernetes`` has it.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperkube.machinery.objects import Object, name_of, namespace_of

A, AAAA, CNAME, PTR, SRV, TXT, NS, SOA = "A", "AAAA", "CNAME", "PTR", "SRV", "TXT", "NS", "SOA"
PRIORITY = 0
_NO_ADDRESS = {"", "None"}
_UNUSABLE = "."
"""Holds no host name: an ExternalName that is an address, or nothing at all."""


class Record(NamedTuple):
    """One record without its time to live.

    Attributes:
        name: the owner, in small letters, without the last dot.
        type: a type's mnemonic.
        data: an address, a host name without the last dot, a text; of SRV the port and the host, ``8080 web.x``.
    """

    name: str
    type: str
    data: str


class ServiceKey(NamedTuple):
    """Which Service."""

    namespace: str
    name: str


def project_service(service: Object) -> Object:
    """Keep of a Service what names depend on."""
    spec = service.get("spec") or {}
    fields = ("clusterIP", "clusterIPs", "type", "externalName", "ports")
    kept = {field: spec[field] for field in fields if spec.get(field)}
    return {"metadata": _identity(service), "spec": kept}


def project_slice(piece: Object) -> Object:
    """Keep of an EndpointSlice what names depend on."""
    rows = [
        {field: row[field] for field in ("addresses", "hostname", "conditions") if row.get(field)}
        for row in piece.get("endpoints") or ()
    ]
    labels = {"labels": {SERVICE_NAME: service_of(piece)}}
    kept = {"endpoints": rows, "ports": piece.get("ports"), "addressType": piece.get("addressType")}
    return {"metadata": {**_identity(piece), **labels}, **kept}


def project_namespace(namespace: Object) -> Object:
    """Keep of a namespace that it is there."""
    return {"metadata": _identity(namespace)}


def _identity(obj: Object) -> Object:
    fields = ("name", "namespace", "uid", "resourceVersion")
    return {field: obj["metadata"][field] for field in fields if field in obj["metadata"]}


SERVICE_NAME = "kubernetes.io/service-name"


def service_of(piece: Object) -> str:
    """Return the name of the Service an EndpointSlice belongs to; empty if to none."""
    name: str = (piece["metadata"].get("labels") or {}).get(SERVICE_NAME, "")
    return name


def reverse_name(address: str) -> str:
    """Return the name under which an address is looked up, without the last dot."""
    return ipaddress.ip_address(address).reverse_pointer


def is_headless(service: Object) -> bool:
    """Tell whether a Service has no address of its own, and is no mere alias."""
    spec = service["spec"]
    return spec.get("type") != "ExternalName" and spec.get("clusterIP", "") in _NO_ADDRESS


def service_records(service: Object, slices: Sequence[Object], domain: str) -> list[Record]:
    """Return all records of a Service.

    Args:
        service: the Service.
        slices: its EndpointSlices; read for headless Services only.
        domain: the cluster's.
    """
    base = f"{name_of(service)}.{namespace_of(service)}.svc.{domain}".lower()
    spec = service["spec"]
    if spec.get("type") == "ExternalName":
        target = spec.get("externalName", _UNUSABLE).rstrip(".").lower()
        return [] if not target or _is_address(target) else [Record(base, CNAME, target)]
    if is_headless(service):
        return list(dict.fromkeys(record for piece in slices for record in _slice_records(piece, base)))
    addresses = spec.get("clusterIPs") or [spec["clusterIP"]]
    found = [Record(base, _type_of(address), address) for address in addresses]
    found += [Record(reverse_name(address), PTR, base) for address in addresses]
    for port in spec.get("ports") or ():
        found += _srv(base, base, port.get("name"), port.get("protocol"), port["port"])
    return found


def _slice_records(piece: Object, base: str) -> Iterator[Record]:
    if piece.get("addressType") == "FQDN":
        return
    for row in piece.get("endpoints") or ():
        if (row.get("conditions") or {}).get("ready") is False:
            continue
        for address in row.get("addresses") or ():
            host = f"{row.get('hostname') or _made_name(address)}.{base}".lower()
            yield Record(base, _type_of(address), address)
            yield Record(host, _type_of(address), address)
            yield Record(reverse_name(address), PTR, host)
            for port in piece.get("ports") or ():
                if port.get("port"):
                    yield from _srv(base, host, port.get("name"), port.get("protocol"), port["port"])


def _srv(base: str, host: str, name: str | None, protocol: str | None, port: int) -> Iterator[Record]:
    """Yield the records of a port: under its own name if it has one, and under the Service's."""
    data = f"{port} {host}"
    if name:
        yield Record(f"_{name}._{protocol or 'TCP'}.{base}".lower(), SRV, data)
    yield Record(base, SRV, data)


def _made_name(address: str) -> str:
    """Return the name of an endpoint that has none of its own: its address with dashes, as CoreDNS makes it."""
    return address.replace(".", "-").replace(":", "-")


def _type_of(address: str) -> str:
    return AAAA if ":" in address else A


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


class RecordSet:
    """The records of all Services, by name; not for several threads at once.

    Attributes:
        generation: how often anything changed.
        namespaces: which ones there are.
    """

    def __init__(self) -> None:
        self.generation = 0
        self.namespaces: set[str] = set()
        self._by_name: dict[str, dict[str, dict[str, int]]] = {}
        self._by_service: dict[ServiceKey, Sequence[Record]] = {}
        self._below: Counter[str] = Counter()

    def put(self, key: ServiceKey, records: Sequence[Record]) -> None:
        """Let a Service have these records and no others."""
        old = self._by_service.get(key, ())
        if list(old) == list(records):
            return
        self._remove(old)
        self._by_service.pop(key, None)
        if records:
            self._by_service[key] = records
            self._add(records)
        self.generation += 1

    def set_namespace(self, name: str, *, exists: bool) -> None:
        """Note that a namespace is there, or not any more."""
        (self.namespaces.add if exists else self.namespaces.discard)(name)
        self.generation += 1

    def find(self, name: str) -> Mapping[str, Iterable[str]] | None:
        """Return type → data of a name; empty if only names below it have records, None if there is no such name."""
        found = self._by_name.get(name)
        if found is not None:
            return found
        return {} if name in self._below else None

    def _add(self, records: Iterable[Record]) -> None:
        # Two Services may yield the same record (one pod behind both): it stays until the last of them lets it go.
        for name, kind, data in records:
            rows = self._by_name.setdefault(name, {}).setdefault(kind, {})
            rows[data] = rows.get(data, 0) + 1
            for parent in _parents(name):
                self._below[parent] += 1

    def _remove(self, records: Iterable[Record]) -> None:
        for name, kind, data in records:
            kinds = self._by_name[name]
            rows = kinds[kind]
            rows[data] -= 1
            if not rows[data]:
                del rows[data]
            if not rows:
                del kinds[kind]
            if not kinds:
                del self._by_name[name]
            for parent in _parents(name):
                self._below[parent] -= 1
                if not self._below[parent]:
                    del self._below[parent]


def _parents(name: str) -> Iterator[str]:
    while "." in name:
        name = name.partition(".")[2]
        yield name
