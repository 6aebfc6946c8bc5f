"""Logs are rotated by size, and the older ones packed."""

import gzip

import pytest
from hyperkube_host.kubelet.logs.container_log_manager import ContainerLogManager, LogRotationPolicy, tidy

from hyperkube.hookspecs.runtime import ContainerNotFound, ContainerState, ContainerStatus, RuntimeFailed
from hyperkube.machinery.clock import FakeClock


class Writer:
    """A runtime that opens a fresh log when it is told to."""

    def __init__(self):
        self.error = None
        self.reopened = []
        self.log = ""

    def container(self, container_id):
        return status(self.log)

    def reopen_log(self, container_id):
        if self.error is not None:
            raise self.error
        self.reopened.append(container_id)


@pytest.fixture
def log(tmp_path):
    return tmp_path / "0.log"


def status(path, container_id="c"):
    return ContainerStatus(
        id=container_id,
        sandbox_id="s",
        name="c",
        attempt=0,
        state=ContainerState.RUNNING,
        image="i",
        log_path=str(path),
    )


def names(log):
    return sorted(path.name for path in log.parent.iterdir())


def test_a_large_log_is_renamed_and_its_writer_told(log):
    clock, writer = FakeClock(), Writer()
    manager = ContainerLogManager(LogRotationPolicy(max_bytes=10, max_files=3), writer, clock)
    stamps = []
    for number in range(4):
        log.write_text(f"log number {number}\n")
        manager.rotate_logs([status(log)])
        stamps.append(clock.now().strftime("%Y%m%d-%H%M%S"))
        clock.advance(1)

    assert writer.reopened == ["c"] * 4
    assert names(log) == [f"0.log.{stamps[2]}.gz", f"0.log.{stamps[3]}"]
    assert gzip.decompress((log.parent / f"0.log.{stamps[2]}.gz").read_bytes()) == b"log number 2\n"


def test_a_log_whose_path_a_list_does_not_tell_is_asked_for(log):
    log.write_text("large enough")
    writer = Writer()
    writer.log = log

    ContainerLogManager(LogRotationPolicy(max_bytes=5), writer, FakeClock()).rotate_logs([status("")])

    assert not log.exists()


def test_where_a_log_is_is_asked_for_once(log):
    writer = Writer()
    writer.log, asked = log, []
    writer.container = lambda container_id: asked.append(container_id) or status(log)
    manager = ContainerLogManager(LogRotationPolicy(max_bytes=10), writer, FakeClock())

    for _ in range(3):
        manager.rotate_logs([status("")])
    manager.rotate_logs([])
    manager.rotate_logs([status("")])

    assert asked == ["c", "c"]


def test_a_small_log_stays(log):
    log.write_text("small")
    writer = Writer()
    ContainerLogManager(LogRotationPolicy(), writer, FakeClock()).rotate_logs([status(log), status(log.parent / "no")])

    assert (names(log), writer.reopened) == (["0.log"], [])


@pytest.mark.parametrize(("error", "left"), [(RuntimeFailed("busy"), ["0.log"]), (ContainerNotFound("gone"), 1)])
def test_a_writer_that_goes_on_with_the_old_file_keeps_its_name(log, error, left):
    log.write_text("large enough")
    writer = Writer()
    writer.error = error
    ContainerLogManager(LogRotationPolicy(max_bytes=5), writer, FakeClock()).rotate_logs([status(log)])

    assert names(log) == left or (left == 1 and names(log)[0].startswith("0.log."))


def test_what_an_interrupted_round_left_is_cleaned_up(log):
    for name in ("0.log.1.tmp", "0.log.2", "0.log.2.gz", "0.log.3"):
        (log.parent / name).write_bytes(b"x")

    tidy(log, 5)

    assert names(log) == ["0.log.2.gz", "0.log.3.gz"]


def test_several_logs_may_be_rotated_at_a_time(tmp_path):
    paths = [tmp_path / str(number) / "0.log" for number in range(4)]
    for path in paths:
        path.parent.mkdir()
        path.write_text("large enough")
    writer = Writer()
    manager = ContainerLogManager(LogRotationPolicy(max_bytes=5, workers=3), writer, FakeClock())

    manager.rotate_logs([status(path, path.parent.name) for path in paths])

    assert len(writer.reopened) == 4
    assert not any(path.exists() for path in paths)


def test_a_log_that_the_runtime_rotates_elsewhere_is_left_alone(log, tmp_path):
    real = tmp_path / "elsewhere" / "docker.log"
    real.parent.mkdir()
    real.write_text("a long line of a log\n")
    log.symlink_to(real)
    writer = Writer()

    ContainerLogManager(LogRotationPolicy(max_bytes=10, max_files=3), writer, FakeClock()).rotate_logs([status(log)])

    assert (writer.reopened, log.is_symlink()) == ([], True)
