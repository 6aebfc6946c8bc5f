"""Leases that objects of one lifetime share, granted on threads where several requests take turns."""

import threading

import pytest
from hyperkube_host.apiserver.rest.services import LeasePool

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
