"""What nginx is told: its main file and the files of certificates, as text and bytes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hyperkube_addon.ingress_nginx.routing import KeyPair, Route, Server

DEFAULT_TEXT = "default backend - 404"


class Place(NamedTuple):
    """Where nginx listens and writes.

    Attributes:
        folder: of its files.
        address: to listen on.
        http: port.
        https: port.
        user: the name of the user of its workers; empty for the one who starts it.
    """

    folder: Path
    address: str
    http: int
    https: int
    user: str


def pair_files(pair: KeyPair) -> tuple[str, str]:
    """Return the names of the files of a certificate and its key, by their content."""
    stem = hashlib.sha256(pair.certificate + pair.key).hexdigest()[:16]
    return f"{stem}.crt", f"{stem}.key"


def configuration(servers: Sequence[Server], place: Place, own: KeyPair) -> str:
    """Return nginx's main file.

    Args:
        servers: the last one answers for all names that no other has.
        place: where it listens.
        own: the certificate of hosts that have none.
    """
    upstreams = {route.endpoints for server in servers for route in server.routes if route.endpoints}
    lines = [*_main(place), *(line for endpoints in sorted(upstreams) for line in _upstream(endpoints))]
    for server in servers:
        lines += _server(server, place, own)
    return "\n".join([*lines, "}", ""])


def _main(place: Place) -> Iterator[str]:
    if place.user:
        yield f"user {place.user};"
    yield "worker_processes auto;"
    yield f"pid {place.folder}/nginx.pid;"
    yield "error_log stderr error;"
    yield "worker_shutdown_timeout 240s;"
    yield "events { worker_connections 4096; multi_accept on; }"
    yield "http {"
    yield "access_log off; server_tokens off; server_names_hash_bucket_size 512;"
    yield "client_max_body_size 1m; proxy_buffering on; keepalive_timeout 75s; default_type text/plain;"
    yield "ssl_protocols TLSv1.2 TLSv1.3; ssl_session_tickets off; ssl_session_cache shared:tls:1m;"
    yield from (
        f"{name}_temp_path {place.folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    yield "map $http_upgrade $connection_upgrade { default upgrade; '' ''; }"
    yield "proxy_http_version 1.1;"
    yield "proxy_connect_timeout 5s; proxy_next_upstream error timeout;"
    headers = {
        "Host": "$http_host",
        "Upgrade": "$http_upgrade",
        "Connection": "$connection_upgrade",
        "X-Real-IP": "$remote_addr",
        "X-Forwarded-For": "$remote_addr",
        "X-Forwarded-Host": "$http_host",
        "X-Forwarded-Port": "$server_port",
        "X-Forwarded-Proto": "$scheme",
        "X-Forwarded-Scheme": "$scheme",
        "X-Scheme": "$scheme",
        "Proxy": '""',
    }
    yield from (f"proxy_set_header {name} {value};" for name, value in headers.items())


def _name(endpoints: Sequence[str]) -> str:
    return f"u-{hashlib.sha256(' '.join(endpoints).encode()).hexdigest()[:16]}"


def _upstream(endpoints: Sequence[str]) -> Iterator[str]:
    yield f"upstream {_name(endpoints)} {{"
    yield "random two;"
    yield from (f"server {endpoint} max_fails=0;" for endpoint in endpoints)
    yield "keepalive 32; }"


def _server(server: Server, place: Place, own: KeyPair) -> Iterator[str]:
    default = "" if server.host else " default_server"
    address = f"[{place.address}]" if ":" in place.address else place.address
    certificate, key = pair_files(server.pair or own)
    yield "server {"
    yield f"listen {address}:{place.http}{default};"
    yield f"listen {address}:{place.https} ssl http2{default};"
    yield f"ssl_certificate {place.folder}/{certificate}; ssl_certificate_key {place.folder}/{key};"
    yield f"server_name {_server_name(server.host)};"
    if server.redirect:
        port = "" if place.https == 443 else f":{place.https}"
        yield f"if ($scheme = http) {{ return 308 https://$host{port}$request_uri; }}"
    exact = {route.path for route in server.routes if route.exact}
    for route in server.routes:
        yield from _locations(route, exact)
    if not any(route.path == "/" and not route.exact for route in server.routes):
        yield f'location / {{ return 404 "{DEFAULT_TEXT}"; }}'
    yield "}"


def _server_name(host: str) -> str:
    if not host:
        return "_"
    if host.startswith("*."):
        # One label only; nginx' own wildcard would take any number.
        return f'"~^[^.]+{re.escape(host[1:])}$"'
    return quoted(host)


def _locations(route: Route, exact: set[str]) -> Iterator[str]:
    """Yield a path's location; two where a path and what is below it are meant, but not what merely begins like it."""
    target = f"proxy_pass http://{_name(route.endpoints)};" if route.endpoints else "return 503;"
    if route.exact:
        yield f"location = {quoted(route.path)} {{ {target} }}"
        return
    if route.path == "/":
        yield f"location / {{ {target} }}"
        return
    if route.path not in exact:
        yield f"location = {quoted(route.path)} {{ {target} }}"
    yield f"location {quoted(route.path + '/')} {{ {target} }}"


def quoted(text: str) -> str:
    """Return a text as one word of nginx' language."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
