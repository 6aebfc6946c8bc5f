"""What the service manager hears of a server, and that a deaf one is no reason to end."""

from __future__ import annotations

import socket
from uuid import uuid4

import pytest
from hyperkube_lib.component_base.service_manager import READY, notify


@pytest.fixture(params=["path", "abstract"])
def manager(request, tmp_path):
    """Return a socket that listens as systemd does, and what NOTIFY_SOCKET says of it."""
    name = str(tmp_path / "notify") if request.param == "path" else f"@hyperkube-{uuid4()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(name.replace("@", "\0"))
        listening.settimeout(5)
        yield listening, name


def test_it_hears_that_the_server_is_ready(manager):
    listening, name = manager

    assert notify(READY, {"NOTIFY_SOCKET": name})
    assert listening.recv(100) == b"READY=1"


def test_without_one_nothing_is_told():
    assert not notify(READY, {})


def test_one_that_is_gone_is_no_reason_to_end(tmp_path, caplog):
    assert not notify(READY, {"NOTIFY_SOCKET": str(tmp_path / "gone")})
    assert "cannot tell the service manager READY=1: No such file or directory" in caplog.text
