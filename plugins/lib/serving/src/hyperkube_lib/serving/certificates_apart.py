"""Makes certificates in a process of their own, so that the library that it takes (3.5 MiB) ends with it.

For a server that makes them at its start and verifies none later. Where this process has one thread its fork does;
where there may be many it is a new interpreter: a fifth of a second.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from hyperkube.machinery.clock import FakeClock

AUTHORITY, CERTIFICATE, KEY = "ca.crt", "tls.crt", "tls.key"
_SECONDS = 60.0


def in_a_child(make: Callable[[], object]) -> None:
    """Call `make` in a fork of this process that ends with it, for the files that it writes.

    Only where this process has no other thread, as none of them, nor what it holds, would be in the child; else right
    here. What fails in the child is done again here, to be raised.
    """
    if threading.active_count() > 1:
        make()
        return
    child = os.fork()
    if not child:
        try:
            make()
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        make()


def issue_apart(folder: Path, name: str, *, dns: Sequence[str], address: str, now: datetime) -> None:
    """Write a new authority's certificate and a pair that it has signed for a server; the authority's key is lost.

    Args:
        folder: where `AUTHORITY`, `CERTIFICATE` and `KEY` are written.
        name: the certificate's common name, and the beginning of the authority's.
        dns: names that the server answers to.
        address: the IP address that it answers on.
        now: what time it is.

    Raises:
        OSError: the process could not do it.
    """
    command = [sys.executable, "-m", __name__, str(folder), now.isoformat(), name, address, *dns]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)
    except subprocess.SubprocessError as error:
        said = (getattr(error, "stderr", None) or b"").decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise OSError(f"cannot make a certificate for {name!r}: {said or error}") from error


def main(arguments: Sequence[str]) -> None:
    """Make what `issue_apart` asks for."""
    from hyperkube_lib.serving.certificates import issue, make_ca, write_public

    folder, moment, name, address, *dns = arguments
    clock = FakeClock(datetime.fromisoformat(moment))
    authority = make_ca(f"{name}-ca", clock=clock)
    pair = issue(authority, name, dns=dns, ips=[address], server=True, clock=clock)
    pair.write(Path(folder) / CERTIFICATE, Path(folder) / KEY)
    write_public(Path(folder) / AUTHORITY, authority.certificate)


if __name__ == "__main__":
    main(sys.argv[1:])
