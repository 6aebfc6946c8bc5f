"""Many attempts, slowly at first."""

import threading

import pytest
from hyperkube_lib.replicas import AT_ONCE, slow_start

from hyperkube.machinery.errors import Forbidden


class Attempts:
    """Counts attempts, and fails from a certain one on."""

    def __init__(self, good=10**9, failure=None):
        self.lock = threading.Lock()
        self.good = good
        self.failure = failure
        self.made = 0

    def __call__(self):
        with self.lock:
            self.made += 1
            if self.made > self.good:
                raise self.failure


@pytest.mark.parametrize("count", [0, 1, 2, 100])
def test_all_are_made_when_all_goes_well(count):
    attempts = Attempts()

    assert slow_start(count, attempts) == (count, None)
    assert attempts.made == count


@pytest.mark.parametrize("failure", [Forbidden("no"), ConnectionError("gone")], ids=["refused", "no server"])
def test_a_refusal_of_the_first_stops_all(failure):
    attempts = Attempts(0, failure)

    assert slow_start(500, attempts) == (0, failure)
    assert attempts.made == 1


def test_a_batch_is_finished_and_the_next_not_begun():
    attempts = Attempts(5, Forbidden("quota"))

    done, failure = slow_start(500, attempts)

    assert (done, attempts.made, str(failure)) == (5, 7, "quota")


def test_a_large_batch_runs_side_by_side():
    meeting = threading.Barrier(AT_ONCE, timeout=30)
    attempts = Attempts()

    def attempt():
        attempts()
        if attempts.made > 2 * AT_ONCE - 1:
            meeting.wait()

    assert slow_start(2 * AT_ONCE - 1 + 2 * AT_ONCE, attempt)[0] == 4 * AT_ONCE - 1


def test_a_bug_is_no_failure():
    def attempt():
        raise KeyError("x")

    with pytest.raises(KeyError):
        slow_start(3, attempt)
