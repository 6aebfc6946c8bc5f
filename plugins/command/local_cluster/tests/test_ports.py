"""Whether ports can be bound, and which one is free."""

import socket

import pytest
from hyperkube_command.local_cluster.ports import free_port, refusal

from hyperkube.machinery.errors import UsageError


@pytest.fixture
def taken():
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


def test_a_taken_port_is_refused_with_the_systems_words(taken):
    assert refusal("127.0.0.1", taken) == "Address already in use"


def test_a_free_port_is_not_refused(taken):
    assert refusal("127.0.0.1", free_port("127.0.0.1", 0)) == ""


def test_another_port_takes_the_place_of_one_that_is_taken(taken):
    assert free_port("127.0.0.1", taken) not in {0, taken}


def test_an_address_of_another_machine_has_none():
    with pytest.raises(UsageError, match=r"cannot listen on 203\.0\.113\.1"):
        free_port("203.0.113.1", 0)
