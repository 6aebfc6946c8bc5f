"""Leases, whose keys are deleted in the background when they end."""

import threading

import pytest
from hyperkube_storage.sqlite import SqliteStore
from hyperkube_storage.sqlite.maintenance import KEYS_AT_A_TIME

from hyperkube.machinery.clock import FakeClock
from hyperkube.storage.store import Put
from hyperkube.testing.waiting import eventually as until


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "storage.db"


def test_a_lease_goes_on_ending_while_the_store_is_closed(path):
    clock = FakeClock()
    store = SqliteStore(path, clock)
    store.txn([], [Put("/a", b"v", store.grant_lease(10)), Put("/b", b"v", store.grant_lease(100))])
    store.close()
    clock.advance(11)

    store = SqliteStore(path, clock)

    assert until(lambda: store.get("/a") is None)
    assert store.get("/b") is not None
    store.close()


def test_the_keys_of_a_lease_are_deleted_in_steps_between_which_others_write(path):
    clock = FakeClock()
    store = SqliteStore(path, clock, history_seconds=0)
    lease, keys = store.grant_lease(10), 3 * KEYS_AT_A_TIME + 1
    for number in range(keys):
        store.txn([], [Put(f"/events/{number:04}", b"v", lease)])
    steps, written = [], []
    watch = store.subscribe("/events/", "/events0", lambda batch: steps.extend([len(batch.events)] * any(batch.events)))
    others = store.subscribe("/others/", "/others0", lambda batch: written.extend([len(steps)] * any(batch.events)))

    def write():
        while len(steps) < 4:
            store.txn([], [Put("/others/a", b"v")])

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    clock.advance(11)

    assert until(lambda: store.count("/events/", "/events0") == 0)
    writer.join(30)
    assert steps == [KEYS_AT_A_TIME] * 3 + [1]
    assert {1, 2, 3} <= set(written)
    assert until(lambda: store.next_lease_end() is None)
    watch.close()
    others.close()
    store.close()


def test_a_lease_that_had_ended_in_part_ends_when_the_store_is_opened_again(path):
    clock = FakeClock()
    store = SqliteStore(path, clock, history_seconds=0)
    lease = store.grant_lease(10)
    for number in range(5):
        store.txn([], [Put(f"/{number}", b"v", lease)])
    store._maintenance.close()
    clock.advance(11)
    assert store.end_lease(3)
    store.close()

    store = SqliteStore(path, clock, history_seconds=0)

    assert until(lambda: store.count("/", "0") == 0)
    assert until(lambda: store.next_lease_end() is None)
    store.close()
