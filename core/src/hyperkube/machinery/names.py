"""The rules for names, labels, keys and ports, each a function that returns what is wrong, in Kubernetes' words.

An empty list means the value is fine. Source: kubernetes apimachinery ``pkg/util/validation/validation.go`` and
``pkg/api/validate/content``. Two generations of those texts live side by side: label keys and values count "bytes",
all others "characters".
"""

from __future__ import annotations

import re
from functools import cache

LABEL_MAX = 63
SUBDOMAIN_MAX = 253
PORT_NAME_MAX = 15

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_UNDERSCORE = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_SUBDOMAIN_UNDERSCORE = rf"{_LABEL_UNDERSCORE}(\.{_LABEL_UNDERSCORE})*"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_WILDCARD = rf"\*\.{_SUBDOMAIN}"
_KEY_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = f"({_KEY_NAME})?"
_C_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_PERCENT = "[0-9]+%"
_HEADER = "[-A-Za-z0-9]+"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_CONDITION_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"

_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_SUBDOMAIN_UNDERSCORE_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_LABEL_1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character"
)
_WILDCARD_TEXT = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, "
    "which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
)
_KEY_NAME_TEXT = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_LABEL_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
_C_IDENTIFIER_TEXT = (
    "a valid C identifier must start with alphabetic character or '_', "
    "followed by a string of alphanumeric characters or '_'"
)
_RELAXED_ENV_NAME_TEXT = (
    "a valid environment variable name must consist only of printable ASCII characters other than '='"
)
_CONFIG_KEY_TEXT = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
_CONDITION_REASON_TEXT = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_'"
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


_LABEL_RE = _compiled(_LABEL)
_SUBDOMAIN_RE = _compiled(_SUBDOMAIN)
_SUBDOMAIN_UNDERSCORE_RE = _compiled(_SUBDOMAIN_UNDERSCORE)
_LABEL_1035_RE = _compiled(_LABEL_1035)
_KEY_NAME_RE = _compiled(_KEY_NAME)
_LABEL_VALUE_RE = _compiled(_LABEL_VALUE)
_QUALIFIED_NAME_RE = _compiled(f"({_SUBDOMAIN}/)?{_KEY_NAME}")


def regex_error(text: str, pattern: str, *examples: str) -> str:
    """Return the message for a value that does not match a pattern, with examples that would."""
    if not examples:
        return f"{text} (regex used for validation is '{pattern}')"
    listed = " or ".join(f"'{example}', " for example in examples)
    return f"{text} (e.g. {listed}regex used for validation is '{pattern}')"


def max_length_error(limit: int) -> str:
    """Return the message for a value of more than `limit` characters."""
    return f"must be no more than {limit} characters"


def range_error(low: int, high: int) -> str:
    """Return the message for a number outside an inclusive range."""
    return f"must be between {low} and {high}, inclusive"


def _bytes_error(limit: int) -> str:
    return f"must be no more than {limit} bytes"


def _size(value: str) -> int:
    return len(value) if value.isascii() else len(value.encode())


def dns1123_label(value: str) -> list[str]:
    """Check a DNS label (RFC 1123): names of namespaces, of containers, and much else."""
    errors = [max_length_error(LABEL_MAX)] if _size(value) > LABEL_MAX else []
    if not _LABEL_RE.fullmatch(value):
        dotted = _SUBDOMAIN_RE.fullmatch(value)
        errors.append("must not contain dots" if dotted else regex_error(_LABEL_TEXT, _LABEL, "my-name", "123-abc"))
    return errors


def dns1123_subdomain(value: str) -> list[str]:
    """Check a DNS subdomain (RFC 1123): the names of most kinds."""
    errors = [max_length_error(SUBDOMAIN_MAX)] if len(value) > LABEL_MAX and _size(value) > SUBDOMAIN_MAX else []
    if not _SUBDOMAIN_RE.fullmatch(value):
        errors.append(regex_error(_SUBDOMAIN_TEXT, _SUBDOMAIN, "example.com"))
    return errors


