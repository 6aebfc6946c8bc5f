"""A CSI driver in Python: a class with a method per call that it serves, brought by an entry point ``hyperkube.csi``.

The controller manager calls its controller service, the kubelet its node service, both within their own process; the
command ``hyperkube csi-driver`` serves it at a socket, also for the kubelets and the sidecars of another Kubernetes.
Methods are named as CSI's, in lower case with underscores; messages are mappings as in `CsiCalls`::

    class Shelf(CsiDriver):
        driver_name = "shelf.example.com"
        controller_capabilities = ("CREATE_DELETE_VOLUME",)

        def create_volume(self, request): ...

One instance is called from several threads, and a driver may have several instances, in other processes too: what it
knows it keeps with the storage. It refuses a call by raising `refused`; each call must be idempotent, as the
specification of CSI says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from hyperkube_lib.csi.calls import answer, read_capabilities

from hyperkube.plugin import Plugin

Answer = dict[str, Any]


class CsiDriver(Plugin):
    """The base of drivers; see `CsiCalls`.

    Attributes:
        driver_name: the name of the driver, a DNS name.
        version: of the driver, for people.
        services: what it has beside its node service: ``CONTROLLER_SERVICE``, ``VOLUME_ACCESSIBILITY_CONSTRAINTS``.
        expansion: ``ONLINE``, ``OFFLINE`` or empty, as its plugin capabilities say it.
        controller_capabilities, node_capabilities: what the two services can do, by CSI's names.
        extra_create_metadata: whether CreateVolume is to tell which claim a volume is for, by the parameters
            ``csi.storage.k8s.io/{pvc/name,pvc/namespace,pv/name}``, as external-provisioner's flag of that name says.
    """

    driver_name: str
    version: ClassVar[str] = "0.1.0"
    services: ClassVar[tuple[str, ...]] = ("CONTROLLER_SERVICE",)
    expansion: ClassVar[str] = ""
    controller_capabilities: ClassVar[tuple[str, ...]] = ()
    node_capabilities: ClassVar[tuple[str, ...]] = ()
    extra_create_metadata: ClassVar[bool] = False

    def is_configured(self) -> bool:
        """Tell whether there is what the driver needs: one that is not configured is not used."""
        return True

    def call(self, service: str, method: str, request: Mapping[str, Any]) -> Answer:
        """Call a method of one of the services."""
        del service
        return answer(self, method, request)

    def capabilities(self, service: str) -> frozenset[str]:
        """Return what a service can do."""
        return read_capabilities(self.call(service, f"{service}GetCapabilities", {}))

    def get_plugin_info(self, _request: Mapping[str, Any]) -> Answer:
        """Tell the driver's name."""
        return {"name": self.driver_name, "vendor_version": self.version}

    def get_plugin_capabilities(self, _request: Mapping[str, Any]) -> Answer:
        """Tell which services there are."""
        rows: list[Answer] = [{"service": {"type": name}} for name in self.services]
        if self.expansion:
            rows.append({"volume_expansion": {"type": self.expansion}})
        return {"capabilities": rows}

    def probe(self, _request: Mapping[str, Any]) -> Answer:
        """Be ready."""
        return {"ready": {"value": True}}

    def controller_get_capabilities(self, _request: Mapping[str, Any]) -> Answer:
        """Tell what the controller service can do."""
        return {"capabilities": [{"rpc": {"type": name}} for name in self.controller_capabilities]}

    def node_get_capabilities(self, _request: Mapping[str, Any]) -> Answer:
        """Tell what the node service can do."""
        return {"capabilities": [{"rpc": {"type": name}} for name in self.node_capabilities]}
