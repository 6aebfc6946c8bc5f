import pytest
from hyperkube_host.apiserver.storage.routed_store import RoutedStore

from hyperkube.machinery.clock import FakeClock
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import Compare, Put


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def stores(clock):
    main, events = MemoryStore(clock), MemoryStore(clock)
    yield RoutedStore(main, {"/registry/events/": events}), main, events
    main.close()
    events.close()


def test_a_key_is_in_the_store_of_its_prefix(stores):
    routed, main, events = stores

    routed.txn([Compare("/registry/events/d/a", 0)], [Put("/registry/events/d/a", b"1")])
    routed.txn([], [Put("/registry/pods/d/a", b"2")])

    assert events.get("/registry/events/d/a").value == b"1"
    assert main.get("/registry/events/d/a") is None
    assert routed.get("/registry/events/d/a").value == b"1"
    assert routed.count("/registry/events/", "/registry/events0") == 1
    assert [item.value for item in routed.range("/registry/pods/", "/registry/pods0").items] == [b"2"]


def test_a_lease_holds_in_every_store(stores, clock):
    routed, _, events = stores
    events.grant_lease(5)  # so that the names of leases differ
    lease = routed.grant_lease(10)

    routed.txn([], [Put("/registry/events/d/a", b"1", lease)])
    clock.advance(11)

    assert routed.get("/registry/events/d/a") is None


def test_nothing_is_promised_across_stores(stores):
    routed, _, _ = stores

    result = routed.txn([], [Put("/registry/events/d/a", b"1"), Put("/registry/pods/d/a", b"2")])

    assert not result.succeeded
    assert routed.get("/registry/pods/d/a") is None