def dns1123_subdomain_with_underscore(value: str) -> list[str]:
    """Check a DNS subdomain that may also hold underscores (DNS search paths)."""
    errors = [max_length_error(SUBDOMAIN_MAX)] if _size(value) > SUBDOMAIN_MAX else []
    if not _SUBDOMAIN_UNDERSCORE_RE.fullmatch(value):
        errors.append(regex_error(_SUBDOMAIN_UNDERSCORE_TEXT, _SUBDOMAIN_UNDERSCORE, "example.com"))
    return errors


def dns1035_label(value: str) -> list[str]:
    """Check a DNS label that starts with a letter (RFC 1035)."""
    errors = [max_length_error(LABEL_MAX)] if _size(value) > LABEL_MAX else []
    if not _LABEL_1035_RE.fullmatch(value):
        errors.append(regex_error(_LABEL_1035_TEXT, _LABEL_1035, "my-name", "abc-123"))
    return errors


def wildcard_dns1123_subdomain(value: str) -> list[str]:
    """Check a host pattern like ``*.example.com``."""
    errors = [max_length_error(SUBDOMAIN_MAX)] if _size(value) > SUBDOMAIN_MAX else []
    if not _compiled(_WILDCARD).fullmatch(value):
        errors.append(regex_error(_WILDCARD_TEXT, _WILDCARD, "*.example.com"))
    return errors


