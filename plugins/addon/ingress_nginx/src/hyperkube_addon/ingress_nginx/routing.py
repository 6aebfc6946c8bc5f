"""From Ingresses to servers: which path of which host leads to which endpoints.

Of two Ingresses that claim one path of a host the older one has it. Endpoints are spoken to directly.
Sources: kubernetes ``staging/src/k8s.io/api/networking/v1/types.go``; ingress-nginx for the defaults.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperkube.machinery.objects import Object, annotations_of, name_of, namespace_of

CONTROLLER = "k8s.io/ingress-nginx"
"""What an IngressClass names as its controller: the name that manifests for nginx have."""
CLASS_ANNOTATION = "kubernetes.io/ingress.class"
DEFAULT_CLASS = "nginx"
SSL_REDIRECT = "nginx.ingress.kubernetes.io/ssl-redirect"
FORBIDDEN = frozenset(map(chr, [*range(0x20), 0x7F]))
"""Characters that no path or host may have in a configuration."""


class Route(NamedTuple):
    """A path and where it leads.

    Attributes:
        path: without a slash at its end, but for ``/`` itself.
        exact: whether nothing below the path is meant.
        endpoints: ``ADDRESS:PORT``; none when no endpoint is ready.
    """

    path: str
    exact: bool
    endpoints: tuple[str, ...]


class KeyPair(NamedTuple):
    """A certificate and its key, PEM."""

    certificate: bytes
    key: bytes


class Server(NamedTuple):
    """A host.

    Attributes:
        host: its name, ``*.`` in front for every name one label longer; empty for all other names.
        routes: its paths, the longest first.
        pair: what it proves itself with; None for the controller's own.
        tls: whether an Ingress asks for TLS.
        redirect: whether plain requests are sent to TLS.
    """

    host: str
    routes: tuple[Route, ...]
    pair: KeyPair | None
    tls: bool
    redirect: bool


class Cluster(NamedTuple):
    """What Ingresses refer to: how a Service, the slices of a Service, and a TLS secret are found."""

    service: Callable[[str, str], Object | None]
    slices: Callable[[str, str], Iterable[Object]]
    secret: Callable[[str, str], Object | None]


def ours(ingress: Object, classes: Mapping[str, Object]) -> bool:
    """Tell whether an Ingress is of a class of this controller."""
    name = (ingress.get("spec") or {}).get("ingressClassName")
    if name is None:
        return annotations_of(ingress).get(CLASS_ANNOTATION) == DEFAULT_CLASS
    found = classes.get(name)
    return found is not None and (found.get("spec") or {}).get("controller") == CONTROLLER


def servers(ingresses: Iterable[Object], cluster: Cluster) -> list[Server]:
    """Return all hosts; the last one, without a name, answers for every other."""
    hosts = _Hosts(cluster)
    for ingress in sorted(ingresses, key=_age):
        hosts.add(ingress)
    return hosts.servers()


class _Hosts:
    """The hosts of the Ingresses that were added so far; who comes first has a path."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._routes: dict[str, dict[tuple[str, bool], Route]] = {"": {}}
        self._pairs: dict[str, KeyPair | None] = {}
        self._plain: set[str] = set()

    def add(self, ingress: Object) -> None:
        """Take in what an Ingress says."""
        spec, namespace = ingress.get("spec") or {}, namespace_of(ingress)
        fallback = spec.get("defaultBackend")
        rest = [Route("/", False, _endpoints(fallback, namespace, self._cluster))] if fallback else []
        for rule in spec.get("rules") or ():
            host = (rule.get("host") or "").lower()
            if FORBIDDEN & set(host):
                continue
            self._claim(host, [*_routes(rule, namespace, self._cluster), *rest])
            if annotations_of(ingress).get(SSL_REDIRECT) == "false":
                self._plain.add(host)
        if not spec.get("rules"):
            self._claim("", rest)
        for row in spec.get("tls") or ():
            pair = _pair(self._cluster.secret(namespace, row.get("secretName") or ""))
            for host in row.get("hosts") or [""]:
                self._pairs[host.lower()] = self._pairs.get(host.lower()) or pair

    def servers(self) -> list[Server]:
        """Return the hosts; the default backend of all answers where a host has none of its own."""
        common = self._routes[""].get(("/", False))
        found = []
        for host, own in sorted(self._routes.items(), reverse=True):
            routes = list(own.values())
            if common is not None and ("/", False) not in own:
                routes.append(common)
            routes.sort(key=lambda route: (-len(route.path), route.path, not route.exact))
            tls = host in self._pairs
            redirect = tls and host != "" and host not in self._plain
            found.append(Server(host, tuple(routes), self._pairs.get(host), tls, redirect))
        return found

    def _claim(self, host: str, routes: Iterable[Route]) -> None:
        own = self._routes.setdefault(host, {})
        for route in routes:
            own.setdefault((route.path, route.exact), route)


def _age(ingress: Object) -> tuple[str, str, str]:
    return ingress["metadata"].get("creationTimestamp") or "", namespace_of(ingress), name_of(ingress)


def _routes(rule: Object, namespace: str, cluster: Cluster) -> Iterator[Route]:
    for row in (rule.get("http") or {}).get("paths") or ():
        path = row.get("path") or "/"
        if FORBIDDEN & set(path) or not path.startswith("/"):
            continue
        exact = row.get("pathType") == "Exact"
        yield Route(path if exact else path.rstrip("/") or "/", exact, _endpoints(row["backend"], namespace, cluster))


def _endpoints(backend: Object, namespace: str, cluster: Cluster) -> tuple[str, ...]:
    """Return who answers for a backend; no address for one that is not a Service, or not there."""
    named = backend.get("service") or {}
    service = cluster.service(namespace, named.get("name") or "")
    if service is None:
        return ()
    wanted = named.get("port") or {}
    ports: Sequence[Object] = (service.get("spec") or {}).get("ports") or ()
    chosen = [
        port
        for port in ports
        if (port["port"] == wanted.get("number") or (wanted.get("name") and port.get("name") == wanted["name"]))
        and (port.get("protocol") or "TCP") == "TCP"
    ]
    if not chosen:
        return ()
    name = chosen[0].get("name") or ""
    found = []
    for piece in cluster.slices(namespace, name_of(service)):
        numbers = [
            port["port"] for port in piece.get("ports") or () if (port.get("name") or "") == name and port.get("port")
        ]
        for row in piece.get("endpoints") or ():
            if (
                numbers
                and piece.get("addressType") != "FQDN"
                and (row.get("conditions") or {}).get("ready") is not False
            ):
                found += [
                    f"[{a}]:{numbers[0]}" if ":" in a else f"{a}:{numbers[0]}" for a in row.get("addresses") or ()
                ]
    return tuple(sorted(set(found)))


def _pair(secret: Object | None) -> KeyPair | None:
    """Return what a TLS secret holds, None if that is not usable."""
    data = (secret or {}).get("data") or {}
    try:
        pair = KeyPair(base64.b64decode(data["tls.crt"]), base64.b64decode(data["tls.key"]))
    except (KeyError, binascii.Error):
        return None
    return pair if pair.certificate and pair.key else None
