"""Whose process is at the other end of a connection."""

import os
import socket

import pytest
from hyperkube_lib.console.machine_user import user_of


@pytest.fixture
def line():
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        served, peer = listener.accept()
        with served:
            yield client, peer, listener.getsockname()


def test_a_connection_is_its_users(line):
    _, peer, own = line

    assert user_of(peer, own) == os.geteuid()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has sockets of other users")
def test_also_another_ones(line):
    client, peer, own = line
    os.fchown(client.fileno(), 65534, -1)

    assert user_of(peer, own) == 65534


def test_one_that_was_closed_is_no_ones(line):
    client, peer, own = line
    client.close()

    assert user_of(peer, own) is None


@pytest.mark.parametrize("peer", [("", 0), ("::1", 80), ("127.0.0.1", 0), ("127.0.0.1", 70000), ("127.0.0.1", -1)])
def test_what_is_no_connection_is_no_ones(line, peer):
    assert user_of(peer, line[2]) is None
