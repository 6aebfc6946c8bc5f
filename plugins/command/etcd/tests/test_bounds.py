"""What a client may ask of the server, and how it is refused what it may not, without etcdctl."""

import errno
import socket
import urllib.request

import pytest
from hyperkube_command.etcd import watch_stream
from hyperkube_command.etcd.front import Front
from hyperkube_command.etcd.keys import LAST, key_range
from hyperkube_command.etcd.kv import KV, MOST_OPERATIONS
from hyperkube_command.etcd.services import Services
from hyperkube_command.etcd.watch_stream import WatchStream
from hyperkube_lib.grpc_messages import RpcFailed
from hyperkube_testing.peers.ports import free_port

from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.storage.memory import MemoryStore

SECONDS = 60
PUT = {"request_put": {"key": b"k", "value": b"v"}}


@pytest.fixture
def kv():
    clock = FakeClock()
    store = MemoryStore(clock)
    served = KV(store, clock)
    yield served
    served.close()
    store.close()


@pytest.mark.parametrize("part", ["compare", "success", "failure"])
def test_a_transaction_has_a_hundred_and_twenty_eight_operations_at_most(kv, part):
    with pytest.raises(RpcFailed, match="etcdserver: too many operations in txn request"):
        kv.txn({part: [PUT] * (MOST_OPERATIONS + 1)})


def test_an_operation_that_is_none_is_refused(kv):
    with pytest.raises(RpcFailed, match="etcdserver: key not found"):
        kv.txn({"success": [{}]})


def test_a_negative_limit_or_revision_is_none(kv):
    for key in (b"a1", b"a2"):
        kv.put({"key": key, "value": b"x"})

    found = kv.range({"key": b"a", "range_end": b"b", "limit": -1, "revision": -5})

    assert [item["key"] for item in found["kvs"]] == [b"a1", b"a2"]


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("\ud7fe".encode()[:-1] + b"\xc0", "\ue000"),
        ("\U0010ffff".encode()[:-1] + b"\xc0", LAST),
        ("é".encode()[:-1] + b"\xc0", "\u0100"),
    ],
    ids=["before-the-surrogates", "last", "accent"],
)
def test_the_end_of_a_prefix_is_a_text(end, expected):
    # The last byte of each prefix is 0xbf, and so one more is no UTF-8.
    assert key_range({"key": b"a", "range_end": end}).end == expected


def test_an_end_that_is_no_text_is_refused():
    with pytest.raises(RpcFailed, match="keys must be UTF-8"):
        key_range({"key": b"a", "range_end": b"\xff\x00"})


def test_a_lease_lasts_no_longer_than_etcds(kv):
    grant = Services(kv, "default", [], lambda: 0).unary()["Lease"]["LeaseGrant"]

    assert grant({"TTL": 9_000_000_000})["TTL"] == 9_000_000_000
    with pytest.raises(RpcFailed, match="etcdserver: too large lease TTL"):
        grant({"TTL": 2**62})


def test_watches_of_a_stream_are_bounded_and_have_ids_of_their_own(kv, monkeypatch):
    monkeypatch.setattr(watch_stream, "MOST_WATCHES", 2)
    ids = (7, 7, 8, 9)

    told = list(WatchStream(kv).responses([{"create_request": {"key": b"k", "watch_id": number}} for number in ids]))

    assert [answer["watch_id"] for answer in told] == [7, -1, 8, -1]
    assert told[1]["cancel_reason"] == "mvcc: duplicate watch ID provided on the WatchStream"
    assert "watches at most" in told[3]["cancel_reason"]


class ShortOnce(socket.socket):
    """A listener that has no descriptor to give the first time."""

    was_short = False

    def accept(self):
        if not self.was_short:
            self.was_short = True
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


def test_a_server_that_ran_short_of_descriptors_listens_on(monkeypatch):
    address = ("127.0.0.1", free_port())
    listener = ShortOnce(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(address)
    listener.listen()
    monkeypatch.setattr(socket, "create_server", lambda *_args, **_how: listener)
    front = Front([address], "/nowhere", "3.5.9", lambda: True, SystemClock())
    front.start()
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{address[1]}/health", timeout=SECONDS) as answer:
            assert answer.status == 200
    finally:
        front.close()
    assert listener.was_short
