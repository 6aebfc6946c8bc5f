"""Named formats: ``format.dns1123Label().validate(text)``.

Source: kubernetes apiserver ``pkg/cel/library/format.go``.
"""

from __future__ import annotations

import re
import uuid
from base64 import b64decode
from collections.abc import Callable
from typing import Any

from hyperkube_lib.cel.errors import EvaluationError
from hyperkube_lib.cel.functions import Library
from hyperkube_lib.cel.library.conversions import to_timestamp
from hyperkube_lib.cel.library.network import is_url, url_problem
from hyperkube_lib.cel.values import NONE, Opaque, Optional

from hyperkube.machinery import names

FORMATS = Library()
Check = Callable[[str], list[str]]


class FormatValue(Opaque):
    """A named rule for texts."""

    __slots__ = ("check", "name")
    kind = "kubernetes.NamedFormat"

    def __init__(self, name: str, check: Check) -> None:
        self.name = name
        self.check = check

    def same(self, other: Any) -> bool:
        """Tell whether two are the same rule."""
        return bool(self.name == other.name)


def _prefix(rule: Callable[[str], list[str]]) -> Check:
    return lambda text: rule(text.removesuffix("-") or text)


def _uri(text: str) -> list[str]:
    return [] if is_url(text) else [url_problem(text)]


def _uuid(text: str) -> list[str]:
    try:
        uuid.UUID(text)
    except ValueError:
        return ["does not match the UUID format"]
    return []


def _byte(text: str) -> list[str]:
    try:
        b64decode(text, validate=True)
    except ValueError:
        return ["invalid base64"]
    return []


def _date(text: str) -> list[str]:
    return _date_time(f"{text}T00:00:00Z") and ["invalid date"]


def _date_time(text: str) -> list[str]:
    try:
        to_timestamp(text)
    except EvaluationError:
        return ["invalid datetime"]
    return []


_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_LABEL_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


def _label_value(text: str) -> list[str]:
    errors = ["must be no more than 63 bytes"] if len(text) > 63 else []
    return errors if _LABEL_VALUE.fullmatch(text) else [*errors, _LABEL_TEXT]


_RULES: dict[str, Check] = {
    "dns1123Label": names.dns1123_label,
    "dns1123Subdomain": names.dns1123_subdomain,
    "dns1035Label": names.dns1035_label,
    "qualifiedName": names.qualified_name,
    "dns1123LabelPrefix": _prefix(names.dns1123_label),
    "dns1123SubdomainPrefix": _prefix(names.dns1123_subdomain),
    "dns1035LabelPrefix": _prefix(names.dns1035_label),
    "labelValue": _label_value,
    "uri": _uri,
    "uuid": _uuid,
    "byte": _byte,
    "date": _date,
    "datetime": _date_time,
}

for _name, _check in _RULES.items():
    FORMATS.function(f"format.{_name}", "-> NamedFormat")(lambda name=_name, check=_check: FormatValue(name, check))


@FORMATS.function("format.named", "string -> optional(NamedFormat)")
def named(name: str) -> Optional:
    """Return the rule of a name, if there is one."""
    return Optional(FormatValue(name, _RULES[name])) if name in _RULES else NONE


@FORMATS.method("validate", "NamedFormat, string -> optional(list(string))")
def validate(rule: FormatValue, text: str) -> Optional:
    """Return what is wrong with a text, absent when nothing is."""
    errors = list(rule.check(text))
    return Optional(errors) if errors else NONE
