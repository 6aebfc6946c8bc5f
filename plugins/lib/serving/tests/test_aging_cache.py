"""What is asked for again within seconds is kept, and nothing else."""

import pytest
from hyperkube_lib.serving.aging_cache import SECONDS, AgingCache

from hyperkube.machinery.clock import FakeClock


class Asked:
    """Makes a new value for a key when it is not known."""

    def __init__(self, size=100):
        self.clock = FakeClock()
        self.cache = AgingCache(size, self.clock.monotonic)
        self.made = 0

    def __call__(self, key):
        value = self.cache.get(key) or self.cache.find(key)
        if value is None:
            self.made += 1
            value = self.made
            self.cache.keep(key, value)
        return value


def test_what_comes_a_second_time_is_kept():
    asked = Asked()

    assert [asked("a"), asked("a"), asked("a"), asked("b")] == [1, 2, 2, 3]
    assert len(asked.cache) == 1


def test_what_may_be_kept_at_once_is():
    cache = AgingCache(100, FakeClock().monotonic)

    cache.keep("a", 1, at_once=True)

    assert cache.get("a") == 1


@pytest.mark.parametrize(("every", "made"), [(SECONDS / 2, 2), (4 * SECONDS, 20)], ids=["often", "seldom"])
def test_what_is_asked_for_again_within_a_generation_stays_and_what_comes_later_is_never_kept(every, made):
    asked = Asked()

    for _ in range(20):
        asked("a")
        asked.clock.advance(every)

    assert asked.made == made
    assert len(asked.cache) == (made == 2)


def test_what_is_not_asked_for_any_more_goes_when_there_is_something_else():
    asked = Asked()
    for _ in range(2):
        asked("a")

    for number in range(2):
        asked.clock.advance(SECONDS)
        asked(f"other {number}")

    assert len(asked.cache) == 0


def test_both_generations_together_are_bounded():
    asked = Asked(size=10)

    for number in range(1000):
        asked(number)
        asked(number)
        if number % 7 == 0:
            asked.clock.advance(SECONDS)
        assert len(asked.cache) <= 10

    before = asked.made
    asked(999)
    assert asked.made == before


def test_what_was_forgotten_is_kept_anew():
    asked = Asked()
    for _ in range(2):
        asked("a")

    asked.cache.forget()

    assert len(asked.cache) == 0
    assert [asked("a"), asked("a")] == [3, 3]
