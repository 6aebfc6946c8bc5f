import threading

import pytest
from hyperkube_storage.sqlite import group_commit
from hyperkube_storage.sqlite.group_commit import GroupCommit


@pytest.fixture
def batches():
    return []


@pytest.fixture
def commits(batches, monkeypatch):
    monkeypatch.setattr(group_commit, "PATIENCE_SECONDS", 5.0)
    return GroupCommit(lambda batch: batches.append(sorted(batch)))


def running(call, *args):
    thread = threading.Thread(target=call, args=args)
    thread.start()
    return thread


def test_who_is_alone_writes_at_once(commits, batches):
    commits.run("a")
    with commits.expecting():
        commits.run("b")

    assert batches == [["a"], ["b"]]


def test_a_writer_waits_for_those_who_are_expected(commits, batches):
    with commits.expecting():
        first = running(commits.run, "a")
        first.join(0.05)
        assert first.is_alive()
        commits.run("b")
    first.join()

    assert batches == [["a", "b"]]


def test_it_goes_on_when_they_do_not_come(commits, batches):
    with commits.expecting():
        first = running(commits.run, "a")
        first.join(0.05)
        assert batches == []
    first.join()

    assert batches == [["a"]]


def test_it_waits_no_longer_than_its_patience(commits, batches, monkeypatch):
    monkeypatch.setattr(group_commit, "PATIENCE_SECONDS", 0.01)

    with commits.expecting():
        running(commits.run, "a").join()

        assert batches == [["a"]]


def test_who_is_expected_is_so_once(commits, batches):
    with commits.expecting():
        with commits.expecting():
            commits.run("a")
        running(commits.run, "b").join()

    assert batches == [["a"], ["b"]]


def test_all_work_of_a_crowd_is_done_once(commits, batches):
    def bring(number):
        with commits.expecting():
            commits.run(number)

    threads = [running(bring, number) for number in range(50)]
    for thread in threads:
        thread.join()

    assert sorted(number for batch in batches for number in batch) == list(range(50))


def test_what_a_thread_has_queued_is_done_at_once_when_it_is_taken(commits, batches):
    pauses = []
    commits.queue_here(lambda: pauses.append(len(batches)))
    try:
        commits.run("a")
        with commits.expecting():
            commits.run("b")
        assert batches == []

        commits.take_queued()()
        commits.take_queued()()
        running(commits.run, "c").join()
    finally:
        commits.queue_no_more()

    assert pauses == [0, 0]
    assert batches == [["a", "b"], ["c"]]


def test_a_commit_that_crashes_is_raised_where_the_work_came_from():
    def crash(_batch):
        raise OSError("broken")

    def commit():
        commits.take_queued()()

    commits = GroupCommit(crash)
    commits.queue_here(commit)
    try:
        with pytest.raises(RuntimeError, match="the commit crashed"):
            commits.run("a")
    finally:
        commits.queue_no_more()
