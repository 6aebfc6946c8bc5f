"""Calls that wait, by priority."""

from collections import deque

from hyperkube_lib.serving.priority import next_of


class TakenMeanwhile(deque):
    """Calls the last of which another thread takes between a look and a take."""

    def popleft(self):
        self.clear()
        return super().popleft()


def test_the_first_is_taken_and_there_may_be_none():
    calls = deque([int, float])

    assert next_of(calls) is int
    assert next_of(calls) is float
    assert next_of(calls) is None


def test_one_that_another_thread_has_taken_is_not_there():
    assert next_of(TakenMeanwhile([int])) is None
