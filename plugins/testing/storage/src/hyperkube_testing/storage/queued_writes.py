# ruff: noqa: D102 - tests, whose names are their docstrings
"""What a Store promises that commits several writes of one thread at once: mix `QueuedWritePromises` into its contract.

::

    class TestMyStore(QueuedWritePromises, StoreContract):
        ...
"""

from __future__ import annotations

import threading

from hyperkube_testing.storage.steps import PREFIX, StoreFixtures, names, put

from hyperkube.storage.store import Compare, LeaseNotFound, Put, QueuesWrites, Store, TxnResult


def _alone(store: Store, write: list[tuple[list[Compare], list[Put]]]) -> list[TxnResult | LeaseNotFound]:
    """Return what becomes of writes on a thread that commits each where it would pause, and of one afterwards."""
    found: list[TxnResult | LeaseNotFound] = []

    assert isinstance(store, QueuesWrites)
    queueing = store

    def commit() -> None:
        queueing.take_queued()()

    def run() -> None:
        queueing.queue_writes(commit)
        for compare, success in write:
            try:
                found.append(store.txn(compare, success))
            except LeaseNotFound as error:
                found.append(error)
        queueing.queue_no_more()
        found.append(store.txn([], [Put(PREFIX + "last", b"0")]))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    return found


class QueuedWritePromises(StoreFixtures):
    """The promises of `QueuesWrites`."""

    def test_queued_writes_are_transactions_of_their_own_in_order(self, store: Store) -> None:
        first = put(store, "a")

        found = _alone(
            store,
            [
                ([Compare(PREFIX + "b", 0)], [Put(PREFIX + "b", b"1")]),
                ([Compare(PREFIX + "a", first + 5)], [Put(PREFIX + "a", b"2")]),
                ([], [Put(PREFIX + "c", b"3", lease=999_999)]),
                ([Compare(PREFIX + "a", first)], [Put(PREFIX + "a", b"4")]),
            ],
        )

        results = [result for result in found if isinstance(result, TxnResult)]
        assert [(result.succeeded, result.revision) for result in results] == [
            (True, first + 1),
            (False, first + 1),
            (True, first + 2),
            (True, first + 3),
        ]
        assert isinstance(found[2], LeaseNotFound)
        assert names(store) == ["a", "b", "last"]

    def test_other_threads_write_as_before(self, store: Store) -> None:
        _alone(store, [([], [Put(PREFIX + "a", b"1")])])

        put(store, "b")

        assert names(store) == ["a", "b", "last"]
