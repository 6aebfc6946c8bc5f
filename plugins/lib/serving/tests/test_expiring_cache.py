import pytest
from hyperkube_lib.serving.expiring_cache import ExpiringCache

from hyperkube.machinery.clock import FakeClock


class Answers:
    """Answers with a number that grows with each question."""

    def __init__(self):
        self.asked = 0

    def __call__(self):
        self.asked += 1
        return self.asked


def test_an_answer_is_asked_for_again_when_its_time_is_over():
    clock, answers = FakeClock(), Answers()
    cache = ExpiringCache(clock, lambda _value: 10)

    assert [cache.get("a", answers), cache.get("a", answers), cache.get("b", answers)] == [1, 1, 2]
    clock.advance(9.5)
    assert cache.get("a", answers) == 1
    clock.advance(0.5)
    assert cache.get("a", answers) == 3


def test_an_answer_says_for_how_long_it_is_good():
    clock = FakeClock()
    cache = ExpiringCache(clock, lambda allowed: 100 if allowed else 1)
    cache.get("yes", lambda: True)
    cache.get("no", lambda: False)

    clock.advance(2)

    assert cache.get("yes", lambda: False)
    assert cache.get("no", lambda: True)


def test_what_is_raised_is_not_kept():
    cache = ExpiringCache(FakeClock(), lambda _value: 10)

    def fail():
        raise ConnectionError

    with pytest.raises(ConnectionError):
        cache.get("a", fail)
    assert cache.get("a", lambda: 1) == 1


def test_a_full_cache_is_emptied():
    answers = Answers()
    cache = ExpiringCache(FakeClock(), lambda _value: 10, most=2)

    for key in "abc":
        cache.get(key, answers)

    assert cache.get("c", answers) == 3
    assert cache.get("a", answers) == 4
