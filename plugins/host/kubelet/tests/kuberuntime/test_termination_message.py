"""What an ended container tells in its status."""

import pytest
from hyperkube_host.kubelet.container.pod_status import PodStatus
from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.kuberuntime.termination_message import TerminationMessages
from hyperkube_host.kubelet.pod.pod_entry import PodEntry
from hyperkube_host.kubelet.types.labels import TERMINATION_MESSAGE_POLICY

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus

POD = {"metadata": {"name": "p", "namespace": "ns", "uid": "u"}, "spec": {"containers": [{"name": "c"}]}}


@pytest.fixture
def message(tmp_path):
    """Return a function of what the runtime tells, what the container wrote to its file, and what it logged."""
    directories = KubeletDirectories(tmp_path)
    log = tmp_path / "0.log"

    def read(said="", file="", logged="", code=1, reason="Error"):
        path = directories.termination_message("u", "c", 0)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file)
        log.write_text(f"2030-01-01T00:00:00.0Z stdout F {logged}\n" if logged else "")
        status = ContainerStatus(
            id="1", sandbox_id="s", name="c", attempt=0, state=ContainerState.EXITED, image="i", image_id="i",
            created_at=1, started_at=1, finished_at=2, exit_code=code, reason=reason, message=said, log_path=str(log),
            annotations={TERMINATION_MESSAGE_POLICY: "FallbackToLogsOnError"},
        )  # fmt: skip
        return TerminationMessages(directories).read(PodEntry(POD), PodStatus.of([], [status]))["1"]

    return read


def test_what_the_runtime_says_stands_before_what_the_container_wrote(message):
    assert message(said="killed", file="bye") == "killed: bye"
    assert message(said="killed", logged="line") == "killed: line\n"
    assert (message(said="killed"), message(file="bye"), message()) == ("killed", "bye", "")


def test_the_log_of_a_failure_stands_in_for_an_empty_file(message):
    assert (message(logged="line"), message(file="bye", logged="line")) == ("line\n", "bye")
    assert (message(logged="line", code=0), message(logged="line", reason="ContainerCannotRun")) == ("", "")
