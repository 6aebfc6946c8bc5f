"""Memory that goes back to the system."""

from hyperkube_lib.component_base.process_memory import (
    FIRST_SECONDS,
    PERIOD_SECONDS,
    give_back,
    map_large_blocks,
    spare_arenas,
    wait_until_stopped,
)


class StopAfter:
    """Stops in the wait after so many."""

    def __init__(self, waits):
        self.left, self.waited = waits, []

    def wait(self, timeout=None):
        self.waited.append(timeout)
        self.left -= 1
        return self.left < 0


def test_memory_is_given_back_after_the_start_and_then_regularly_until_the_end():
    stopped, given = StopAfter(2), []

    wait_until_stopped(stopped, lambda: given.append(len(stopped.waited)))

    assert stopped.waited == [FIRST_SECONDS, PERIOD_SECONDS, PERIOD_SECONDS]
    assert given == [1, 2]


def test_whatever_the_c_library_is_nothing_breaks():
    spare_arenas()
    map_large_blocks()
    give_back()
