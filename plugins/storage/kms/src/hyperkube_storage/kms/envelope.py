"""Values encrypted under a seed of this server's, which the KMS has encrypted under a key of its own.

Each value has a key of its own, derived from the seed. The seed is used as long as the KMS says that its key is the
same; values of another key are stale. Source of formats, limits and times: kubernetes apiserver
``pkg/storage/value/encrypt/envelope/kmsv2/envelope.go``, ``encrypt/aes/aes_extended_nonce.go`` and
``pkg/server/options/encryptionconfig/config.go``.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hyperkube_storage.kms.service import KeyService

from hyperkube.hookspecs.storage import Unreadable
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.names import dns1123_subdomain
from hyperkube.storage.store import StoreUnavailable

SEED = 1
"""The kind of what the KMS encrypts: a seed, not (0) a key."""

SEED_SIZE = INFO_SIZE = KEY_SIZE = 32
NONCE_SIZE = 12
KEY_ID_MOST = ENCRYPTED_SEED_MOST = 1024
ANNOTATIONS_MOST = 32 * 1024

HEALTHY_SECONDS, UNHEALTHY_SECONDS = 60.0, 10.0
"""Time between two questions for the key that is in use."""

VALID_SECONDS = 180.0
"""How long a seed is written with after the KMS last said that its key is in use."""

logger = logging.getLogger("hyperkube.encryption")


@dataclass(frozen=True, slots=True)
class Current:
    """The seed that values are written with."""

    seed: bytes
    encrypted: bytes
    key_id: str
    annotations: Mapping[str, bytes]
    until: float


class Envelope:
    """The provider ``kms`` of one entry of the configuration.

    Args:
        name: of the entry; part of what is stored.
        service: the KMS.
        clock: for the time between two questions.
    """

    def __init__(self, name: str, service: KeyService, clock: Clock) -> None:
        self.prefix = f"k8s:enc:kms:v2:{name}:".encode()
        self._name = name
        self._service = service
        self._clock = clock
        self._lock = threading.Lock()
        self._current: Current | None = None
        self._seeds: dict[tuple[int, bytes, str], bytes] = {}
        self._closed = threading.Event()
        threading.Thread(target=self._follow, name=f"kms-{name}", daemon=True).start()

    def transform_to_storage(self, value: bytes, context: bytes) -> bytes:
        """Encrypt under the seed that is in use.

        Raises:
            StoreUnavailable: the KMS has not said for a while which key is in use.
        """
        from hyperkube_storage.kms.messages import EncryptedObject

        current = self._in_use()
        info, nonce = os.urandom(INFO_SIZE), os.urandom(NONCE_SIZE)
        sealed = info + nonce + _cipher(current.seed, info).encrypt(nonce, value, context)
        stored = EncryptedObject(
            encrypted_data=sealed,
            key_id=current.key_id,
            encrypted_dek_source=current.encrypted,
            annotations=current.annotations,
            encrypted_dek_source_type=SEED,
        )
        return self.prefix + bytes(stored.SerializeToString(deterministic=True))

    def transform_from_storage(self, stored: bytes, context: bytes) -> tuple[bytes, bool]:
        """Decrypt; stale if the key is not the one in use any more.

        Raises:
            Unreadable: it is broken, or the KMS does not decrypt its seed.
        """
        from google.protobuf.message import DecodeError
        from hyperkube_storage.kms.messages import EncryptedObject

        try:
            found = EncryptedObject.FromString(stored[len(self.prefix) :])
        except DecodeError as error:
            raise Unreadable(f"no encrypted object: {error}") from error
        if found.encrypted_dek_source_type not in {0, SEED} or not found.encrypted_data:
            raise Unreadable(f"unknown encryptedDEKSourceType: {found.encrypted_dek_source_type}")
        value = self._open(found, context)
        current = self._current
        is_current = current is not None and found.key_id == current.key_id and found.encrypted_dek_source_type == SEED
        return value, not is_current

    def check(self) -> bool:
        """Ask the KMS how it is, and take its new key if it has one; True if all is well.

        Raises:
            StoreUnavailable: it does not answer, or says that it is not well.
        """
        status = self._service.status()
        if status.healthz != "ok":
            raise StoreUnavailable(f"kms {self._name!r} is unhealthy: {status.healthz}")
        if status.version not in {"v2", "v2beta1"}:
            raise StoreUnavailable(f"kms {self._name!r} speaks {status.version!r}, not v2")
        if not status.key_id or len(status.key_id) > KEY_ID_MOST:
            raise StoreUnavailable(f"kms {self._name!r} has no usable key id")
        until = self._clock.monotonic() + VALID_SECONDS
        with self._lock:
            current = self._current
            if current is None or current.key_id != status.key_id:
                current = self._new_seed(until)
                logger.info("kms %r: values are written under a new key from now on", self._name)
            self._current = replace(current, until=until)
        return True

    def close(self) -> None:
        """Ask no more; idempotent."""
        self._closed.set()
        self._service.close()

    def _new_seed(self, until: float) -> Current:
        seed = os.urandom(SEED_SIZE)
        answer = self._service.encrypt(seed)
        fault = _fault_in(answer)
        if fault:
            raise StoreUnavailable(f"kms {self._name!r}: {fault}")
        current = Current(seed, bytes(answer.ciphertext), answer.key_id, dict(answer.annotations), until)
        self._seeds[SEED, current.encrypted, current.key_id] = seed
        return current

    def _in_use(self) -> Current:
        current = self._current
        if current is None or self._clock.monotonic() > current.until:
            self.check()
            current = self._current
        if current is None:
            raise StoreUnavailable(f"kms {self._name!r} has no key yet")
        return current

    def _open(self, found: Any, context: bytes) -> bytes:
        from cryptography.exceptions import InvalidTag

        seed, data = self._seed_of(found), bytes(found.encrypted_data)
        info = b""
        if found.encrypted_dek_source_type == SEED:
            info, data = data[:INFO_SIZE], data[INFO_SIZE:]
        if len(data) <= NONCE_SIZE:
            raise Unreadable("the stored data was shorter than the required size")
        try:
            return bytes(_cipher(seed, info).decrypt(data[:NONCE_SIZE], data[NONCE_SIZE:], context))
        except InvalidTag as error:
            raise Unreadable("cipher: message authentication failed") from error
        except ValueError as error:  # what the KMS decrypted is no key
            raise Unreadable(f"failed to decrypt DEK, error: {error}") from error

    def _seed_of(self, found: Any) -> bytes:
        """Return the seed or key of a value; the KMS is asked once for each."""
        place = (found.encrypted_dek_source_type, bytes(found.encrypted_dek_source), found.key_id)
        seed = self._seeds.get(place)
        if seed is None:
            try:
                seed = self._service.decrypt(place[1], found.key_id, dict(found.annotations))
            except StoreUnavailable as error:
                raise Unreadable(f"failed to decrypt DEK, error: {error}") from error
            self._seeds[place] = seed
        return seed

    def _follow(self) -> None:
        """Ask for the key in use until closed."""
        while not self._closed.is_set():
            pause = HEALTHY_SECONDS
            try:
                self.check()
            except StoreUnavailable as error:
                if not self._closed.is_set():
                    logger.warning("%s", error)
                pause = UNHEALTHY_SECONDS
            except Exception:  # without this thread a new key would never be noticed, and writes fail in three minutes
                logger.exception("kms %r: its key could not be asked for", self._name)
                pause = UNHEALTHY_SECONDS
            self._clock.wait(self._closed, pause)


def _fault_in(answer: Any) -> str:
    """Return what is wrong with an encrypted seed, which is written into every object; empty for nothing.

    Source: kubernetes apiserver ``pkg/storage/value/encrypt/envelope/kmsv2/envelope.go`` (validateEncryptedObject).
    """
    if not answer.ciphertext:
        return "failed to validate encrypted DEK source: encrypted DEK source is empty"
    for what, value, most in (
        ("encrypted DEK source", answer.ciphertext, ENCRYPTED_SEED_MOST),
        ("keyID", answer.key_id, KEY_ID_MOST),
    ):
        if len(value) > most:
            return f"{what} is {len(value)} bytes, which exceeds the max size of {most}"
    if not answer.key_id:
        return "failed to validate key id: keyID is empty"
    wrong = next((key for key in answer.annotations if "." not in key.rstrip(".") or dns1123_subdomain(key)), None)
    if wrong is not None:
        return f"failed to validate annotations: {wrong!r} should be a domain with at least two segments"
    size = sum(len(key) + len(value) for key, value in answer.annotations.items())
    if size > ANNOTATIONS_MOST:
        return f"total size of annotations is {size}, which exceeds the max size of {ANNOTATIONS_MOST}"
    return ""


def _cipher(seed: bytes, info: bytes) -> Any:
    """Return AES-GCM under the key that a seed yields for `info`, or under the seed itself if that is empty."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

    if not info:
        return AESGCM(seed)
    return AESGCM(HKDFExpand(SHA256(), KEY_SIZE, info).derive(seed))
