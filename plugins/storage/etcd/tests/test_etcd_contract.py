import pytest
from hyperkube_storage.etcd import Access, EtcdStore
from hyperkube_testing.storage.queued_writes import QueuedWritePromises
from hyperkube_testing.storage.store import DurableStoreContract

from hyperkube.storage.store import Delete

pytestmark = [pytest.mark.etcd, pytest.mark.slow]


def wipe(store):
    for item in store.range("", "\U0010ffff", keys_only=True).items:
        store.txn([], [Delete(item.key)])


class TestEtcdStore(QueuedWritePromises, DurableStoreContract):
    @pytest.fixture
    def open_store(self, etcd):
        def open_one():
            return EtcdStore(Access([etcd.url]), history_seconds=0)

        store = open_one()
        wipe(store)
        store.close()
        return open_one
