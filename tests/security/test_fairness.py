"""A user who asks for as much as the connection bears does not keep the others waiting."""

import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hostile_client import HEAD, LONGEST_WAIT, Hostile, Stopwatch, World, cheap, request

MAPS = "/api/v1/namespaces/a/configmaps"
READER = HEAD + b"Authorization: Bearer token-reader\r\n"
CREATE = request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", b"Content-Type: application/json",
                 credentials=READER, body=b"{}")  # fmt: skip
FLOODS = {
    "lists": request("GET", MAPS, credentials=READER),
    "writes": CREATE,
    "one object": request("GET", f"{MAPS}/m", credentials=READER),
}
STATUS = b"HTTP/1.1 20"
CONNECTIONS, PIPELINED, ASKED = 6, 40, 15


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("fairness"))
    hostile = Hostile(world)
    for number in range(200):
        hostile.ask("POST", MAPS, {"metadata": {"name": f"map-{number}"}, "data": {"text": "x" * 1000}})
    yield hostile
    world.close()


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
@pytest.mark.parametrize(("method", "path"), [("GET", f"{MAPS}/m"), ("POST", MAPS)], ids=["reads", "writes"])
def test_another_user_is_answered_beside_a_flood(hostile, flood, method, path):
    ended = threading.Event()

    def send():
        with hostile.connect() as connection:
            while not ended.is_set():
                connection.sendall(flood * PIPELINED)
                answered, tail = 0, b""
                while answered < PIPELINED:
                    piece = tail + connection.recv(1 << 20)
                    assert len(piece) > len(tail), "the server hung up"
                    answered += piece.count(STATUS)
                    tail = piece[1 - len(STATUS) :]

    threads = [threading.Thread(target=send) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    try:
        waits = []
        for _ in range(ASKED):
            stopwatch = Stopwatch()
            body = {"metadata": {"generateName": "w-"}} if method == "POST" else None
            status, _ = hostile.ask(method, path, body)
            waits.append(stopwatch.seconds())
            assert status in {200, 201}
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert cheap(sorted(waits)[len(waits) // 2], LONGEST_WAIT)
