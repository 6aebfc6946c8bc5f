"""Large lists keep their seat while they are sent."""

import threading

import pytest
from hyperkube_host.apiserver.pipeline import handler
from hyperkube_host.apiserver.serializer import list_pieces
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest, StreamResponse
from hyperkube_lib.serving.finite_streams import gathered

from hyperkube.storage.memory import MemoryStore

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setattr(list_pieces, "LARGE", 1)
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("sesame,alice,7,dev\n")
    flags = {
        "admission-control": ["AlwaysAdmit"],
        "authorization-mode": ["AlwaysAllow"],
        "token-auth-file": str(tokens),
    }
    server = ApiServer(options=flags, store=MemoryStore())
    server.start()
    yield server
    server.close()


def listed(server):
    answer = server.handler.handle(
        HttpRequest(method="GET", path="/api/v1/namespaces", headers={"authorization": "Bearer sesame"})
    )
    assert isinstance(answer, StreamResponse)
    return answer


def seats(server):
    return server.handler.limits.current()["readOnly"]


def test_a_seat_is_given_back_when_the_list_was_sent(server):
    answer = listed(server)
    during = seats(server)

    gathered(answer)

    assert (during, seats(server)) == (1, 0)


def test_a_list_is_counted_when_it_was_sent(server):
    def counted():
        text = server.handler._metrics.text().decode()
        return [line for line in text.splitlines() if line.startswith("apiserver_request_total") and "LIST" in line]

    before = counted()
    answer = listed(server)
    during = counted()

    gathered(answer)

    assert before == during
    assert len(counted()) == len(before) + 1


def test_a_seat_is_given_back_once(server):
    first, second = listed(server), listed(server)

    first.source.close()
    first.source.close()

    assert seats(server) == 1
    second.source.close()
    assert seats(server) == 0


def test_a_client_that_takes_too_long_keeps_no_seat(server, monkeypatch):
    monkeypatch.setattr(handler, "SEAT_SECONDS", 0.01)
    answer = listed(server)
    for _ in range(500):
        if not seats(server):
            break
        threading.Event().wait(0.01)

    assert seats(server) == 0
    gathered(answer)
    assert seats(server) == 0
