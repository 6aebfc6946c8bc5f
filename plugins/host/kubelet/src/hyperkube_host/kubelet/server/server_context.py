"""What the kubelet's API shows."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_host.kubelet.pod.pod_manager import PodManager

from hyperkube.hookspecs.runtime import Runtime


class ServerContext(NamedTuple):
    """The parts of the kubelet that its API serves from.

    Attributes:
        logs: the folder that ``/logs/`` shows.
    """

    options: KubeletOptions
    runtime: Runtime
    pods: PodManager
    logs: Path
