import pytest
from hyperkube_storage.memory import Memory

from hyperkube.machinery.clock import FakeClock
from hyperkube.plugin import PluginContext
from hyperkube.storage.store import Compacted, Put


def test_it_opens_an_empty_store():
    store = Memory(PluginContext(name="memory")).storage_open()

    assert store.count("", "\U0010ffff") == 0
    store.close()


@pytest.mark.parametrize("told", [{"history_seconds": 10}, {"etcd_compaction_interval": 10.0}], ids=str)
def test_it_forgets_history_after_the_time_set(told):
    clock = FakeClock()
    store = Memory(PluginContext(name="memory", clock=clock, settings=told)).storage_open()
    store.txn([], [Put("/registry/a", b"1")])
    first = store.revision()
    clock.advance(10)
    store.txn([], [Put("/registry/a", b"2")])

    clock.advance(20)

    with pytest.raises(Compacted):
        store.get("/registry/a", revision=first)
    store.close()
