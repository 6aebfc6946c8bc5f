"""Members that went silent."""

from types import SimpleNamespace

import grpc
import pytest
from hyperkube_storage.etcd.pulse import Pulse

from hyperkube.machinery.clock import FakeClock


class Failure(grpc.RpcError):
    def __init__(self, code):
        super().__init__()
        self.code = lambda: grpc.StatusCode[code]


class Client:
    """A connection whose member answers status and read with nothing, or fails with these codes."""

    metadata = ()

    def __init__(self, status=None, read=None):
        self.status, self.read = status, read
        self.maintenancestub = SimpleNamespace(Status=SimpleNamespace(future=lambda *_, **__: self.call(self.status)))
        self.kvstub = SimpleNamespace(Range=SimpleNamespace(future=lambda *_, **__: self.call(self.read)))

    @staticmethod
    def call(code):
        if code == "closed":
            raise ValueError("Cannot invoke RPC on closed channel!")
        return SimpleNamespace(exception=lambda: Failure(code) if code else None)


class Record:
    def __init__(self, *, alone=False):
        self.ended = []
        self.pulse = Pulse(FakeClock(), self.ended.append, alone=alone)


@pytest.fixture
def record():
    record = Record()
    yield record
    record.pulse.close()


def test_who_answers_is_kept(record):
    client = Client()
    record.pulse.follow(client)

    record.pulse.round()

    assert record.ended == []


def test_a_refusal_is_an_answer(record):
    client = Client("PERMISSION_DENIED", "PERMISSION_DENIED")
    record.pulse.follow(client)

    record.pulse.round()

    assert record.ended == []


@pytest.mark.parametrize("code", ["UNAVAILABLE", "DEADLINE_EXCEEDED"])
def test_who_has_no_status_is_ended_and_asked_no_more(record, code):
    client = Client(code, code)
    record.pulse.follow(client)

    record.pulse.round()
    record.pulse.round()

    assert record.ended == [client]


def test_who_is_cut_off_from_the_others_is_ended(record):
    client = Client(None, "DEADLINE_EXCEEDED")
    record.pulse.follow(client)

    record.pulse.round()

    assert record.ended == [client]


def test_a_new_leader_is_no_reason_to_end(record):
    client = Client(None, "UNAVAILABLE")  # etcdserver: leader changed
    record.pulse.follow(client)

    record.pulse.round()

    assert record.ended == []


def test_an_only_member_may_be_slow():
    record = Record(alone=True)
    client = Client(None, "DEADLINE_EXCEEDED")
    record.pulse.follow(client)

    record.pulse.round()

    assert record.ended == []
    record.pulse.close()


def test_a_closed_connection_is_forgotten(record):
    client = Client("closed")
    record.pulse.follow(client)

    record.pulse.round()
    client.status = "UNAVAILABLE"
    record.pulse.round()

    assert record.ended == []
