"""Static pods whose manifests change, or go and come back, while their containers take their time to stop."""

import importlib.util
import json
import sys
import threading
from pathlib import Path

import pytest

from hyperkube.kinds.resources import PODS

pytest.importorskip("hyperkube_runtime.hollow", reason="simulates pods")

_spec = importlib.util.spec_from_file_location("kubelet_rig", Path(__file__).with_name("rig.py"))
rig_module = sys.modules.setdefault("kubelet_rig", importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(rig_module)
running, until = rig_module.running, rig_module.until


class StaticWeb:
    """A kubelet with the static pod ``web``, whose containers stop when they may."""

    def __init__(self, rig, manifest):
        self.rig, self.manifest = rig, manifest
        self.is_stopping, self.may_stop = threading.Event(), threading.Event()
        stop = rig.kubelet.runtime.stop_container

        def stop_later(container_id, seconds):
            self.is_stopping.set()
            self.may_stop.wait(10)
            stop(container_id, seconds)

        rig.kubelet.runtime.stop_container = stop_later

    def write(self, image):
        spec = {"containers": [{"name": "c", "image": image}]}
        pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web"}, "spec": spec}
        self.manifest.write_text(json.dumps(pod))

    def shows(self, image):
        found = not self.rig.gone("web-n1") and self.rig.client.get(PODS, "web-n1", "default")
        is_running = found and (found.get("status") or {}).get("phase") == "Running"
        return is_running and found["spec"]["containers"][0]["image"] == image

    def uids(self):
        return {entry.pod["metadata"]["uid"]: entry for entry in self.rig.kubelet.pods.entries()}


@pytest.fixture
def web(tmp_path):
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    with running(tmp_path, **{"pod-manifest-path": str(manifests), "file-check-frequency": 0.05}) as rig:
        found = StaticWeb(rig, manifests / "web.yaml")
        found.write("first")
        until(lambda: found.shows("first"))
        yield found
        found.may_stop.set()


def test_a_changed_manifest_begins_when_the_pod_that_it_was_has_ended(web):
    web.write("second")
    until(lambda: len(web.uids()) == 2)
    assert web.is_stopping.wait(10)
    images = [status.image for status in web.rig.kubelet.runtime.containers()]
    shown_meanwhile = web.shows("first")

    web.may_stop.set()
    until(lambda: web.shows("second"))

    assert images == ["first"]
    assert shown_meanwhile
    until(lambda: len(web.uids()) == 1)


def test_a_manifest_that_comes_back_while_its_pod_ends_runs_again(web):
    ((uid, before),) = web.uids().items()
    text = web.manifest.read_text()
    web.manifest.unlink()
    until(lambda: before.removed)

    web.manifest.write_text(text)
    until(lambda: before.put_again is not None)
    web.may_stop.set()

    until(lambda: (web.uids().get(uid) or before) is not before and web.shows("first"))
