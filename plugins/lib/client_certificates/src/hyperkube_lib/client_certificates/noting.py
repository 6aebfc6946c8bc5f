"""Verifies certificates when they have been made, to be noted beside their authority's file (see `noted`)."""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
from hyperkube_lib.client_certificates import CertificateAuthorities, CertificateRefused, user_of


def note(authority_file: str | Path, certificates: Iterable[bytes], now: datetime) -> bytes:
    """Verify certificates, PEM, and return what is to be written to `notes_of` their authority's file.

    One that is refused is left out, and refused again when a client shows it.

    Raises:
        UsageError: the file of the authority cannot be read.
    """
    authorities = CertificateAuthorities(str(authority_file))
    rows: dict[str, Mapping[str, Any]] = {}
    for pem in certificates:
        der = ssl.PEM_cert_to_DER_cert(pem.decode())
        try:
            found = authorities.vouched([der], now)
        except CertificateRefused:
            continue
        user = user_of(found.leaf)
        if user is not None:
            rows[hashlib.sha256(der).hexdigest()] = {
                "user": user.name,
                "uid": user.uid,
                "groups": list(user.groups),
                "since": found.since.timestamp(),
                "until": found.until.timestamp(),
            }
    signed_by = hashlib.sha256(Path(authority_file).read_bytes()).hexdigest()
    return orjson.dumps({"authority": signed_by, "certificates": rows})
