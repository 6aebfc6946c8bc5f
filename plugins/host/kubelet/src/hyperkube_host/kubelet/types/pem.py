"""Certificates in PEM, as Go's ``encoding/pem`` reads and writes them."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as BadBase64
from collections.abc import Iterator

_BLOCK = re.compile(r"-----BEGIN ([^\n-]+)-----\r?\n(.*?)-----END \1-----", re.DOTALL)
_WIDTH = 64


def blocks(text: str) -> Iterator[bytes]:
    """Yield the content of each block, without headers; what is none is passed over."""
    for block in _BLOCK.finditer(text):
        body = block[2].replace("\r", "")
        head, blank, rest = body.partition("\n\n")
        try:
            yield b64decode("".join((rest if blank and ":" in head else body).split()), validate=True)
        except BadBase64:
            continue


def certificate(der: bytes) -> bytes:
    """Return a certificate's block."""
    encoded = b64encode(der).decode()
    lines = "\n".join(encoded[at : at + _WIDTH] for at in range(0, len(encoded), _WIDTH))
    return f"-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n".encode()
