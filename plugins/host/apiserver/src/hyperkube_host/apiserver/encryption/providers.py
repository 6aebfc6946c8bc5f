"""The ways to encrypt a value, each with the bytes that Kubernetes' provider of the same name writes.

Source: kubernetes apiserver ``pkg/storage/value/encrypt/{aes,secretbox,identity}``.
"""

from __future__ import annotations

import os
from typing import Protocol

from hyperkube.hookspecs.storage import Unreadable, ValueProvider

PREFIX = b"k8s:enc:"
"""How every encrypted value begins, whatever encrypted it."""

_AES_SIZES = (16, 24, 32)
_BLOCK = 16
_GCM_NONCE = 12


class Cipher(Protocol):
    """Encrypts with one key; `context` is authenticated but not stored."""

    def encrypt(self, value: bytes, context: bytes) -> bytes:
        """Return the encrypted value with whatever is needed to decrypt it."""

    def decrypt(self, stored: bytes, context: bytes) -> bytes:
        """Return the value.

        Raises:
            Unreadable: it was not encrypted with this key, or changed since.
        """


class AesCbc:
    """AES-CBC with PKCS#7 padding: not authenticated, kept for what is stored already."""

    sizes = _AES_SIZES

    def __init__(self, key: bytes) -> None:
        self._key = key

    def encrypt(self, value: bytes, context: bytes) -> bytes:
        """Pad and encrypt."""
        from cryptography.hazmat.primitives.ciphers import Cipher as Algorithm
        from cryptography.hazmat.primitives.ciphers import algorithms, modes

        start = os.urandom(_BLOCK)
        missing = _BLOCK - len(value) % _BLOCK
        worker = Algorithm(algorithms.AES(self._key), modes.CBC(start)).encryptor()
        return start + worker.update(value + bytes([missing]) * missing) + worker.finalize()

    def decrypt(self, stored: bytes, context: bytes) -> bytes:
        """Decrypt and take the padding off."""
        from cryptography.hazmat.primitives.ciphers import Cipher as Algorithm
        from cryptography.hazmat.primitives.ciphers import algorithms, modes

        if len(stored) < 2 * _BLOCK or len(stored) % _BLOCK:
            raise Unreadable("the stored data is not a multiple of the block size")
        worker = Algorithm(algorithms.AES(self._key), modes.CBC(stored[:_BLOCK])).decryptor()
        value = worker.update(stored[_BLOCK:]) + worker.finalize()
        missing = value[-1]
        if not 1 <= missing <= _BLOCK or value[-missing:] != bytes([missing]) * missing:
            raise Unreadable("invalid padding on input")
        return value[:-missing]


class AesGcm:
    """AES-GCM with a random nonce; the object's key in the store is authenticated with it."""

    sizes = _AES_SIZES

    def __init__(self, key: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._worker = AESGCM(key)

    def encrypt(self, value: bytes, context: bytes) -> bytes:
        """Encrypt under a new nonce."""
        nonce = os.urandom(_GCM_NONCE)
        return nonce + self._worker.encrypt(nonce, value, context)

    def decrypt(self, stored: bytes, context: bytes) -> bytes:
        """Decrypt what was encrypted for this place."""
        from cryptography.exceptions import InvalidTag

        if len(stored) <= _GCM_NONCE:
            raise Unreadable("the stored data was shorter than the required size")
        try:
            return self._worker.decrypt(stored[:_GCM_NONCE], stored[_GCM_NONCE:], context)
        except InvalidTag as error:
            raise Unreadable("cipher: message authentication failed") from error


class SecretBox:
    """XSalsa20 and Poly1305."""

    sizes = (32,)

    def __init__(self, key: bytes) -> None:
        from nacl.secret import SecretBox as Box

        self._box = Box(key)

    def encrypt(self, value: bytes, context: bytes) -> bytes:
        """Encrypt under a new nonce, which comes first."""
        return bytes(self._box.encrypt(value))

    def decrypt(self, stored: bytes, context: bytes) -> bytes:
        """Decrypt."""
        from nacl.exceptions import CryptoError

        try:
            return self._box.decrypt(stored)
        except (CryptoError, ValueError) as error:
            raise Unreadable("output array was not large enough for encryption") from error


CIPHERS: dict[str, type[AesCbc | AesGcm | SecretBox]] = {
    "aescbc": AesCbc,
    "aesgcm": AesGcm,
    "secretbox": SecretBox,
}
"""Provider → cipher; ``identity`` needs none."""


class KeyedProvider:
    """One provider with its keys in order: the first encrypts, all of them decrypt.

    Args:
        name: the provider's, as the configuration spells it.
        keys: name → cipher.
    """

    def __init__(self, name: str, keys: dict[str, Cipher]) -> None:
        self.prefix = PREFIX + f"{name}:v1:".encode()
        self._keys = [(f"{key}:".encode(), cipher) for key, cipher in keys.items()]
        self._family = "Secretbox" if name == "secretbox" else "AES"

    def transform_to_storage(self, value: bytes, context: bytes) -> bytes:
        """Encrypt with the first key."""
        label, cipher = self._keys[0]
        return self.prefix + label + cipher.encrypt(value, context)

    def transform_from_storage(self, stored: bytes, context: bytes) -> tuple[bytes, bool]:
        """Decrypt with the key that is named; stale if it is not the first.

        Raises:
            Unreadable: no such key, or it does not fit.
        """
        rest = stored[len(self.prefix) :]
        for place, (label, cipher) in enumerate(self._keys):
            if rest.startswith(label):
                return cipher.decrypt(rest[len(label) :], context), place > 0
        raise Unreadable(f"no matching key was found for the provided {self._family} transformer")


class Identity:
    """No encryption."""

    prefix = b""

    def transform_to_storage(self, value: bytes, context: bytes) -> bytes:
        """Return the value."""
        return value

    def transform_from_storage(self, stored: bytes, context: bytes) -> tuple[bytes, bool]:
        """Return the value.

        Raises:
            Unreadable: it is encrypted.
        """
        if stored.startswith(PREFIX):
            raise Unreadable("identity transformer tried to read encrypted data")
        return stored, False


Provider = KeyedProvider | Identity | ValueProvider
