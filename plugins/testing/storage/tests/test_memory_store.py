import pytest
from hyperkube_testing.storage.forks import ForkPromises
from hyperkube_testing.storage.queued_writes import QueuedWritePromises
from hyperkube_testing.storage.store import StoreContract

from hyperkube.machinery.clock import FakeClock
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import Put


class TestMemoryStore(QueuedWritePromises, ForkPromises, StoreContract):
    @pytest.fixture
    def clock(self):
        return FakeClock()

    @pytest.fixture
    def pass_time(self, clock):
        return clock.advance

    @pytest.fixture
    def open_store(self, clock):
        return lambda: MemoryStore(clock)

    def test_a_subscriber_hears_of_a_write_before_its_writer(self, store):
        heard = []
        subscription = store.subscribe("/a", "/b", heard.append)

        revision = store.txn([], [Put("/a/x", b"v"), Put("/c", b"v")]).revision

        assert [(batch.revision, [event.key for event in batch.events]) for batch in heard] == [(revision, ["/a/x"])]
        subscription.close()

    def test_a_closed_subscription_hears_nothing(self, store):
        heard = []
        store.subscribe("/a", "/b", heard.append).close()

        store.txn([], [Put("/a/x", b"v")])

        assert heard == []
