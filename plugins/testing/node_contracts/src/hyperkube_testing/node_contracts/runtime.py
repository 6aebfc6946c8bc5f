# ruff: noqa: D102 - tests, whose names are their docstrings
"""What every container runtime promises: subclass `RuntimeContract` and build the runtime."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from hyperkube.hookspecs.runtime import (
    ContainerNotFound,
    ContainerState,
    Runtime,
    RuntimeFailed,
)
from hyperkube.machinery.clock import SystemClock
from hyperkube.testing.harness import SkipTest, raises

SOON_SECONDS = 5.0


class RuntimeContract:
    """The promises of `hyperkube.hookspecs.runtime`, as tests.

    Attributes:
        image: an image that is on the node or can be had.
        command: a command that runs for long and obeys TERM.
        survives: whether a second runtime over the same state finds the first one's containers.
    """

    image: ClassVar[str] = "host"
    command: ClassVar[tuple[str, ...]] = ("sleep", "1000")
    survives: ClassVar[bool] = True

    def build(self, state: Path) -> Runtime:
        """Return a new runtime over the folder `state`."""
        raise NotImplementedError

    def _container(self, runtime: Runtime, logs: Path) -> tuple[str, str]:
        metadata = {"namespace": "ns", "name": "p", "uid": "uid"}
        labels = {"io.kubernetes.pod.uid": "uid"}
        pod = {"metadata": metadata, "hostname": "p", "log_directory": str(logs), "labels": labels}
        sandbox, image = runtime.run_sandbox(pod, ""), {"image": self.image}
        runtime.pull_image(image, None, pod)
        config = {
            "metadata": {"name": "c", "attempt": 2},
            "image": image,
            "command": list(self.command),
            "log_path": "c/2.log",
            "labels": {**labels, "a": "b"},
        }
        return sandbox, runtime.create_container(sandbox, config, pod)

    @staticmethod
    def until(holds: Callable[[], bool]) -> None:
        clock = SystemClock()
        deadline = clock.monotonic() + SOON_SECONDS
        while not holds():
            assert clock.monotonic() < deadline, "did not happen in time"
            clock.wait(threading.Event(), 0.01)

    def test_a_sandbox_is_listed_until_it_is_removed(self, tmp_path: Path) -> None:
        runtime = self.build(tmp_path / "state")
        sandbox, _ = self._container(runtime, tmp_path / "logs")

        listed = [(found.id, found.ready, found.uid) for found in runtime.sandboxes()]
        runtime.remove_sandbox(sandbox)

        assert listed == [(sandbox, True, "uid")]
        assert not list(runtime.sandboxes())
        assert not list(runtime.containers())
        runtime.close()

    def test_a_container_goes_from_created_to_running_to_exited(self, tmp_path: Path) -> None:
        runtime = self.build(tmp_path / "state")
        sandbox, container = self._container(runtime, tmp_path / "logs")

        states = [runtime.container(container).state]
        runtime.start_container(container)
        states.append(runtime.container(container).state)
        runtime.stop_container(container, 5)
        states.append(runtime.container(container).state)

        assert states == [ContainerState.CREATED, ContainerState.RUNNING, ContainerState.EXITED]
        status = runtime.container(container)
        assert (status.name, status.attempt, status.labels["a"], status.sandbox_id) == ("c", 2, "b", sandbox)
        assert 0 < status.created_at <= status.started_at + 1 <= status.finished_at + 2
        runtime.remove_sandbox(sandbox)
        runtime.close()

    def test_calls_are_idempotent_for_what_already_is(self, tmp_path: Path) -> None:
        runtime = self.build(tmp_path / "state")
        sandbox, container = self._container(runtime, tmp_path / "logs")

        for _ in range(2):
            runtime.start_container(container)
        for _ in range(2):
            runtime.stop_container(container, 1)
        for _ in range(2):
            runtime.remove_container(container)
        for _ in range(2):
            runtime.stop_sandbox(sandbox)
        for _ in range(2):
            runtime.remove_sandbox(sandbox)

        assert not list(runtime.containers())
        runtime.close()

    def test_an_unknown_container_is_not_found(self, tmp_path: Path) -> None:
        runtime = self.build(tmp_path / "state")

        with raises(ContainerNotFound):
            runtime.container("nosuch")
        with raises(RuntimeFailed):
            runtime.exec("nosuch", ["true"], stdin=False, tty=False)
        runtime.close()

    def test_a_stopped_sandbox_is_not_ready_and_runs_nothing(self, tmp_path: Path) -> None:
        runtime = self.build(tmp_path / "state")
        sandbox, container = self._container(runtime, tmp_path / "logs")
        runtime.start_container(container)

        runtime.stop_sandbox(sandbox)

        assert [found.ready for found in runtime.sandboxes()] == [False]
        assert runtime.container(container).state == "exited"
        runtime.remove_sandbox(sandbox)
        runtime.close()

    def test_containers_of_an_earlier_run_are_found_again(self, tmp_path: Path) -> None:
        if not self.survives:
            raise SkipTest("nothing of this runtime outlives the kubelet")
        before = self.build(tmp_path / "state")
        sandbox, container = self._container(before, tmp_path / "logs")
        before.start_container(container)
        before.close()

        after = self.build(tmp_path / "state")
        found = after.container(container)
        after.stop_container(container, 5)

        assert (found.state, found.attempt) == (ContainerState.RUNNING, 2)
        assert after.container(container).state == "exited"
        after.remove_sandbox(sandbox)
        after.close()
