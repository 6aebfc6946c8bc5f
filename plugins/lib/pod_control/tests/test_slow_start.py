"""Many requests, slowly at first."""

import threading

import pytest
from hyperkube_lib.pod_control import CONCURRENCY, all_at_once, slow_start_batch

from hyperkube.machinery.errors import Forbidden


class Calls:
    """Counts calls, and fails from a certain one on."""

    def __init__(self, good=10**9, failure=None):
        self.lock = threading.Lock()
        self.good = good
        self.failure = failure
        self.items = []

    def __call__(self, item):
        with self.lock:
            self.items.append(item)
            if len(self.items) > self.good:
                raise self.failure


# The rows of upstream's TestSlowStartBatch: how many calls are wanted, how many succeed, how many are made.
@pytest.mark.parametrize(
    ("count", "good", "made"),
    [(5, 10**9, 5), (0, 10**9, 0), (5, 0, 1), (5, 1, 3), (500, 5, 7)],
    ids=["all", "none wanted", "the first fails", "the second fails", "one of the third batch fails"],
)
def test_the_batch_in_which_one_fails_is_the_last(count, good, made):
    calls = Calls(good, Forbidden("quota"))

    successes, failures = slow_start_batch(range(count), calls)

    assert (successes, len(calls.items)) == (min(good, count), made)
    assert len(failures) == made - successes


@pytest.mark.parametrize("failure", [Forbidden("no"), ConnectionError("gone")], ids=["refused", "no server"])
def test_a_failure_of_the_first_stops_all(failure):
    calls = Calls(0, failure)

    assert slow_start_batch(range(500), calls) == (0, [failure])
    assert calls.items == [0]


def test_each_item_is_called_once_in_order_of_batches():
    calls = Calls()

    assert slow_start_batch(range(100), calls) == (100, [])
    assert sorted(calls.items) == list(range(100))


def test_a_large_batch_runs_side_by_side():
    meeting = threading.Barrier(CONCURRENCY, timeout=30)

    def call(item):
        if item >= 2 * CONCURRENCY - 1:
            meeting.wait()

    assert slow_start_batch(range(4 * CONCURRENCY - 1), call) == (4 * CONCURRENCY - 1, [])


def test_all_at_once_goes_on_after_a_failure():
    calls = Calls(0, Forbidden("no"))

    assert len(all_at_once(range(20), calls)) == 20


def test_a_bug_is_no_failure():
    def call(_item):
        raise KeyError("x")

    with pytest.raises(KeyError):
        slow_start_batch([1, 2, 3], call)
