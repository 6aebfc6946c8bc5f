"""Bootstrap tokens: the secrets with which a new machine may join, and for how long they are good.

Source: kubernetes ``cluster-bootstrap/util/secrets/secrets.go``.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from datetime import datetime

from hyperkube.machinery.objects import Object, name_of
from hyperkube.machinery.times import TimeError, parse_time

NAMESPACE = "kube-system"
TYPE = "bootstrap.kubernetes.io/token"
PREFIX = "bootstrap-token-"
"""What the name of a token's secret begins with; the token's id follows."""


_ID = re.compile("[a-z0-9]{6}")


def id_in_name(secret: Object) -> str:
    """Return the token's id as the secret's name has it; nothing if it is not the name of a token's secret."""
    name = name_of(secret)
    token = name.removeprefix(PREFIX)
    return token if name.startswith(PREFIX) and _ID.fullmatch(token) else ""


def data_of(secret: Object) -> dict[str, str]:
    """Return the secret's values as text; what is no text counts as missing."""
    values = {}
    for key, value in (secret.get("data") or {}).items():
        try:
            values[key] = b64decode(value).decode()
        except (NotBase64, UnicodeDecodeError):
            continue
    return values


def seconds_left(secret: Object, now: datetime) -> float | None:
    """Return for how long the token is still good: 0 when it has expired, None when it never does.

    An expiration that cannot be read counts as over.
    """
    if not (secret.get("data") or {}).get("expiration"):
        return None
    try:
        return max(0.0, (parse_time(data_of(secret).get("expiration", "")) - now).total_seconds())
    except TimeError:
        return 0.0


def has_expired(secret: Object, now: datetime) -> bool:
    """Tell whether the token's time is over."""
    return seconds_left(secret, now) == 0
