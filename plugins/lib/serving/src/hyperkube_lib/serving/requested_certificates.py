"""Asks clients for a certificate without ending the handshake of one that no known authority has signed.

A certificate that proves nothing must be answered with 401, or be passed over for a bearer token: that is for the
authenticators to say, who check chains against the authority files themselves. OpenSSL can be told so with one call
(``SSL_CTX_set_cert_verify_callback``), which the ssl module lacks; it is made through ctypes, on the OpenSSL that the
module itself has loaded. That the client holds the certificate's key is still proven by the handshake.

The context's pointer follows its object header, in each CPython since 3.2; before it is used, two facts that the ssl
module knows too are read through the same struct and compared. Where that fails, OpenSSL goes on checking.
Source: Go ``tls.RequestClientCert``, as in kubernetes apiserver ``pkg/server/secure_serving.go``; OpenSSL
``SSL_CTX_set_cert_verify_callback(3)``.
"""

from __future__ import annotations

import ctypes
import functools
import ssl
import sys
from typing import Any

_VERIFY_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_POINTER_BYTES = ctypes.sizeof(ctypes.c_void_p)


def request_certificates(context: ssl.SSLContext) -> bool:
    """Let every client certificate pass the handshake of a server's context; tell whether that could be done.

    The context must ask for certificates already. On False it is as it was: unknown certificates end the handshake.
    """
    library = _library()
    if library is None or type(context).__basicsize__ <= object.__basicsize__:
        return False
    pointer = ctypes.c_void_p.from_address(id(context) + object.__basicsize__)
    if not pointer.value or pointer.value % _POINTER_BYTES or not _is_context(library, pointer, context):
        return False
    library.SSL_CTX_set_cert_verify_callback(pointer, _accept(), None)
    return True


def _is_context(library: Any, pointer: ctypes.c_void_p, context: ssl.SSLContext) -> bool:
    modes = {ssl.CERT_NONE: 0, ssl.CERT_OPTIONAL: 1, ssl.CERT_REQUIRED: 3}
    if library.SSL_CTX_get_verify_mode(pointer) != modes[context.verify_mode]:
        return False
    minimum: int = library.SSL_CTX_ctrl(pointer, _GET_MINIMUM_VERSION, 0, None)
    return minimum == max(int(context.minimum_version), 0)


_GET_MINIMUM_VERSION = 130
"""``SSL_CTRL_GET_MIN_PROTO_VERSION``."""


@functools.cache
def _library() -> Any:
    """Return the OpenSSL of the ssl module, or None where its functions cannot be reached."""
    if sys.implementation.name != "cpython":
        return None
    import _ssl

    try:
        library = ctypes.CDLL(getattr(_ssl, "__file__", None))
        library.SSL_CTX_set_cert_verify_callback.argtypes = [ctypes.c_void_p, _VERIFY_CALLBACK, ctypes.c_void_p]
        library.SSL_CTX_set_cert_verify_callback.restype = None
        library.SSL_CTX_get_verify_mode.argtypes = [ctypes.c_void_p]
        library.SSL_CTX_ctrl.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_long, ctypes.c_void_p]
        library.SSL_CTX_ctrl.restype = ctypes.c_long
    except (OSError, AttributeError):
        return None
    return library


@functools.cache
def _accept() -> Any:
    """Return the callback; kept for as long as the process lives, since contexts refer to it."""
    return _VERIFY_CALLBACK(lambda _store, _argument: 1)
