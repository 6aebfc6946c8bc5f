"""The exec network: one program connects pods, as in Kubernetes 1.0 to 1.5.

It lies below ``--network-plugin-dir`` as ``VENDOR~NAME/NAME`` and is called with ``init`` once, and with ``setup``,
``teardown`` and ``status``, each followed by the pod's namespace, its name and the id of its sandbox.

Source: kubernetes 1.5 ``pkg/kubelet/network/exec/exec.go``.
"""

from __future__ import annotations

from pathlib import Path

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.network import Network
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

__all__ = ["Exec", "ExecSettings"]

DEFAULT_FOLDER = "/usr/libexec/kubernetes/kubelet-plugins/net/exec/"


class ExecSettings(Record):
    """Settings of the exec network.

    Attributes:
        network_plugin_dir: the folder of the programs, each in a folder of its own; empty for the usual one.
        exec_network_plugin: the program's name; empty where there is only one.
        timeout_seconds: how long a call may take.
    """

    network_plugin_dir: str = ""
    exec_network_plugin: str = ""
    timeout_seconds: float = 120.0


class Exec(Plugin):
    """Builds the exec network."""

    @hookimpl
    def network_build(self) -> Network:
        """Build it: find the program and initialise it.

        Raises:
            UsageError: there is no such program, or it refuses.
        """
        from hyperkube_network.exec.exec_network import ExecNetwork, find_program

        settings = self.settings(ExecSettings)
        folder = Path(settings.network_plugin_dir or DEFAULT_FOLDER)
        network = ExecNetwork(find_program(folder, settings.exec_network_plugin), settings.timeout_seconds)
        network.init()
        return network
