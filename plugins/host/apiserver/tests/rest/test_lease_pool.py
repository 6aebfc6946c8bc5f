"""Leases that objects of one lifetime share, granted on threads where several requests take turns."""

import threading

import pytest
from hyperkube_host.apiserver.rest.services import LEASE_OBJECTS, LeasePool

from hyperkube.machinery.clock import FakeClock
from hyperkube.storage.memory import MemoryStore

HOUR, MINUTE = 3600, 60


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def store(clock):
    return MemoryStore(clock)


def test_a_lease_is_shared_for_a_while(store, clock):
    pool = LeasePool(store, clock, MINUTE)

    first, soon = pool.lease(HOUR), pool.lease(HOUR)
    clock.advance(MINUTE)

    assert first == soon != pool.lease(HOUR)
    assert pool.lease(HOUR) != pool.lease(2 * HOUR)


def test_a_lease_is_not_shared_by_more_objects_than_the_store_may_delete_at_once(store, clock):
    pool = LeasePool(store, clock, MINUTE)

    leases = [pool.lease(HOUR) for _ in range(2 * LEASE_OBJECTS + 1)]

    assert [leases.count(lease) for lease in dict.fromkeys(leases)] == [LEASE_OBJECTS, LEASE_OBJECTS, 1]


def test_while_one_is_granted_the_next_request_of_the_same_thread_has_its_turn(store, clock):
    """A write to the store lets others on its thread go on: whatever is locked meanwhile would stay so for ever."""
    pool, granted = LeasePool(store, clock, MINUTE), []
    grant = store.grant_lease

    def grant_with_a_turn_between(seconds):
        if not granted:
            granted.append(0)
            granted.append(pool.lease(HOUR))
        return grant(seconds)

    store.grant_lease = grant_with_a_turn_between
    thread = threading.Thread(target=lambda: granted.append(pool.lease(HOUR)), daemon=True)
    thread.start()
    thread.join(20)

    assert not thread.is_alive()
    assert len(set(granted)) == 3
