"""Memory that goes back to the system."""

from hyperkube_command.local_cluster.process_memory import (
    FIRST_SECONDS,
    PERIOD_SECONDS,
    give_back,
    give_back_regularly,
    spare_arenas,
)

from hyperkube.machinery.clock import FakeClock


def test_memory_is_given_back_after_the_start_and_then_each_minute():
    clock, given = FakeClock(), []

    give_back_regularly(clock, lambda: given.append(clock.monotonic()))
    clock.advance(FIRST_SECONDS + 2 * PERIOD_SECONDS)

    assert given == [FIRST_SECONDS, FIRST_SECONDS + PERIOD_SECONDS, FIRST_SECONDS + 2 * PERIOD_SECONDS]


def test_whatever_the_c_library_is_nothing_breaks():
    spare_arenas()
    give_back()
