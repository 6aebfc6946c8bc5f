"""Who asks soon learns which columns changed; who asks late must look at all."""

from hyperkube_host.scheduler.cache.change_log import LIMIT, ChangeLog


def test_changes_since_a_generation():
    log = ChangeLog()
    log.touch(3)
    before = log.generation
    log.touch(5)
    log.touch(1)
    log.touch(5)

    assert log.since(before) == [1, 5]
    assert log.since(log.generation) == []


def test_a_reset_is_a_change_of_everything():
    log = ChangeLog()
    log.touch(1)
    before = log.generation
    log.reset()

    assert log.since(before) is None
    assert log.since(log.generation) == []


def test_what_is_too_long_ago_is_forgotten():
    log = ChangeLog()
    start = log.generation
    for _ in range(LIMIT + 1):
        log.touch(0)

    assert log.since(start) is None
    assert log.since(log.generation - 1) == [0]
