"""A runtime of a third party with bugs: the pod's events name the plugin, its distribution and where it was called."""

import importlib.util
import sys
from pathlib import Path

import pytest

from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_runtime.hollow", reason="simulates pods")

_spec = importlib.util.spec_from_file_location("kubelet_rig", Path(__file__).with_name("rig.py"))
assert _spec is not None
assert _spec.loader is not None
_rig = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_rig)
running = _rig.running

MODULE = """
from hyperkube_runtime.hollow import Hollow, HollowRuntime
from hyperkube.hookspecs import hookimpl
from hyperkube.machinery.clock import SystemClock


class WobblyRuntime(HollowRuntime):
    def run_sandbox(self, config, runtime_handler):
        if config["metadata"]["name"] == "sandbox":
            raise KeyError("sandbox")
        return super().run_sandbox(config, runtime_handler)

    def pull_image(self, image, credentials, sandbox_config):
        if sandbox_config["metadata"]["name"] == "pull":
            raise KeyError("pull")
        return super().pull_image(image, credentials, sandbox_config)

    def create_container(self, sandbox_id, config, sandbox_config):
        if sandbox_config["metadata"]["name"] == "create":
            raise KeyError("create")
        self.name = sandbox_config["metadata"]["name"]
        return super().create_container(sandbox_id, config, sandbox_config)

    def start_container(self, container_id):
        if self.name == "start":
            raise KeyError("start")
        super().start_container(container_id)


class Wobbly(Hollow):
    @hookimpl
    def runtime_build(self):
        built = super().runtime_build()
        built.__class__ = WobblyRuntime
        return built
"""
BLAMED = "KeyError('{0}') (runtime plugin 'wobbly' of acme-wobbly, in WobblyRuntime.{1}, acme_wobbly.py:"
CASES = {
    "sandbox": ("FailedCreatePodSandBox", "Failed to create pod sandbox: ", "run_sandbox"),
    "pull": ("Failed", 'Failed to pull image "i": ', "pull_image"),
    "create": ("Failed", "Error: ", "create_container"),
    "start": ("Failed", "Error: ", "start_container"),
}


@pytest.fixture
def site(tmp_path, monkeypatch):
    folder = tmp_path / "site"
    info = folder / "acme_wobbly-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-wobbly\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[hyperkube.runtime]\nwobbly = acme_wobbly:Wobbly\n")
    (folder / "acme_wobbly.py").write_text(MODULE)
    monkeypatch.syspath_prepend(folder)
    yield
    sys.modules.pop("acme_wobbly", None)


@pytest.mark.usefixtures("site")
def test_the_events_of_the_pod_name_the_plugin(tmp_path):
    with running(tmp_path / "root", "wobbly") as rig:
        for name in CASES:
            rig.create(name, containers=[{"name": "c", "image": "i"}])

        for name, (reason, text, called) in CASES.items():
            start = text + BLAMED.format(name, called)
            eventually(
                lambda reason=reason, start=start: any(
                    told == reason and message.startswith(start) for told, message in rig.events()
                ),
                why=f"{reason}: {start} among {rig.events()}",
            )