def qualified_name(value: str) -> list[str]:
    """Check a label key: an optional DNS subdomain and a slash, then a name."""
    if len(value) <= LABEL_MAX and _QUALIFIED_NAME_RE.fullmatch(value):
        return []
    parts = value.split("/")
    errors: list[str] = []
    if len(parts) > 2:
        shown = regex_error(_KEY_NAME_TEXT, _KEY_NAME, "MyName", "my.name", "123-abc")
        return [f"a valid label key {shown} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    if len(parts) == 2:
        errors += ["prefix part " + error for error in _prefix(parts[0])]
    name = parts[-1]
    if not name:
        errors.append("name part must be non-empty")
    elif _size(name) > LABEL_MAX:
        errors.append("name part " + _bytes_error(LABEL_MAX))
    if not _KEY_NAME_RE.fullmatch(name):
        errors.append("name part " + regex_error(_KEY_NAME_TEXT, _KEY_NAME, "MyName", "my.name", "123-abc"))
    return errors


def _prefix(prefix: str) -> list[str]:
    if not prefix:
        return ["must be non-empty"]
    errors = [_bytes_error(SUBDOMAIN_MAX)] if _size(prefix) > SUBDOMAIN_MAX else []
    if not _SUBDOMAIN_RE.fullmatch(prefix):
        errors.append(regex_error(_SUBDOMAIN_TEXT, _SUBDOMAIN, "example.com"))
    return errors


label_key = qualified_name


def label_value(value: str) -> list[str]:
    """Check the value of a label; the empty string is one."""
    errors = [_bytes_error(LABEL_MAX)] if _size(value) > LABEL_MAX else []
    if not _LABEL_VALUE_RE.fullmatch(value):
        errors.append(regex_error(_LABEL_VALUE_TEXT, _LABEL_VALUE, "MyValue", "my_value", "12345"))
    return errors


def path_segment_name(value: str) -> list[str]:
    """Check that a name can stand in a URL path and a storage key; emptiness and length are others' business."""
    if value in {".", ".."}:
        return [f"may not be '{value}'"]
    return path_segment_prefix(value)


def path_segment_prefix(value: str) -> list[str]:
    """Check the beginning of a name that still gets a suffix (``generateName``)."""
    return [f"may not contain '{part}'" for part in ("/", "%") if part in value]


def port_name(value: str) -> list[str]:
    """Check the name of a port (RFC 6335, lower case only)."""
    errors = [max_length_error(PORT_NAME_MAX)] if _size(value) > PORT_NAME_MAX else []
    if not re.fullmatch("[-a-z0-9]+", value):
        errors.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", value):
        errors.append("must contain at least one letter (a-z)")
    if "--" in value:
        errors.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        errors.append("must not begin or end with a hyphen")
    return errors


def port_number(value: int) -> list[str]:
    """Check a port number; 0 is none."""
    return in_range(value, 1, 65535)


def in_range(value: int, low: int, high: int) -> list[str]:
    """Check a number against an inclusive range."""
    return [] if low <= value <= high else [range_error(low, high)]


def user_or_group_id(value: int) -> list[str]:
    """Check a Unix user or group id."""
    return in_range(value, 0, 2**31 - 1)


def c_identifier(value: str) -> list[str]:
    """Check an identifier as in C."""
    if _compiled(_C_IDENTIFIER).fullmatch(value):
        return []
    return [regex_error(_C_IDENTIFIER_TEXT, _C_IDENTIFIER, "my_name", "MY_NAME", "MyName")]


def percent(value: str) -> list[str]:
    """Check a percentage like ``25%``."""
    if _compiled(_PERCENT).fullmatch(value):
        return []
    text = "a valid percent string must be a numeric string followed by an ending '%'"
    return [regex_error(text, _PERCENT, "1%", "93%")]


def http_header_name(value: str) -> list[str]:
    """Check the name of an HTTP header (probes)."""
    if _compiled(_HEADER).fullmatch(value):
        return []
    text = "a valid HTTP header must consist of alphanumeric characters or '-'"
    return [regex_error(text, _HEADER, "X-Header-Name")]


def relaxed_env_var_name(value: str) -> list[str]:
    """Check the name of an environment variable by the rule of today: printable ASCII without an equals sign."""
    if not value:
        return ["environment variable name must be non-empty"]
    if re.fullmatch("[ -<>-~]+", value):
        return []
    return [_RELAXED_ENV_NAME_TEXT]


def config_map_key(value: str) -> list[str]:
    """Check a key of a ConfigMap's or Secret's data: it becomes a file name."""
    errors = [max_length_error(SUBDOMAIN_MAX)] if _size(value) > SUBDOMAIN_MAX else []
    if not _compiled(_CONFIG_KEY).fullmatch(value):
        errors.append(regex_error(_CONFIG_KEY_TEXT, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    return errors + _directory_change(value) if value.startswith(".") else errors


def _directory_change(value: str) -> list[str]:
    if value in {".", ".."}:
        return [f"must not be '{value}'"]
    return ["must not start with '..'"] if value.startswith("..") else []


def condition_reason(value: str) -> list[str]:
    """Check the reason of a condition, its length apart."""
    if _compiled(_CONDITION_REASON).fullmatch(value):
        return []
    examples = ("my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB")
    return [regex_error(_CONDITION_REASON_TEXT, _CONDITION_REASON, *examples)]


def http_path(value: str) -> list[str]:
    """Check the characters of an HTTP path (RFC 3986)."""
    if _compiled(_HTTP_PATH).fullmatch(value):
        return []
    return [regex_error("Invalid path", _HTTP_PATH)]


def domain_prefixed_path(value: str) -> list[str]:
    """Check a path under a domain: ``acme.io/foo`` (controller names of ingress classes)."""
    host, _, path = value.partition("/")
    if not host or not path:
        return ['must be a domain-prefixed path (such as "acme.io/foo")']
    return dns1123_subdomain(host) + http_path(path)


def fully_qualified_name(value: str) -> list[str]:
    """Check a domain of at least three parts."""
    errors = dns1123_subdomain(value)
    if errors:
        return [",".join(errors)]
    if value.count(".") < 2:
        return ["should be a domain with at least three segments separated by dots"]
    return []
