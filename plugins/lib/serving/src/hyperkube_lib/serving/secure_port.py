"""The HTTPS port of a server that is not the API server: its certificate, and whom it asks about its clients.

A certificate that is not given is made for the time the process runs. The clients' authority that is not given is
looked up where the API server publishes its own, with the credentials of ``--authentication-kubeconfig``.
Source: kubernetes apiserver ``pkg/server/options/authentication.go``, ``authorization.go`` and ``serving.go``.
"""

from __future__ import annotations

import ipaddress
import logging
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hyperkube_lib.serving.published_authority import PublishedAuthority, PublishedFrontProxy
from hyperkube_lib.serving.serving_certificates import serving_pair

from hyperkube.client.client import Client
from hyperkube.command.lifecycle import Lifecycle
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import UsageError

if TYPE_CHECKING:
    from hyperkube_lib.client_certificates import FrontProxy
    from hyperkube_lib.serving.delegated_access import DelegatedAccess
    from hyperkube_lib.serving.exchange import Handler

_log = logging.getLogger("hyperkube.serving")


def serve_secure(life: Lifecycle, values: Mapping[str, Any], name: str, handler: Handler) -> None:
    """Serve on ``--bind-address`` and ``--secure-port`` whatever a client is allowed; nothing when the port is 0.

    Args:
        life: closes what is started here.
        values: of the server's flags, by name.
        name: the server's.
        handler: answers what is allowed.

    Raises:
        UsageError: a file cannot be used, the address cannot be bound, or the look-up failed and must not.
    """
    if not values["secure-port"]:
        return
    from hyperkube_lib.serving.delegated_access import Guarded
    from hyperkube_lib.serving.edge import Edge
    from hyperkube_lib.serving.tls import TlsFiles, openssl_ciphers

    from hyperkube.machinery.clock import SystemClock

    clock = SystemClock()
    folder = tempfile.TemporaryDirectory(prefix=f"{name}-")
    life.on_close("its generated files", folder.cleanup)
    cert_file, key_file = serving_pair(
        (values["tls-cert-file"], values["tls-private-key-file"]),
        Path(values["cert-dir"] or folder.name),
        name,
        dns=["localhost"],
        ips=_addresses(values["bind-address"]),
    )
    reviewer = _client(values["authentication-kubeconfig"], name)
    believed = _believed(life, values, reviewer, clock, Path(folder.name))
    access = _access(values, believed, reviewer, _client(values["authorization-kubeconfig"], name), clock)
    tls = TlsFiles(
        cert_file=cert_file,
        key_file=key_file,
        client_ca_file=believed.client_ca_file,
        request_header_ca_file=believed.request_header_ca_file,
        min_version=values["tls-min-version"] or "VersionTLS12",
        ciphers=openssl_ciphers(values["tls-cipher-suites"]),
    )
    host, port = values["bind-address"], values["secure-port"]
    life.start(
        "the HTTPS port",
        Edge(Guarded(handler, access), host=host, port=port, tls=tls, shared=values["permit-port-sharing"]),
    )
    _log.info("serving securely on %s:%s", host, port)


class _Believed(NamedTuple):
    """Whose certificates prove something; empty file names: none do."""

    client_ca_file: str
    request_header_ca_file: str
    front_proxy: FrontProxy | PublishedFrontProxy | None


def _access(
    values: Mapping[str, Any],
    believed: _Believed,
    authenticator: Client | None,
    authorizer: Client | None,
    clock: Clock,
) -> DelegatedAccess:
    """Return who tells clients apart and says what they may, asking the API server with the clients given."""
    from hyperkube_lib.serving.delegated_access import DelegatedAccess
    from hyperkube_lib.serving.delegated_authentication import DelegatedAuthentication
    from hyperkube_lib.serving.delegated_authorization import DelegatedAuthorization

    authentication = DelegatedAuthentication(
        clock,
        authenticator,
        client_ca_file=believed.client_ca_file,
        front_proxy=believed.front_proxy,
        token_seconds=values["authentication-token-webhook-cache-ttl"],
    )
    authorization = DelegatedAuthorization(
        clock,
        authorizer,
        allowed_seconds=values["authorization-webhook-cache-authorized-ttl"],
        denied_seconds=values["authorization-webhook-cache-unauthorized-ttl"],
    )
    return DelegatedAccess(authentication, authorization, open_paths=values["authorization-always-allow-paths"])


def _believed(
    life: Lifecycle, values: Mapping[str, Any], reviewer: Client | None, clock: Clock, folder: Path
) -> _Believed:
    """Return what the flags say; what they leave open is looked up at the API server, from now on.

    Raises:
        UsageError: a file cannot be used, or the look-up failed and must not.
    """
    told = _Believed(values["client-ca-file"], values["requestheader-client-ca-file"], _front_proxy(values))
    is_told = told.client_ca_file and told.request_header_ca_file
    if reviewer is None or is_told or values["authentication-skip-lookup"]:
        return told
    tolerant = values["authentication-tolerate-lookup-failure"]
    published = PublishedAuthority(reviewer, clock, folder, tolerant=tolerant)
    life.start("the clients' authority", published)
    found = told._replace(client_ca_file=told.client_ca_file or str(published.path))
    if found.request_header_ca_file:
        return found
    return found._replace(request_header_ca_file=str(published.front_proxy.path), front_proxy=published.front_proxy)


def _front_proxy(values: Mapping[str, Any]) -> FrontProxy | None:
    from hyperkube_lib.client_certificates import FrontProxy

    if not values["requestheader-client-ca-file"]:
        return None
    return FrontProxy(
        values["requestheader-client-ca-file"],
        allowed_names=values["requestheader-allowed-names"],
        username_headers=values["requestheader-username-headers"],
        uid_headers=values["requestheader-uid-headers"],
        group_headers=values["requestheader-group-headers"],
        extra_headers_prefix=values["requestheader-extra-headers-prefix"],
    )


def _client(kubeconfig: str, name: str) -> Client | None:
    if not kubeconfig:
        return None
    from hyperkube.client.kubeconfig import client_from_kubeconfig

    if not Path(kubeconfig).is_file():
        raise UsageError(f"kubeconfig {kubeconfig!r} does not exist")
    return client_from_kubeconfig(kubeconfig, user_agent=name)


def _addresses(bind_address: str) -> list[str]:
    address = ipaddress.ip_address(bind_address)
    return ["127.0.0.1"] if address.is_unspecified else ["127.0.0.1", bind_address]
