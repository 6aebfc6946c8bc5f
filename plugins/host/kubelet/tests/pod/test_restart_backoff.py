"""The delay before a crashed container starts again."""

import pytest
from hyperkube_host.kubelet.command import COMMAND
from hyperkube_host.kubelet.pod.restart_backoff import RestartBackoff, read_restart_delays

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues


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


def delays(longest=None, **gates):
    given = {} if longest is None else {"max-container-restart-period": longest}
    return read_restart_delays(FlagValues.of(COMMAND.all_flags(), {**given, "feature-gates": gates}))


@pytest.mark.parametrize(
    ("given", "gates", "found"),
    [
        (None, {}, (10, 300)),
        (60.0, {}, (10, 60)),
        (2.0, {}, (2, 2)),
        (None, {"ReduceDefaultCrashLoopBackOffDecay": True}, (1, 60)),
        (120.0, {"ReduceDefaultCrashLoopBackOffDecay": True}, (1, 120)),
    ],
)
def test_a_node_may_have_other_bounds(given, gates, found):
    assert delays(given, **gates) == found


@pytest.mark.parametrize(
    ("given", "gates", "says"),
    [
        (0.5, {}, r"\(got: 0.5 seconds\) must be set between 1s and 300s"),
        (301.0, {}, "between 1s and 300s"),
        (60.0, {"KubeletCrashLoopBackOffMax": False}, "FeatureGate KubeletCrashLoopBackOffMax not enabled"),
    ],
)
def test_bounds_that_cannot_be_are_refused(given, gates, says):
    with pytest.raises(UsageError, match=says):
        delays(given, **gates)


def test_the_longest_delay_bounds_them_all():
    backoff, found, now = RestartBackoff(delays(30.0)), [], 1000.0

    for _ in range(5):
        delay, now = crash_at(backoff, now)
        found.append(delay)

    assert found == [0, 10, 20, 30, 30]
