"""Checkpoints of containers, as archives below the kubelet's folder."""

import pytest
from hyperkube_host.kubelet.server.checkpoint import checkpoint_container, timeout_of

from hyperkube.hookspecs.runtime import RuntimeFailed
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import BadRequest, InternalError
from hyperkube.machinery.times import format_time

POD = {"metadata": {"name": "p", "namespace": "ns", "uid": "u"}, "spec": {}}


class Writes:
    """A runtime that writes checkpoints, or fails."""

    name = "test"

    def __init__(self, error=None):
        self.error, self.asked = error, []

    def checkpoint_container(self, container_id, location, timeout):
        self.asked.append((container_id, location, timeout))
        if self.error is not None:
            raise self.error


class Plain:
    name = "plain"


def test_the_archive_is_named_after_pod_container_and_time(tmp_path):
    runtime, clock = Writes(), FakeClock()

    answer = checkpoint_container(runtime, tmp_path, clock, POD, "c", "id", 5.0)

    path = str(tmp_path / "checkpoints" / f"checkpoint-p_ns-c-{format_time(clock.now())}.tar")
    assert answer == {"items": [path]}
    assert runtime.asked == [("id", path, 5.0)]
    assert (tmp_path / "checkpoints").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("runtime", "why"),
    [
        (Writes(RuntimeFailed("criu is missing")), "criu is missing"),
        (Plain(), "the container runtime 'plain' writes no checkpoints"),
    ],
)
def test_a_runtime_that_cannot_is_told_of(tmp_path, runtime, why):
    with pytest.raises(InternalError) as caught:
        checkpoint_container(runtime, tmp_path, FakeClock(), POD, "c", "id", 0.0)

    assert caught.value.message == f"checkpointing of ns/p/c failed ({why})"


@pytest.mark.parametrize("timeout", ["soon", "1.5", "٣", "9" * 19, "9" * 5000, "-", "1_0"])
def test_the_timeout_is_a_number(timeout):
    assert (timeout_of({}), timeout_of({"timeout": ["30"]})) == (0.0, 30.0)
    with pytest.raises(BadRequest, match="cannot parse value of timeout parameter"):
        timeout_of({"timeout": [timeout]})
