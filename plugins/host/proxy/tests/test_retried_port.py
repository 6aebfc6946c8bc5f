"""A port that is taken is tried again, unless that is to end the proxy."""

import socket
from http.client import HTTPConnection

import pytest
from hyperkube_host.proxy.command import _listen
from hyperkube_host.proxy.retried_port import RetriedPort
from hyperkube_lib.serving.component import OpenPort
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import Response

from hyperkube.command.lifecycle import Lifecycle
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import UsageError
from hyperkube.testing.waiting import eventually


@pytest.fixture
def taken():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def edge(listener):
    return Edge(OpenPort(lambda _request: Response(body=b"ok")), host="127.0.0.1", port=listener.getsockname()[1])


def answers(port):
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().read() == b"ok"
    except OSError:
        return False
    finally:
        connection.close()


def test_it_is_served_once_the_address_is_free(taken, caplog):
    clock, port = FakeClock(), taken.getsockname()[1]
    with Lifecycle() as life:
        life.start("the health port", RetriedPort("the health port", edge(taken), clock))
        told = caplog.text
        taken.close()
        eventually(lambda: clock.advance(5) or answers(port))

    assert "the health port is not served: cannot listen on '127.0.0.1'" in told
    assert not answers(port)


def test_an_end_waits_for_nothing(taken):
    with Lifecycle() as life:
        life.start("the health port", RetriedPort("the health port", edge(taken), FakeClock()))


class Options:
    values = {"bind-address-hard-fail": True}  # noqa: RUF012  read only


def test_with_hard_fail_it_ends_the_proxy(taken):
    with Lifecycle() as life, pytest.raises(UsageError, match="cannot listen"):
        _listen(life, "the health port", edge(taken), Options())
