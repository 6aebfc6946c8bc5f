"""What `reset` ends of a cluster whose containers a daemon has."""

from functools import partial

import orjson
import pytest
from hyperkube_command.local_cluster.arguments import ClusterOptions
from hyperkube_command.local_cluster.left_pods import build_runtime, end_pods, remember_runtime
from hyperkube_lib.local_cluster.layout import Layout

from hyperkube.hookspecs.runtime import RuntimeFailed, SandboxStatus
from hyperkube.machinery.errors import UsageError


class Daemon:
    """A runtime with two pods, of which one may be stuck."""

    def __init__(self, stuck=""):
        self.left, self.closed, self._stuck = ["ours", "theirs"], False, stuck

    def sandboxes(self):
        known = {"namespace": "default", "ready": True, "attempt": 0, "created_at": 0.0}
        return [SandboxStatus(id=uid, uid=uid, name=uid, **known) for uid in self.left]

    def stop_sandbox(self, sandbox_id):
        if sandbox_id == self._stuck:
            raise RuntimeFailed("device busy")

    def remove_sandbox(self, sandbox_id):
        self.left.remove(sandbox_id)

    def close(self):
        self.closed = True


@pytest.fixture
def layout(tmp_path):
    layout = Layout(tmp_path / "data")
    layout.create()
    (layout.kubelet / "pods" / "ours").mkdir(parents=True)
    return layout


def cluster(layout, runtime, *flags):
    return ClusterOptions(layout=layout, node_name="n", runtime=runtime, extra={"kubelet": flags})


def test_pods_of_others_on_the_same_daemon_stay(layout):
    daemon, asked = Daemon(), []
    remember_runtime(cluster(layout, "remote", "--container-runtime-endpoint=unix:///run/cri.sock", "--max-pods=3"))

    left = end_pods(layout, lambda *given: asked.append(given) or daemon)

    assert asked == [("remote", {"container_runtime_endpoint": "unix:///run/cri.sock"})]
    assert (left, daemon.left, daemon.closed) == ([], ["theirs"], True)


def test_all_processes_below_the_folder_are_the_clusters(layout):
    daemon = Daemon()

    assert end_pods(layout, lambda name, settings: daemon if (name, settings) == ("process", {}) else None) == []
    assert daemon.left == []


def test_what_cannot_be_ended_is_told(layout):
    remember_runtime(cluster(layout, "docker"))
    daemon = Daemon(stuck="ours")

    def away(name, settings):
        raise UsageError("the daemon does not answer")

    assert end_pods(layout, lambda *given: daemon) == ["pod default/ours is left: device busy"]
    assert end_pods(layout, away) == ["pods of the runtime 'docker' are left: the daemon does not answer"]
    assert end_pods(layout, lambda *given: None) == []


def test_a_file_that_is_none_is_one_line(layout):
    (layout.root / "runtime.json").write_bytes(orjson.dumps([]))

    with pytest.raises(UsageError, match=r"runtime.json cannot be read"):
        end_pods(layout, lambda *given: None)


@pytest.mark.parametrize("name", ["remote", "docker"])
def test_a_daemon_that_is_not_there_is_named(layout, name):
    pytest.importorskip(f"hyperkube_runtime.{name}")
    endpoint = "docker-endpoint" if name == "docker" else "container-runtime-endpoint"
    remember_runtime(cluster(layout, name, f"--{endpoint}=unix://{layout.root}/absent.sock"))

    (line,) = end_pods(layout, partial(build_runtime, layout.kubelet))

    assert line.startswith(f"pods of the runtime {name!r} are left: ")
    assert "unknown key" not in line
