"""Calls that wait, by priority."""

from collections import deque

from hyperkube_lib.serving.priority import Priority, WaitingCalls, next_of


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


def test_of_high_priority_one_goes_before_each_usual_one_and_of_low_one_after_every_second():
    waiting = WaitingCalls()
    for name in "xyz":
        waiting.put(name, Priority.LOW)
    for number in range(8):
        waiting.put(str(number), Priority.USUAL)
    for name in "abcdefghi":
        waiting.put(name, Priority.HIGH)

    assert len(waiting) == 20
    assert "".join(waiting.take()[0] for _ in range(20)) == "a0b1cx2d3ey4f5gz6h7i"
    assert not waiting


def test_a_call_is_taken_with_its_priority():
    waiting = WaitingCalls()
    for priority in Priority:
        waiting.put(priority.value, priority)

    assert {waiting.take() for _ in Priority} == {(priority.value, priority) for priority in Priority}
