"""A kubelet against a fake API server, for the tests of this room."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hyperkube_host.kubelet.command import COMMAND, options_of
from hyperkube_host.kubelet.kubelet import Kubelet
from hyperkube_host.kubelet.options import KubeletOptions

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import EVENTS, PODS
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.objects import Object
from hyperkube.plugin.flags import FlagValues
from hyperkube.plugin.loader import one_look
from hyperkube.testing.waiting import SECONDS
from hyperkube.testing.waiting import eventually as until

NODE = "n1"


def kubelet_options(values: dict[str, Any]) -> KubeletOptions:
    """Return the options of a kubelet whose flags have these values."""
    return options_of(FlagValues.of(COMMAND.all_flags(), values))


class Rig:
    """The fake API, the kubelet and words for what tests do with them."""

    def __init__(self, root: Path, client: FakeClient, runtime: str, **options: Any) -> None:
        self.client = client
        self.kubelet = Kubelet(
            client=client,
            options=kubelet_options(
                {
                    "hostname-override": NODE,
                    "root-dir": str(root),
                    "container-runtime": runtime,
                    "node-ip": "127.0.0.1",
                    "authorization-mode": "AlwaysAllow",
                    "anonymous-auth": True,
                    **options,
                }
            ),
        )

    def create(self, name: str = "p", **spec: Any) -> Object:
        annotations = spec.pop("annotations", {})
        pod = {
            "kind": "Pod",
            "apiVersion": "v1",
            "metadata": {"name": name, "namespace": "default", "annotations": annotations},
            "spec": {"nodeName": NODE, "terminationGracePeriodSeconds": 2, **spec},
        }
        return self.client.create(PODS, pod, "default")

    def status(self, name: str = "p") -> Object:
        return self.client.get(PODS, name, "default").get("status") or {}

    def container(self, name: str = "p", index: int = 0) -> Object:
        return self.status(name)["containerStatuses"][index]

    def wait_phase(self, phase: str, name: str = "p") -> Object:
        return until(lambda: self.status(name).get("phase") == phase and self.status(name))

    def wait_reason(self, reason: str, name: str = "p") -> Object:
        """Return the container status in which a container first waited for a reason, however short that was."""
        watch = self.client.watch(PODS, "default", resource_version="1")
        in_time = threading.Timer(SECONDS, watch.close)
        in_time.start()
        try:
            for event in watch:
                for status in (event.object.get("status") or {}).get("containerStatuses", []):
                    waits_for = status["state"].get("waiting", {}).get("reason")
                    if event.object["metadata"]["name"] == name and waits_for == reason:
                        return status
        finally:
            in_time.cancel()
            watch.close()
        raise AssertionError(f"no container of {name} waited for {reason}: {self.status(name)}")

    def events(self) -> list[tuple[str, str]]:
        self.kubelet.recorder.flush()
        return [(event["reason"], event["message"]) for event in self.client.objects(EVENTS)]

    def gone(self, name: str = "p") -> bool:
        return all(pod["metadata"]["name"] != name for pod in self.client.objects(PODS))


@contextmanager
def running(root: Path, runtime: str = "hollow", client: FakeClient | None = None, **options: Any) -> Iterator[Rig]:
    """Run a kubelet; its pods end with it unless ``stop-pods-on-close`` is off."""
    with one_look():
        rig = Rig(root, client or FakeClient(SystemClock()), runtime, **{"stop-pods-on-close": True, **options})
        rig.kubelet.start()
    try:
        until(rig.kubelet.ready)
        yield rig
    finally:
        rig.kubelet.close()


def shell(script: str, name: str = "c", **fields: Any) -> Object:
    """Return a container that runs a script of the shell."""
    return {"name": name, "image": "host", "command": ["sh", "-c", script], **fields}
