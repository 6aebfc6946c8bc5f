"""The table's lock: news never waits for it, and is there for the thread that takes it next."""

import threading

import pytest

pytest.importorskip("numpy")

from hyperkube_host.scheduler.cache.cache import SchedulerCache
from hyperkube_host.scheduler.cache.table_lock import TableLock
from hyperkube_testing.scheduling.tables import node


def elsewhere(call):
    """Make a call on another thread; return once it has ended."""
    thread = threading.Thread(target=call)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()


def test_with_the_lock_free_work_is_done_at_once():
    lock, done = TableLock(), []

    lock.do_or_leave(lambda: done.append(1))

    assert done == [1]


def test_work_that_finds_it_taken_is_left_to_the_next_holder_in_order():
    lock, done = TableLock(), []
    with lock:
        for number in range(3):
            elsewhere(lambda number=number: lock.do_or_leave(lambda: done.append(number)))
        with lock:  # a holder that takes it again finds what it found before
            assert done == []

    with lock:
        assert done == [0, 1, 2]


def test_what_was_left_is_done_before_what_comes_later():
    lock, done = TableLock(), []
    with lock:
        elsewhere(lambda: lock.do_or_leave(lambda: done.append("earlier")))

    lock.do_or_leave(lambda: done.append("later"))

    assert done == ["earlier", "later"]


def test_an_error_of_what_was_left_does_not_hit_the_holder(caplog):
    lock, done, nothing = TableLock(), [], {}
    with lock:
        elsewhere(lambda: lock.do_or_leave(lambda: nothing["key"]))
        elsewhere(lambda: lock.do_or_leave(lambda: done.append(1)))

    with lock:
        assert done == [1]

    assert "could not be taken in" in caplog.text
    elsewhere(lambda: lock.do_or_leave(lambda: done.append(2)))
    assert done == [1, 2]


def test_none_is_lost_among_many_threads():
    lock, done = TableLock(), []

    def work():
        for _ in range(500):
            lock.do_or_leave(lambda: done.append(1))
            with lock:
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    with lock:
        assert len(done) == 2000


def test_the_news_of_a_pod_does_not_wait_for_a_decision_and_counts_in_the_next():
    cache = SchedulerCache()
    cache.put_node(node("a"))
    table = cache.table()
    requests = {"requests": {"cpu": "1"}}
    spec = {"nodeName": "a", "containers": [{"name": "c", "resources": requests}]}
    pod = {"metadata": {"name": "web", "namespace": "default", "uid": "1"}, "spec": spec}

    with table.lock:
        elsewhere(lambda: cache.put_pod(pod))
        assert int(table.requested[0, 0]) == 0

    with table.lock:
        assert int(table.requested[0, 0]) == 1000
    assert cache.sizes()["pods"] == 1
