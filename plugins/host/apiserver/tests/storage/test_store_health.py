"""What is asked of the store for health checks and metrics."""

import threading

import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_host.apiserver.storage.store_health import (
    Polled,
    StoreAnswers,
    object_counts,
    store_sizes,
    wait_for_store,
)

from hyperkube.kinds.resources import CONFIG_MAPS
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.users import UserInfo
from hyperkube.storage.store import StoreUnavailable

ADMIN = UserInfo("admin", "", ("system:masters",))


class StartingStore:
    """Answers from its third question on."""

    def __init__(self, refusals):
        self.refusals = refusals

    def revision(self):
        if self.refusals:
            self.refusals -= 1
            raise StoreUnavailable("connection refused")
        return 7


def test_a_server_that_starts_waits_for_its_store(caplog):
    wait_for_store(StartingStore(2), SystemClock(), 20.0)

    assert [record.getMessage() for record in caplog.records] == ["waiting for the store: connection refused"]


def test_a_server_without_a_store_ends_with_one_line():
    with pytest.raises(UsageError, match=r"^the store does not answer within 0 s: connection refused$"):
        wait_for_store(StartingStore(2), SystemClock(), 0)


def test_an_answer_passes():
    assert StoreAnswers(lambda: 7, SystemClock(), 60).passes()


def test_a_refusal_is_passed_on():
    def refuse():
        raise StoreUnavailable("away")

    with pytest.raises(StoreUnavailable, match="away"):
        StoreAnswers(refuse, SystemClock(), 60).passes()


def test_a_silent_store_is_asked_once_and_fails_in_time():
    gate, asked = threading.Event(), []

    def ask():
        asked.append(1)
        assert gate.wait(60)

    answers = StoreAnswers(ask, SystemClock(), 0.01)
    for _ in range(3):
        with pytest.raises(StoreUnavailable, match=r"does not answer within 0\.01 s"):
            answers.passes()
    gate.set()

    assert asked == [1]


def test_objects_are_counted_once_in_a_while():
    pytest.importorskip("hyperkube_storage.memory")
    clock = FakeClock()
    server = ApiServer(options={"storage-backend": "memory", "disable-admission-plugins": "ServiceAccount"})
    server.start()
    counts, never = (Polled(lambda: object_counts(server.registry), clock, seconds) for seconds in (30, 0))

    def counted():
        line = b'apiserver_storage_objects{resource="configmaps"} '
        found = [text.removeprefix(line) for text in counts.text().splitlines() if text.startswith(line)]
        return [int(text) for text in found]

    before = counted()
    made = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "c", "namespace": "default"}}
    server.client(ADMIN).create(CONFIG_MAPS, made, namespace="default")
    at_once = counted()
    clock.advance(30)
    later = counted()
    server.close()

    assert at_once == before
    assert later == [before[0] + 1]
    assert never.text() == b""


def test_a_store_that_does_not_answer_is_not_measured():
    def fail():
        raise StoreUnavailable("away")

    assert Polled(fail, FakeClock(), 30).text() == b""


def test_stores_that_know_their_size_tell_it():
    class Sized:
        def size(self):
            return 4096

    assert store_sizes([object(), Sized()])[2:] == ['apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} 4096']
    assert store_sizes([object()]) == []
