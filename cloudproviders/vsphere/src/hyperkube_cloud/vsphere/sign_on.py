"""Login by a certificate: a SAML token of the vCenter's own token service, of use to who has the certificate's key.

Who gives a certificate in PEM for the user and its key for the password, as for a solution user or the user of an
extension, logs in by it. pyVmomi writes and signs the envelopes; they travel as all others do.
Source: kubernetes ``pkg/cloudprovider/providers/vsphere/vclib/connection.go`` (login); govmomi ``sts/client.go``,
``sts/signer.go``; pyVmomi ``pyVim/sso.py``.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from hyperkube_lib.cloud_provider.rest import Answer, Request, Send

from hyperkube.hookspecs.cloud import CloudUnavailable
from hyperkube.machinery.clock import Clock

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

PATH: Final = "/sts/STSService"
"""Where the token service is on a vCenter; one on a host of its own, which went with version 7, is not looked for."""
ISSUE: Final = "http://docs.oasis-open.org/ws-sx/ws-trust/200512/RST/Issue"
_CERTIFICATE: Final = re.compile(r"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----")
_CODE: Final = re.compile(rb"<faultcode[^>]*>(?:[\w.-]+:)?([\w.-]{1,60})</faultcode>")


def is_certificate(user: str) -> bool:
    """Tell whether what stands for a user is a certificate."""
    return "-----BEGIN CERTIFICATE-----" in user


class Token:
    """A token, with the key that its user proves to have."""

    def __init__(self, assertion: str, key: str) -> None:
        self.assertion, self._key = assertion, key

    def signed(self, envelope: bytes) -> bytes:
        """Return an envelope that has the token in its head, signed."""
        from pyVim import sso

        with _as_file(self._key) as path:
            return str(sso.add_saml_context(envelope, self.assertion, path)).encode()

    def authorization(self, method: str, url: str, clock: Clock) -> str:
        """Return the header that authorizes a request without a body at the vCenter's REST API."""
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.hashes import SHA256

        where = urlsplit(url)
        nonce = f"{int(clock.now().timestamp() * 1000)}:{secrets.randbits(63)}"
        body = hashlib.sha256(b"").digest()
        port = str(where.port or 80)  # whatever the scheme: what the server makes of a Host without a port
        head = "\n".join([nonce, method, where.path, (where.hostname or "").lower(), port, ""]).encode()
        signature = _private_key(self._key).sign(head + body + b"\n", PKCS1v15(), SHA256())
        words = {
            "token": base64.b64encode(gzip.compress(self.assertion.encode())).decode(),
            "signature_alg": "RSA-SHA256",
            "signature": base64.b64encode(signature).decode(),
            "nonce": nonce,
            "bodyhash": base64.b64encode(body).decode(),
        }
        return "SIGN " + ", ".join(f'{name}="{value}"' for name, value in words.items())


class TokenService:
    """Gives tokens for certificates; thread-safe if its `Send` is."""

    def __init__(self, send: Send, url: str) -> None:
        """Take how requests travel, and where the vCenter is."""
        self._send, self._url = send, f"{url}{PATH}"

    def issue(self, certificate: str, key: str) -> Token:
        """Return a token for who has that certificate and its key, both in PEM; of a chain the first counts.

        Raises:
            CloudUnavailable: they cannot be read, or are refused, or what comes back is no token.
        """
        found = _CERTIFICATE.search(certificate)
        if found is None:
            raise CloudUnavailable("Issue: the certificate in place of a user cannot be read")
        _private_key(key)
        with _as_file(found[0]) as public, _as_file(key) as private:
            return Token(self._issued(public, private), key)

    def _issued(self, public: str, private: str) -> str:
        from lxml.etree import LxmlError
        from pyVim import sso

        service = self

        class Authenticator(sso.SsoAuthenticator):  # type: ignore[misc]  # has no types
            """pyVmomi's, over our way."""

            def perform_request(self, soap_message: str, *_keys: Any, **_words: Any) -> bytes:
                return service._answered(soap_message.encode())

        try:
            return str(Authenticator(self._url).get_hok_saml_assertion(public, private))
        except (LxmlError, KeyError, ValueError):
            raise CloudUnavailable("Issue: answered with what is no token") from None

    def _answered(self, envelope: bytes) -> bytes:
        headers = {"Content-Type": "text/xml; charset=UTF-8", "SOAPAction": ISSUE}
        answer = self._send(Request(method="POST", url=self._url, headers=headers, body=envelope))
        if answer.status != 200:
            raise CloudUnavailable(f"Issue: the vCenter gives no token: {answer.status}{_told(answer)}")
        return answer.body


def _told(answer: Answer) -> str:
    """Return the code of a fault, ``FailedAuthentication``; its text may repeat what was sent."""
    found = _CODE.search(answer.body[: 1 << 16])
    return f" {found[1].decode()}" if found else ""


def _private_key(pem: str) -> RSAPrivateKey:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, RSAPrivateKey):
        raise CloudUnavailable("Issue: the key in place of a password is no RSA key in PEM without a passphrase")
    return key


@contextmanager
def _as_file(text: str) -> Iterator[str]:
    """Give a text a path for the length of a block: pyVmomi reads keys from files, and this one is on no disk."""
    descriptor = os.memfd_create("pem")
    try:
        with os.fdopen(descriptor, "w", closefd=False) as file:
            file.write(text)
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
