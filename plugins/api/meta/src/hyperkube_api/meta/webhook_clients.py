"""Where a webhook is: a URL or a service, as admission and conversion declare it.

Source: kubernetes apiserver ``pkg/util/webhook/validation.go``.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, invalid, quote, required
from hyperkube.machinery.objects import Object

_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}")


def client_config(path: Path, client: Object) -> list[FieldError]:
    """Check a webhook's client configuration."""
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        return [required(path, "exactly one of url or service is required")]
    if url is not None:
        return _url(path.child("url"), url)
    return _service(path.child("service"), service or {})


def _url(path: Path, text: str) -> list[FieldError]:
    form = "; desired format: https://host[/path]"
    fault = _unreadable(text)
    if fault:
        return [required(path, f"url must be a valid URL: parse {quote(text)}: {fault}{form}")]
    parts = urlsplit(text)
    errors: list[FieldError] = []
    if parts.scheme != "https":
        errors.append(invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{form}"))
    if not parts.netloc:
        errors.append(invalid(path, parts.netloc, f"host must be specified{form}"))
    if "@" in parts.netloc:
        errors.append(invalid(path, parts.netloc.rpartition("@")[0], "user information is not permitted in the URL"))
    if parts.fragment:
        errors.append(invalid(path, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        errors.append(invalid(path, parts.query, "query parameters are not permitted in the URL"))
    return errors


def _unreadable(url: str) -> str:
    """Return why Go does not read a text as a URL at all; Python would drop line breaks in silence.

    Source: Go ``net/url`` (Parse).
    """
    if any(char < " " or char == "\x7f" for char in url):
        return "net/url: invalid control character in URL"
    if url.startswith(" ") and ":" in url.partition("/")[0]:
        return "first path segment in URL cannot contain colon"
    escape = _BAD_ESCAPE.search(url.partition("?")[0])
    if escape is not None:
        return f"invalid URL escape {quote(escape[0])}"
    try:
        port = urlsplit(url).netloc.rpartition("@")[2].rpartition("]")[2].partition(":")[2]
    except ValueError:
        return "missing ']' in host"
    if port and not (port.isascii() and port.isdecimal()):
        return f"invalid port {quote(':' + port)} after host"
    return "" if " " not in urlsplit(url).netloc else 'invalid character " " in host name'


def _service(path: Path, service: Object) -> list[FieldError]:
    # Kubernetes takes the two names for each other: the one that is missing is reported as the other.
    errors = [
        required(path.child(shown))
        for shown, member in (("name", "namespace"), ("namespace", "name"))
        if not service.get(member)
    ]
    port = service.get("port")
    if port is not None and not 1 <= port <= 65535:
        text = "port is not valid: " + names.range_error(1, 65535)
        errors.append(invalid(path.child("port"), port, text))
    return errors + _service_path(path.child("path"), service.get("path") or "")


def _service_path(path: Path, value: str) -> list[FieldError]:
    if value in {"", "/"}:
        return []
    if value == "//":
        return [invalid(path, value, "segment[0] may not be empty")]
    errors: list[FieldError] = []
    if not value.startswith("/"):
        errors.append(invalid(path, value, "must start with a '/'"))
    for index, step in enumerate(value[1:].removesuffix("/").split("/")):
        wrong = [f": {text}" for text in names.dns1123_subdomain(step)] if step else [" may not be empty"]
        errors += [invalid(path, value, f"segment[{index}]{text}") for text in wrong]
    return errors
