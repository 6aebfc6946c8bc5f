"""The SQLite store against its twin in memory: whatever is done to both, both answer the same."""

import tempfile
from pathlib import Path

from hyperkube_storage.sqlite import SqliteStore, live_keys
from hyperkube_storage.sqlite import store as sqlite_store
from hyperkube_storage.sqlite.live_keys import CHANGED_ROWS
from hyperkube_storage.sqlite.pages import SPARE
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from hyperkube.machinery.clock import FakeClock
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import Compare, Delete, Put, StoreError

keys = st.sampled_from(["/a", "/a/b", "/a-b", "/b", "/é", "/\U0001f600"])
values = st.binary(max_size=8)
operations = st.lists(st.builds(Put, keys, values) | st.builds(Delete, keys), min_size=1, max_size=4)
LOW, HIGH = "/", "0"


def outcome(call):
    try:
        return call()
    except (StoreError, ValueError) as error:
        return type(error), str(error)


def seen(watch, until):
    events = []
    watch.request_progress()
    try:
        for batch in watch:
            events += batch.events
            if batch.revision >= until:
                return events
    finally:
        watch.close()


class TwoStores(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.clock = FakeClock()
        self.folder = tempfile.TemporaryDirectory()
        self.sqlite = self.open()
        self.memory = MemoryStore(self.clock)

    def open(self):
        return SqliteStore(Path(self.folder.name) / "x.db", self.clock, history_seconds=0)

    @initialize(spare=st.sampled_from([0, 1, 500]), changed=st.sampled_from([1, 5000]))
    def look_at(self, spare, changed):
        """However few keys a page of the past looks at beyond its own, and a table of live keys is for: all is the same."""
        sqlite_store.SPARE = spare
        sqlite_store.CHANGED_ROWS = live_keys.CHANGED_ROWS = changed

    def both(self, call):
        one, other = outcome(lambda: call(self.sqlite)), outcome(lambda: call(self.memory))
        assert one == other
        return one

    def some_revision(self, back):
        return max(self.memory.revision() - back, 1)

    @rule(success=operations, key=keys, right=st.booleans())
    def txn(self, success, key, right):
        item = self.memory.get(key)
        revision = (item.mod_revision if item else 0) + (not right)
        self.both(lambda store: store.txn([Compare(key, revision)], success))

    @rule(key=keys, back=st.integers(0, 6))
    def get(self, key, back):
        self.both(lambda store: store.get(key, revision=self.some_revision(back)))

    @rule(start=keys, limit=st.integers(0, 3), back=st.integers(-1, 6), keys_only=st.booleans())
    def range(self, start, limit, back, keys_only):
        def read(store):
            found = store.range(start, HIGH, limit=limit, revision=self.some_revision(back), keys_only=keys_only)
            return list(found.items), found.revision, found.count, found.more

        self.both(read)

    @rule(back=st.integers(0, 8))
    def watch(self, back):
        after = self.some_revision(back)
        self.both(lambda store: seen(store.watch(LOW, HIGH, revision=after), store.revision()))

    @rule(back=st.integers(0, 5))
    def compact(self, back):
        self.both(lambda store: store.compact(self.some_revision(back)))

    @rule()
    def reopen(self):
        self.sqlite.close()
        self.sqlite = self.open()

    @invariant()
    def the_present_is_the_same(self):
        self.both(lambda store: (store.revision(), store.count(LOW, HIGH), list(store.range(LOW, HIGH).items)))

    def teardown(self):
        sqlite_store.SPARE = SPARE
        sqlite_store.CHANGED_ROWS = live_keys.CHANGED_ROWS = CHANGED_ROWS
        self.sqlite.close()
        self.memory.close()
        self.folder.cleanup()


TwoStores.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
TestTwoStores = TwoStores.TestCase
