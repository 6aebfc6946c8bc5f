"""The delay before a crashed container starts again."""

from hyperkube_host.kubelet.pod.restart_backoff import RestartBackoff


def crash_at(backoff, finished_at):
    """Return the delay that one crash costs, and when the container is started again."""
    waited = backoff.remaining("c", finished_at, finished_at)
    started_at = finished_at + waited
    assert waited == 0 or backoff.remaining("c", finished_at, started_at) == 0
    return waited, started_at


def test_the_first_restart_is_immediate_and_each_next_one_waits_twice_as_long_up_to_five_minutes():
    backoff, delays, now = RestartBackoff(), [], 1000.0

    for _ in range(8):
        delay, now = crash_at(backoff, now)
        delays.append(delay)

    assert delays == [0, 10, 20, 40, 80, 160, 300, 300]
    assert backoff.delay("c") == 300


def test_ten_quiet_minutes_end_the_back_off():
    backoff = RestartBackoff()
    _, now = crash_at(backoff, 1000.0)
    _, now = crash_at(backoff, now)

    assert crash_at(backoff, now + 601) == (0, now + 601)
    assert backoff.delay("c") == 10


def test_a_half_waited_delay_is_not_begun_anew():
    backoff = RestartBackoff()
    crash_at(backoff, 1000.0)

    assert [backoff.remaining("c", 1001.0, now) for now in (1001.0, 1005.0, 1011.0)] == [10, 6, 0]
