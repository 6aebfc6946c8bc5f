"""``--runonce``: local pods are started and run on, and the kubelet ends and says what did not."""

from types import SimpleNamespace

import pytest
from hyperkube_host.kubelet.command import COMMAND, run_local_pods
from hyperkube_host.kubelet.pod.pod_entry import PodEntry
from hyperkube_host.kubelet.runonce import run_once

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues

pytest.importorskip("hyperkube_runtime.hollow", reason="simulates pods")
MANIFEST = (
    "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{containers: [{{name: c, image: x}}]{more}}}}}"
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "manifests").mkdir()
    return tmp_path


def flags(folder, **more):
    given = {"pod-manifest-path": str(folder / "manifests"), "root-dir": str(folder / "root"), "runonce": True}
    return FlagValues.of(
        COMMAND.all_flags(), {"hostname-override": "n1", "container-runtime": "hollow", **given, **more}
    )


def test_it_ends_when_all_pods_run(folder, caplog):
    caplog.set_level("INFO")
    for name in ("one", "two"):
        (folder / "manifests" / f"{name}.yaml").write_text(MANIFEST.format(name=name, more=""))

    run_local_pods(flags(folder))

    assert "started 2 pods: one-n1, two-n1" in caplog.text


def test_a_pod_that_cannot_run_here_is_named(folder):
    refused = ", nodeSelector: {disk: tape}"
    (folder / "manifests" / "p.yaml").write_text(MANIFEST.format(name="p", more=refused))

    with pytest.raises(UsageError, match="runonce failed: error running pods: pod 'p-n1' failed: "):
        run_local_pods(flags(folder))


class NeverDone:
    """A kubelet whose only pod does not come up."""

    def __init__(self):
        pod = {"metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": [{"name": "c"}]}}
        self.pods = SimpleNamespace(entries=lambda: [PodEntry(pod)])

    def ready(self):
        return True


class Clock(FakeClock):
    """A clock on which waiting takes no time."""

    def sleep(self, seconds):
        self.advance(seconds)


def test_a_pod_that_does_not_come_up_is_waited_for_only_so_long():
    clock = Clock()
    began = clock.monotonic()

    with pytest.raises(UsageError, match="timeout error: pod 'p' containers not running after 10 retries"):
        run_once(NeverDone(), clock)

    assert clock.monotonic() - began == pytest.approx(1023, abs=1)


@pytest.mark.parametrize(
    "flag", [{"api-servers": "http://127.0.0.1:8080"}, {"kubeconfig": "x"}, {"enable-server": True}]
)
def test_what_asks_for_more_than_local_pods_is_refused(folder, flag):
    with pytest.raises(UsageError, match=f"excludes --{next(iter(flag))}"):
        run_local_pods(flags(folder, **flag))
