"""The server that many tests here ask: it admits and allows everything."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hyperkube_host.apiserver.server import ApiServer

from hyperkube.storage.memory import MemoryStore

OPEN = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}


@pytest.fixture(scope="module")
def server() -> Iterator[ApiServer]:
    """Start a server on an empty store in memory, one for a module; modules fill it, or have one of their own."""
    server = ApiServer(options=OPEN, store=MemoryStore())
    server.start()
    yield server
    server.close()
