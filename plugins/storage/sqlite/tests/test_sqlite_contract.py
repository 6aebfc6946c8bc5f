import pytest
from hyperkube_storage.sqlite import SqliteStore
from hyperkube_testing.storage.forks import ForkPromises
from hyperkube_testing.storage.queued_writes import QueuedWritePromises
from hyperkube_testing.storage.store import DurableStoreContract

from hyperkube.machinery.clock import FakeClock, SystemClock


class TestSqliteStore(QueuedWritePromises, ForkPromises, DurableStoreContract):
    @pytest.fixture
    def clock(self):
        return FakeClock()

    @pytest.fixture
    def pass_time(self, clock):
        def advance(seconds):
            clock.advance(seconds)
            SystemClock().sleep(0.03)

        return advance

    @pytest.fixture
    def open_store(self, tmp_path, clock):
        return lambda: SqliteStore(tmp_path / "data" / "storage.db", clock, history_seconds=0)
