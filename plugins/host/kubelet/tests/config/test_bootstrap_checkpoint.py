"""Pods that are kept on the node, and start before the API server answers."""

import logging

import pytest
from hyperkube_host.kubelet.command import COMMAND, options_of
from hyperkube_host.kubelet.config.apiserver_source import ApiSource
from hyperkube_host.kubelet.config.bootstrap_checkpoint import ANNOTATION, BootstrapCheckpoints
from hyperkube_host.kubelet.kubelet import Kubelet

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.clock import SystemClock
from hyperkube.plugin.flags import FlagValues
from hyperkube.testing.waiting import eventually


def pod(name, **annotations):
    marks = {ANNOTATION: "true"} | annotations
    meta = {"name": name, "namespace": "default", "uid": f"u-{name}", "annotations": marks}
    return {"metadata": meta, "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]}}


@pytest.fixture
def checkpoints(tmp_path):
    return BootstrapCheckpoints(tmp_path / "kept")


def names(pods):
    return [one["metadata"]["name"] for one in pods]


def test_what_says_so_is_kept_until_it_says_so_no_more_or_is_gone(checkpoints):
    for one in (pod("a"), pod("b"), pod("c"), pod("plain", **{ANNOTATION: "false"})):
        checkpoints.keep(one)
    checkpoints.keep(pod("b", **{ANNOTATION: ""}))
    checkpoints.remove(pod("c"))

    assert checkpoints.load() == [pod("a")]


def test_a_file_that_cannot_be_trusted_is_removed(checkpoints, tmp_path, caplog):
    checkpoints.keep(pod("a"))
    path = tmp_path / "kept" / "Podu-a.yaml"
    path.write_text(path.read_text().replace('"image":"i"', '"image":"j"'))

    with caplog.at_level(logging.WARNING):
        assert checkpoints.load() == []

    assert not path.exists()
    assert "Unable to load pod from checkpoint" in caplog.text


class Sink:
    def __init__(self):
        self.pods = {}

    def put(self, one):
        self.pods[one["metadata"]["name"]] = one

    def remove(self, one):
        self.pods.pop(one["metadata"]["name"])


def test_kept_pods_come_first_and_those_that_are_gone_go(checkpoints):
    client, sink = FakeClient(SystemClock()), Sink()
    checkpoints.keep(pod("stays"))
    checkpoints.keep(pod("gone"))
    client.seed(PODS, pod("stays"), pod("new"))
    source = ApiSource(client, client.clock, "n1", sink, checkpoints)
    source._informer.start = lambda: None

    source.start()
    assert sorted(sink.pods) == ["gone", "stays"]
    assert sink.pods["stays"]["metadata"]["annotations"]["kubernetes.io/config.source"] == "api"

    source._informer.refresh()
    eventually(lambda: sorted(sink.pods) == ["new", "stays"])
    assert sorted(names(checkpoints.load())) == ["new", "stays"]


class Away(FakeClient):
    """An API server that does not answer."""

    def _away(self, *_args, **_more):
        raise ConnectionError("connection refused")

    get = list = watch = create = update = patch = delete = _away


def test_a_kept_pod_runs_while_the_api_server_is_away(tmp_path):
    pytest.importorskip("hyperkube_runtime.hollow", reason="simulates pods")
    folder = tmp_path / "kept"
    BootstrapCheckpoints(folder).keep(pod("apiserver"))
    options = {
        "hostname-override": "n1", "root-dir": str(tmp_path / "root"), "container-runtime": "hollow",
        "node-ip": "127.0.0.1", "bootstrap-checkpoint-path": str(folder),
    }  # fmt: skip
    kubelet = Kubelet(client=Away(SystemClock()), options=options_of(FlagValues.of(COMMAND.all_flags(), options)))
    kubelet.start()
    try:
        eventually(kubelet.runtime.containers)
    finally:
        kubelet.close()
    assert not kubelet.node.is_registered
