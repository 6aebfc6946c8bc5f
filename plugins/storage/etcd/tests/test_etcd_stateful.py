"""The etcd store against its twin in memory: whatever is done to both, both answer the same, over crashes of etcd too.

Revisions differ, as etcd counts what others write; they are compared through the transactions that made them.
"""

import itertools

import pytest
from hyperkube_storage.etcd import EtcdStore
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import Compare, Delete, Put, StoreError, StoreUnavailable

pytestmark = [pytest.mark.etcd, pytest.mark.slow]

NAMES = ["a", "a/b", "a-b", "b", "é", "\U0001f600"]
names = st.sampled_from(NAMES)
values = st.binary(max_size=8)
operations = st.lists(st.builds(Put, names, values) | st.builds(Delete, names), min_size=1, max_size=4)
_folders = itertools.count()


def until_etcd_answers(call):
    clock = SystemClock()
    deadline = clock.monotonic() + 60
    while True:
        try:
            return call()
        except StoreUnavailable:
            if clock.monotonic() > deadline:
                raise
            clock.sleep(0.05)


class TwoStores(RuleBasedStateMachine):
    """Each run has a folder of keys of its own."""

    server = None  # an EtcdServer, set by the test

    def __init__(self):
        super().__init__()
        self.folder = f"/stateful-{next(_folders)}/"
        self.end = self.folder[:-1] + "0"
        self.etcd, self.memory = self.open(), MemoryStore(FakeClock())
        self.revisions = [(self.etcd.revision(), self.memory.revision())]

    def open(self):
        return EtcdStore(self.server.access, history_seconds=0)

    def in_memory(self, revision):
        """Return the twin's revision for one of etcd's that a transaction made."""
        return dict(self.revisions)[revision]

    def plain(self, item):
        return item and (item.key, item.value, item.create_revision, item.mod_revision, item.version)

    def plain_etcd(self, item):
        if item is None:
            return None
        created, modified = self.in_memory(item.create_revision), self.in_memory(item.mod_revision)
        return item.key, item.value, created, modified, item.version

    def both(self, call):
        """Make a call on each store with the index of each in a pair of revisions; return both outcomes."""

        def outcome(store, side, plain):
            try:
                return call(store, side, plain)
            except (StoreError, ValueError) as error:
                return type(error).__name__

        one, other = outcome(self.etcd, 0, self.plain_etcd), outcome(self.memory, 1, self.plain)
        assert one == other

    def some(self, back):
        return self.revisions[max(len(self.revisions) - 1 - back, 0)]

    @rule(success=operations, name=names, right=st.booleans())
    def txn(self, success, name, right):
        changes = [
            Put(self.folder + one.key, one.value) if isinstance(one, Put) else Delete(self.folder + one.key)
            for one in success
        ]
        made = [0, 0]

        def write(store, side, plain):
            item = store.get(self.folder + name)
            revision = (item.mod_revision if item else 0) + (not right) * 10**6
            result = store.txn([Compare(self.folder + name, revision)], changes)
            made[side] = store.revision()
            return result.succeeded, [plain(current) for current in result.current]

        self.both(write)
        if tuple(made) != self.revisions[-1]:
            self.revisions.append(tuple(made))

    @rule(name=names, back=st.integers(0, 6))
    def get(self, name, back):
        self.both(lambda store, side, plain: plain(store.get(self.folder + name, revision=self.some(back)[side])))

    @rule(name=names, limit=st.integers(0, 3), back=st.integers(0, 6), keys_only=st.booleans())
    def range(self, name, limit, back, keys_only):
        def read(store, side, plain):
            at = self.some(back)[side]
            found = store.range(self.folder + name, self.end, limit=limit, revision=at, keys_only=keys_only)
            return [plain(item) for item in found.items], found.count, found.more

        self.both(read)

    @rule(back=st.integers(0, 8), crash=st.booleans())
    def watch(self, back, crash):
        """Read a watch to the end, which may be interrupted."""

        def read(store, side, plain):
            watch, until, events = (
                store.watch(self.folder, self.end, revision=self.some(back)[side]),
                store.revision(),
                [],
            )
            if crash and side == 0:
                self.crash()
            try:
                until_etcd_answers(watch.request_progress)
                for batch in watch:
                    events += [(event.key, plain(event.current), plain(event.previous)) for event in batch.events]
                    if batch.revision >= until:
                        return events
            finally:
                watch.close()

        self.both(read)

    @precondition(lambda self: len(self.revisions) > 3)
    @rule(back=st.integers(1, 5))
    def compact(self, back):
        """Forget history, never up to the newest revision: an etcd before 3.4.33 that is killed then may count back.

        See etcd-io/etcd issue 17780.
        """
        self.both(lambda store, side, _: store.compact(self.some(back)[side]))

    @rule()
    def crash(self):
        self.server.stop()
        self.server.start()
        until_etcd_answers(self.etcd.revision)

    @rule()
    def reconnect(self):
        self.etcd.close()
        self.etcd = self.open()

    @invariant()
    def the_present_is_the_same(self):
        def present(store, _, plain):
            return store.count(self.folder, self.end), [
                plain(item) for item in store.range(self.folder, self.end).items
            ]

        self.both(present)

    def teardown(self):
        self.etcd.close()
        self.memory.close()


def test_etcd_and_the_twin_in_memory_answer_the_same(start_etcd):
    server = start_etcd()

    class OnThisServer(TwoStores):
        pass

    OnThisServer.server = server
    run_state_machine_as_test(
        OnThisServer,
        settings=settings(
            max_examples=6,
            stateful_step_count=15,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
            phases=[Phase.generate],  # a server that was killed is not what it was: nothing can be shrunk
        ),
    )
