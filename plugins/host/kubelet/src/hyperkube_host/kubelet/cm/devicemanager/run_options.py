"""From what device plugins answered to what a container is created with.

Source: kubernetes ``pkg/kubelet/cm/devicemanager/pod_devices.go`` (deviceRunContainerOptions).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hyperkube_host.kubelet.cm.interface import CriMessage, RunContainerOptions


def run_options_of(responses: Iterable[Mapping[str, Any]]) -> RunContainerOptions:
    """Return the options of several ``ContainerAllocateResponse``; of two that name one path the first counts."""
    devices: dict[str, CriMessage] = {}
    mounts: dict[str, CriMessage] = {}
    envs: dict[str, str] = {}
    annotations: dict[str, str] = {}
    cdi: dict[str, None] = {}
    for response in responses:
        for device in response.get("devices", ()):
            devices.setdefault(device.get("container_path", ""), dict(device))
        for mount in response.get("mounts", ()):
            message = {name: mount[name] for name in ("container_path", "host_path") if name in mount}
            if mount.get("read_only"):
                message["readonly"] = True
            mounts.setdefault(mount.get("container_path", ""), message)
        for key, value in response.get("envs", {}).items():
            envs.setdefault(key, value)
        for key, value in response.get("annotations", {}).items():
            annotations.setdefault(key, value)
        cdi.update(dict.fromkeys(one.get("name", "") for one in response.get("cdi_devices", ())))
    return RunContainerOptions(
        devices=tuple(devices.values()),
        mounts=tuple(mounts.values()),
        envs=tuple({"key": key, "value": value} for key, value in envs.items()),
        annotations=annotations,
        cdi_devices=tuple(cdi),
    )
