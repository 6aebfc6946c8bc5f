"""Certificates in PEM, as Go's ``encoding/pem`` reads and writes them."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as BadBase64
from collections.abc import Iterator

_WIDTH = 64


def blocks(text: str) -> Iterator[bytes]:
    """Yield the content of each block, without headers; what is none is passed over."""
    from hyperkube_lib.pem import split_pem

    for _, lines in split_pem(text.encode()):
        body = lines.replace(b"\r", b"")
        head, blank, rest = body.partition(b"\n\n")
        try:
            yield b64decode(b"".join((rest if blank and b":" in head else body).split()), validate=True)
        except BadBase64:
            continue


def certificate(der: bytes) -> bytes:
    """Return a certificate's block."""
    encoded = b64encode(der).decode()
    lines = "\n".join(encoded[at : at + _WIDTH] for at in range(0, len(encoded), _WIDTH))
    return f"-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n".encode()
