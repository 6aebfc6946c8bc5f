"""EgressSelectorConfiguration: the file of ``--egress-selector-config-file``.

Source: kubernetes apiserver ``pkg/server/egressselector/config.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperkube.machinery import field
from hyperkube.machinery.codecs import yaml
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.field import FieldError

DIRECT, HTTP_CONNECT, GRPC = "Direct", "HTTPConnect", "GRPC"
NAMES = ("cluster", "controlplane", "etcd")
_KIND = "EgressSelectorConfiguration"
_PLACE = field.Path("service").child("connection")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """Where a proxy listens, and what proves who it is and who asks.

    Attributes:
        url: of a proxy on TCP, empty for one on a Unix socket.
        socket: path of its Unix socket.
        ca_bundle: PEM file that its certificate must lead to; empty: the machine's authorities.
        client_cert: PEM file that is shown to it.
        client_key: PEM file of the key.
    """

    url: str = ""
    socket: str = ""
    ca_bundle: str = ""
    client_cert: str = ""
    client_key: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """How connections of one kind leave: by which protocol, and through which proxy."""

    name: str
    protocol: str
    proxy: Proxy | None


def read_selections(path: str) -> list[Selection]:
    """Return what the file says; the old name ``master`` means ``controlplane``.

    Raises:
        UsageError: it cannot be read, is of another kind, or is wrong.
    """
    try:
        document, _ = yaml.loads(Path(path).read_bytes())
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UsageError(f'unable to read egress selector configuration from "{path}" [open {path}: {why}]') from error
    except yaml.YamlError as error:
        raise UsageError(f"egress selector configuration {path}: {error}") from error
    kind = document.get("kind") or "" if isinstance(document, Mapping) else ""
    if kind != _KIND:
        raise UsageError(f'invalid service configuration object "{kind}"')
    listed = document.get("egressSelections") or []
    errors = validate(listed)
    if errors:
        told = "; ".join(map(str, errors))
        raise UsageError(f"failed to validate egress selector configuration: {told}")
    return [_selection(each) for each in listed]


def _name(selection: Mapping[str, Any]) -> str:
    name = str(selection.get("name") or "").lower()
    return "controlplane" if name == "master" else name


def _selection(each: Mapping[str, Any]) -> Selection:
    connection = each["connection"]
    transport = connection.get("transport") or {}
    if tcp := transport.get("tcp"):
        tls = tcp.get("tlsConfig") or {}
        proxy = Proxy(
            url=tcp["url"],
            ca_bundle=tls.get("caBundle") or "",
            client_cert=tls.get("clientCert") or "",
            client_key=tls.get("clientKey") or "",
        )
    elif uds := transport.get("uds"):
        proxy = Proxy(socket=uds["udsName"])
    else:
        return Selection(_name(each), connection["proxyProtocol"], None)
    return Selection(_name(each), connection["proxyProtocol"], proxy)


def validate(selections: list[Mapping[str, Any]]) -> list[FieldError]:
    """Return what is wrong with the selections of a configuration."""
    errors: list[FieldError] = []
    for each in selections:
        connection = each.get("connection") or {}
        protocol, transport = connection.get("proxyProtocol") or "", connection.get("transport")
        if protocol == DIRECT:
            if transport is not None:
                text = "Transport config should be absent for direct connect"
                errors.append(field.invalid(_PLACE.child("transport"), "direct", text))
        elif protocol in {HTTP_CONNECT, GRPC}:
            errors += _transport_errors(protocol, transport)
        else:
            errors.append(field.not_supported(_PLACE.child("protocol"), protocol, (DIRECT, HTTP_CONNECT, GRPC)))
    seen: set[str] = set()
    for index, each in enumerate(selections):
        name = _name(each)
        if name in seen:
            errors.append(field.duplicate(_PLACE.index(index), name))
        elif name not in NAMES:
            errors.append(field.not_supported(_PLACE, name, NAMES))
        seen.add(name)
    return errors


def _transport_errors(protocol: str, transport: Mapping[str, Any] | None) -> list[FieldError]:
    if transport is None:
        return [field.required(_PLACE.child("transport"), f"transport must be set for {protocol}")]
    tcp, uds = transport.get("tcp"), transport.get("uds")
    if protocol == GRPC:
        if uds is None:
            return [field.required(_PLACE.child("uds"), "UDS must be set with GRPC")]
        return _socket_errors(uds)
    if tcp is not None and uds is not None:
        return [field.invalid(_PLACE.child("tcp"), tcp, "TCP and UDS cannot both be set")]
    if tcp is not None:
        return _tcp_errors(tcp)
    if uds is not None:
        return _socket_errors(uds)
    return [field.required(_PLACE.child("tcp"), "One of TCP or UDS must be set")]


def _socket_errors(uds: Mapping[str, Any]) -> list[FieldError]:
    if uds.get("udsName"):
        return []
    return [field.invalid(_PLACE.child("udsName"), "nil", "UDSName should be present for UDS connections")]


def _tcp_errors(tcp: Mapping[str, Any]) -> list[FieldError]:
    url, tls = str(tcp.get("url") or ""), tcp.get("tlsConfig")
    if url.startswith("http://"):
        if tls is None:
            return []
        return [
            field.invalid(_PLACE.child("tlsConfig"), "nil", "TLSConfig config should not be present when using HTTP")
        ]
    if not url.startswith("https://"):
        return [field.invalid(_PLACE.child("url"), url, "supported connection protocols are http:// and https://")]
    if tls is None:
        return [field.required(_PLACE.child("tlsConfig"), "TLSConfig must be present when using HTTPS")]
    errors = []
    place = _PLACE.child("tlsConfig")
    bundle = tls.get("caBundle")
    if bundle and not Path(bundle).exists():
        errors.append(field.invalid(place.child("caBundle"), bundle, "TLS config ca bundle does not exist"))
    for key, missing, absent in (
        ("clientCert", "Using TLS requires clientCert", "TLS client cert does not exist"),
        ("clientKey", "Using TLS requires requires clientKey", "TLS client key does not exist"),
    ):
        name = tls.get(key)
        if not name:
            errors.append(field.invalid(place.child(key), "nil", missing))
        elif not Path(name).exists():
            errors.append(field.invalid(place.child(key), name, absent))
    return errors
