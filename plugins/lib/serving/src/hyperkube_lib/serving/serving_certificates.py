"""Certificates that a server makes for itself when it is given none, as Kubernetes' servers do."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError


def service_address(service_range: str) -> str:
    """Return the API server's own service address: the first usable one of the (first) range.

    Raises:
        UsageError: the range has fewer than 8 addresses.
    """
    network = ipaddress.ip_network(service_range.split(",", maxsplit=1)[0])
    if network.num_addresses < 8:
        raise UsageError(f"--service-cluster-ip-range={service_range!r} must have at least 8 addresses")
    return str(network[1])


def is_current(cert: Path, key: Path, name: str) -> bool:
    """Tell whether a pair that a server `name` made for itself is there and valid, without the library that makes one.

    OpenSSL tells of the authority that follows the certificate in its file, and ends with it.
    """
    if not (cert.is_file() and key.is_file()):
        return False
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cert)
    except (ssl.SSLError, OSError):
        return False
    now = SystemClock().now().timestamp()
    authorities: list[dict[str, Any]] = [*context.get_ca_certs()]
    return any(
        value.startswith(f"{name}-ca@") and ssl.cert_time_to_seconds(authority["notAfter"]) > now
        for authority in authorities
        for ((_, value),) in authority["subject"]
    )


def serving_pair(
    given: tuple[str, str], folder: Path, name: str, *, dns: Sequence[str], ips: Sequence[str]
) -> tuple[str, str]:
    """Return the files of a certificate and its key: the given ones, else ``NAME.crt`` and ``NAME.key`` in `folder`.

    Raises:
        UsageError: only half a pair is given, a file is missing, or the folder cannot be written.
    """
    if any(given):
        if not all(given):
            raise UsageError("--tls-cert-file and --tls-private-key-file must be given together")
        for path in given:
            if not Path(path).is_file():
                raise UsageError(f"file {path!r} does not exist")
        return given
    cert, key = folder / f"{name}.crt", folder / f"{name}.key"
    if is_current(cert, key, name):
        return str(cert), str(key)
    from hyperkube_lib.serving.certificates import ensure_self_signed

    addresses = sorted({str(ipaddress.ip_address(ip)) for ip in ips})
    try:
        ensure_self_signed(cert, key, name, dns=dns, ips=addresses)
    except OSError as error:
        raise UsageError(f"cannot write {str(cert)!r}: {error.strerror} (choose another --cert-dir)") from error
    return str(cert), str(key)


def ensure_key(path: Path) -> str:
    """Make a key for signing tokens unless the file exists; return its path.

    Raises:
        UsageError: the folder cannot be written.
    """
    try:
        if not path.exists():
            from hyperkube_lib.serving.certificates import signing_key, write_private

            private, _public = signing_key()
            write_private(path, private)
    except OSError as error:
        raise UsageError(f"cannot write {str(path)!r}: {error.strerror}") from error
    return str(path)
