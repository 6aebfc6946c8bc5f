"""The key of ``--ssh-keyfile`` is made where it is missing, and put on all nodes by the cloud of ``--cloud-provider``.

It is put there when the server starts and every five minutes from then on: it may have been taken away.

Source: kubernetes 1.15 ``pkg/master/tunneler/ssh.go``, ``cmd/kube-apiserver/app/server.go`` (CreateNodeDialer). There a
private key without a public one is thrown away; here the public key is made of it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hyperkube_host.apiserver.options import Options
from hyperkube_lib.cloud_provider import CloudProvider
from hyperkube_lib.serving.ssh_tunnels import LONGEST_USER

from hyperkube.client.worker_pool import WorkerPool
from hyperkube.hookspecs.cloud import AddsSshKeys
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import HyperkubeError, UsageError
from hyperkube.plugin import PluginContext

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes

AGAIN: Final = 300.0
FAILED: Final = Backoff(initial=5.0, cap=AGAIN)
RSA_BITS: Final = 2048
_KEY = "SSH key"
_LOGGER = logging.getLogger("hyperkube.apiserver")


def key_installer(
    options: Options, context: Callable[[str, str], PluginContext], clock: Clock
) -> SshKeyInstaller | None:
    """Return what puts the key on the nodes, with a key that is there; None without ``--ssh-user`` or such a cloud.

    Args:
        options: the server's.
        context: gives a plugin's context by its family and name.
        clock: the server's.

    Raises:
        PluginNotFound, NoProvider: the cloud has no provider.
        UsageError: the key can neither be read nor made.
    """
    flags, name = options.kubelets, str(options.values.get("cloud-provider") or "")
    if not (flags.ssh_user and flags.ssh_keyfile and name):
        return None
    provider = CloudProvider(context("cloud", name))
    cloud = provider.build(name)
    adder: object = cloud.instances if cloud is not None else None
    if not isinstance(adder, AddsSshKeys):
        provider.close()
        _LOGGER.warning("cloud provider %r installs no SSH keys: that of --ssh-keyfile has to be on the nodes", name)
        return None
    make_missing(flags.ssh_keyfile)
    return SshKeyInstaller(adder, flags.ssh_user, flags.ssh_keyfile, clock, provider.close)


class SshKeyInstaller:
    """Puts a user's public key on all machines of a cloud, again and again.

    Args:
        adder: the cloud's machines.
        user: of the machines.
        key_file: the private key; the public one stands beside it, ``.pub`` at its end.
        clock: the server's.
        done: is called when no more is asked of the cloud.
    """

    def __init__(
        self, adder: AddsSshKeys, user: str, key_file: str, clock: Clock, done: Callable[[], None] = lambda: None
    ) -> None:
        self._adder, self._user, self._key_file, self._done = adder, user[:LONGEST_USER], key_file, done
        self._failures = 0
        self._pool = WorkerPool("ssh-key", self._work, clock=clock, workers=1, logger=_LOGGER)

    def start(self) -> None:
        """Begin; returns at once."""
        self._pool.queue.add(_KEY)
        self._pool.begin()

    def close(self) -> None:
        """End; idempotent."""
        self._pool.stop()
        self._pool.wait_ended()
        self._done()

    def install(self) -> float:
        """Put the key on the machines, and return the seconds after which that is to be done again."""
        from cryptography.exceptions import UnsupportedAlgorithm

        try:
            self._adder.add_ssh_key(self._user, public_key(self._key_file))
        except (HyperkubeError, OSError, ValueError, UnsupportedAlgorithm) as error:
            self._failures += 1
            wait = FAILED.delay(self._failures)
            _LOGGER.warning("Failed to install ssh key: %s; it is tried again in %.0f s", error, wait)
            return wait
        self._failures = 0
        return AGAIN

    def _work(self, key: str) -> None:
        self._pool.queue.add_after(key, self.install())


def public_key(key_file: str) -> str:
    """Return the public key beside a private one, as ``TYPE BASE64``; it is PEM, as in Kubernetes, or OpenSSH's.

    Raises:
        OSError, ValueError, UnsupportedAlgorithm: it cannot be read, or is none.
    """
    from cryptography.hazmat.primitives.serialization import load_pem_public_key, load_ssh_public_key

    data = Path(f"{key_file}.pub").read_bytes().strip()
    return _line(load_pem_public_key(data) if data.startswith(b"-----BEGIN ") else load_ssh_public_key(data))


def make_missing(key_file: str) -> None:
    """Make the private key, of RSA, and the public one beside it, or of these two the one that is missing.

    Raises:
        UsageError: the files cannot be written, or the private key cannot be read.
    """
    private, public = Path(key_file), Path(f"{key_file}.pub")
    try:
        if public.exists():
            return
        if not private.exists():
            _write(private, _new_key())
        _write(public, f"{_line(_private_key(private.read_bytes()).public_key())}\n".encode())
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"--ssh-keyfile={key_file}: {error}") from error


def _new_key() -> bytes:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    return rsa.generate_private_key(public_exponent=65537, key_size=RSA_BITS).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def _private_key(data: bytes) -> PrivateKeyTypes:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key

    if data.startswith(b"-----BEGIN OPENSSH"):
        return load_ssh_private_key(data, None)
    return load_pem_private_key(data, None)


def _line(key: PublicKeyTypes) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def _write(path: Path, data: bytes) -> None:
    """Write a file for its owner alone, whole or not at all: ssh refuses a private key that others may read."""
    made = path.with_name(f"{path.name}.tmp")
    made.unlink(missing_ok=True)
    with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
    made.replace(path)
