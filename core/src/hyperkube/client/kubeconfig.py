"""Kubeconfig files: read, merge, change and write them, and make a client of one.

The shape is client-go's ``clientcmd`` v1: clusters, users and contexts by name, and a current context. Files are
written with mode 0600, because they hold keys.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hyperkube.client.http import HttpClient
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

_LISTS = {"clusters": "cluster", "users": "user", "contexts": "context"}
_TEXTS = {
    "clusters": ("server", "certificate-authority", "certificate-authority-data", "tls-server-name"),
    "users": (
        *("token", "tokenFile", "username", "password", "as", "as-uid"),
        *("client-certificate", "client-certificate-data", "client-key", "client-key-data"),
    ),
    "contexts": ("cluster", "user", "namespace"),
}


def empty() -> Object:
    """Return a kubeconfig that knows no cluster."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "clusters": [],
        "users": [],
        "contexts": [],
        "current-context": "",
    }


def default_paths(environ: Mapping[str, str]) -> list[Path]:
    """Return the files that kubectl reads: ``$KUBECONFIG``, or ``~/.kube/config``."""
    listed = [Path(part) for part in environ.get("KUBECONFIG", "").split(os.pathsep) if part]
    return listed or [Path(environ.get("HOME", "~")).expanduser() / ".kube" / "config"]


def read(path: Path | str) -> Object:
    """Read a kubeconfig; relative file names in it count from its folder.

    Raises:
        UsageError: the file is missing or is no kubeconfig.
    """
    file = Path(path)
    try:
        config = _parsed(file.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read kubeconfig {str(file)!r}: {error}") from error
    if not isinstance(config, dict):
        raise UsageError(f"{str(file)!r} is no kubeconfig")
    if problem := next(_mistakes(config), ""):
        raise UsageError(f"{str(file)!r} is no kubeconfig: {problem}")
    for entries in ("clusters", "users"):
        for entry in config.get(entries) or []:
            _make_absolute(entry.get(_LISTS[entries]) or {}, file.parent)
    return {**empty(), **{key: value for key, value in config.items() if value is not None}}


def _parsed(text: bytes) -> Any:
    """Return what a kubeconfig says; YAML takes long to import, and what programs write is JSON often enough.

    Such files are handed on, so what a hostile one's aliases would make is bounded.
    """
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    from hyperkube.machinery.codecs import yaml

    return yaml.loads(text)[0]


def _mistakes(config: Object) -> Iterator[str]:
    """Yield what has another shape than a kubeconfig's."""
    if not isinstance(config.get("current-context"), str | None):
        yield "current-context is no text"
    for entries, inner in _LISTS.items():
        rows = config.get(entries)
        if not isinstance(rows, list | None):
            yield f"{entries} is no list"
            continue
        for place, row in enumerate(rows or ()):
            if not isinstance(row, dict) or not isinstance(row.get("name"), str):
                yield f"{entries}[{place}] has no name"
            elif not isinstance(row.get(inner), dict | None):
                yield f"{entries}[{place}].{inner} is no map"
            else:
                wrong = (key for key in _TEXTS[entries] if not isinstance((row.get(inner) or {}).get(key), str | None))
                yield from (f"{entries}[{place}].{inner}.{key} is no text" for key in wrong)


def _make_absolute(entry: Object, folder: Path) -> None:
    for key in ("certificate-authority", "client-certificate", "client-key", "tokenFile"):
        if entry.get(key):
            entry[key] = str(folder / entry[key])


def merge(configs: Sequence[Object]) -> Object:
    """Merge kubeconfigs: the first to name a cluster, user, context or current context wins."""
    merged = empty()
    for config in configs:
        for entries in _LISTS:
            known = {entry["name"] for entry in merged[entries]}
            merged[entries] += [entry for entry in config.get(entries) or [] if entry["name"] not in known]
        merged["current-context"] = merged["current-context"] or config.get("current-context", "")
    return merged


def put(config: Object, entries: str, name: str, value: Object) -> Object:
    """Return the kubeconfig with one entry of ``clusters``, ``users`` or ``contexts`` added or replaced."""
    others = [entry for entry in config.get(entries) or [] if entry["name"] != name]
    return {**config, entries: [*others, {"name": name, _LISTS[entries]: value}]}


def write(path: Path | str, config: Object) -> None:
    """Write a kubeconfig at once and with mode 0600, making its folder."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # made with mode 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write("\n".join([*_yaml(config), ""]))
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


_PLAIN = re.compile(r"[A-Za-z/](?:[\w./:@+=-]*[\w/=])?", re.ASCII)
_NOT_PLAIN = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
"""Words that a YAML reader takes for no text."""


def _yaml(value: Any) -> list[str]:
    """Return the lines of a value as YAML: to write a few files, a start needs no library of 20 modules."""
    if value and isinstance(value, dict):
        lines = []
        for key, member in value.items():
            first, *rest = _yaml(member)
            if isinstance(member, dict | list) and member:
                indent = "  " if isinstance(member, dict) else ""
                lines += [f"{_scalar(key)}:", *(indent + line for line in (first, *rest))]
            else:
                lines.append(f"{_scalar(key)}: {first}")
        return lines
    if value and isinstance(value, list):
        return [mark + line for each in value for mark, line in zip(_marks(), _yaml(each), strict=False)]
    return [_scalar(value)]


def _marks() -> Iterator[str]:
    yield "- "
    yield from itertools.repeat("  ")


def _scalar(value: Any) -> str:
    if value is not None and not isinstance(value, bool | int | float | dict | list):
        text = str(value)  # of a time, too: as one the YAML library reads what looks like it
        if _PLAIN.fullmatch(text) and text.lower() not in _NOT_PLAIN:
            return text
        shown = (each if " " <= each <= "~" and each not in '"\\' else f"\\U{ord(each):08x}" for each in text)
        return f'"{"".join(shown)}"'
    return json.dumps(value)  # what JSON can say is YAML


@dataclass(frozen=True, slots=True)
class Access:
    """What a context resolves to: the cluster's and the user's entries, and the namespace to work in."""

    cluster: Object
    user: Object
    namespace: str


def resolve(config: Object, context: str = "") -> Access:
    """Return the cluster and user of a context, of the current one by default.

    Raises:
        UsageError: no such context, or it names a cluster or user that is not there.
    """
    name = context or config.get("current-context", "")
    if not name and not config.get("contexts") and len(config.get("clusters") or []) == 1:
        return Access(config["clusters"][0]["cluster"], {}, "default")
    chosen = _entry(config, "contexts", name)
    user = _entry(config, "users", chosen["user"]) if chosen.get("user") else {}
    return Access(_entry(config, "clusters", chosen.get("cluster", "")), user, chosen.get("namespace") or "default")


def _entry(config: Object, entries: str, name: str) -> Object:
    known = {entry["name"]: entry.get(_LISTS[entries]) or {} for entry in config.get(entries) or []}
    if name not in known:
        raise UsageError(f"kubeconfig has no {_LISTS[entries]} {name!r} (known: {', '.join(sorted(known)) or 'none'})")
    found: Object = known[name]
    return found


def client_from_kubeconfig(
    path: Path | str, context: str = "", *, clock: Clock | None = None, **more: Any
) -> HttpClient:
    """Return a client for a context of a kubeconfig file; `more` goes to `HttpClient`.

    Raises:
        UsageError: the file, the context or its credentials cannot be used.
    """
    return client_for(resolve(read(path), context), clock=clock, **more)


IN_CLUSTER = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where a pod finds its token and the authority of its cluster."""


def in_cluster(environ: Mapping[str, str], folder: Path | None = None, *, path: str = "") -> Access:
    """Return how a pod reaches the API of the cluster it runs in, or one path of it.

    Raises:
        UsageError: this is no pod, or one without a token.
    """
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        wanted = "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined"
        raise UsageError(f"unable to load in-cluster configuration, {wanted}")
    folder = folder or IN_CLUSTER
    token, authority = folder / "token", folder / "ca.crt"
    if not token.is_file():
        raise UsageError(f"open {token}: no such file or directory")
    server = f"https://[{host}]:{port}{path}" if ":" in host else f"https://{host}:{port}{path}"
    cluster: Object = {"server": server, "certificate-authority": str(authority)}
    return Access(cluster, {"tokenFile": str(token)}, "default")


def client_for(access: Access, *, clock: Clock | None = None, **more: Any) -> HttpClient:
    """Return a client for a resolved context; `more` goes to `HttpClient`.

    Raises:
        UsageError: the credentials cannot be used, or are of a kind that is not supported (``exec``).
    """
    cluster, user = access.cluster, access.user
    for unsupported in ("exec", "auth-provider"):
        if user.get(unsupported):
            raise UsageError(f"kubeconfig credentials by {unsupported!r} are not supported; use a token or certificate")
    keys = (user.get("client-certificate-data"), user.get("client-key-data"))
    with _KeyFiles(*keys) as (cert_file, key_file):
        return HttpClient(
            cluster.get("server", ""),
            token=user.get("token", ""),
            token_file=user.get("tokenFile", ""),
            username=user.get("username", ""),
            password=user.get("password", ""),
            ca_file="" if cluster.get("certificate-authority-data") else cluster.get("certificate-authority", ""),
            ca_data=_text(cluster.get("certificate-authority-data")),
            cert_file=cert_file or user.get("client-certificate", ""),
            key_file=key_file or user.get("client-key", ""),
            server_name=cluster.get("tls-server-name", ""),
            insecure=bool(cluster.get("insecure-skip-tls-verify")),
            headers=_impersonation(user),
            clock=clock,
            **more,
        )


def _impersonation(user: Object) -> dict[str, str]:
    headers = {"Impersonate-User": user.get("as", ""), "Impersonate-Uid": user.get("as-uid", "")}
    return {name: value for name, value in headers.items() if value}


def _text(data: str | None) -> str:
    try:
        return base64.b64decode(data or "", validate=False).decode()
    except ValueError as error:
        raise UsageError("kubeconfig holds certificate data that is no base64") from error


class _KeyFiles:
    """Inline keys as files for as long as the TLS library reads them; it cannot take them from memory."""

    def __init__(self, certificate: str | None, key: str | None) -> None:
        self._data = (_text(certificate), _text(key))
        self._files: list[str] = []

    def __enter__(self) -> tuple[str, str]:
        for data in self._data:
            name = ""
            if data:
                handle, name = tempfile.mkstemp()
                self._files.append(name)
                with os.fdopen(handle, "w", encoding="utf-8") as stream:
                    stream.write(data)
            if not name:
                self._files.append("")
        return self._files[0], self._files[1]

    def __exit__(self, *_error: object) -> None:
        for name in self._files:
            if name:
                Path(name).unlink(missing_ok=True)
