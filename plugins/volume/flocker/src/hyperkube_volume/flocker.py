"""flocker: a data set that the Flocker control service moves to the node where its pod runs.

The node's agent mounts the data set at ``/flocker/UUID``; a pod sees it by a bind mount. Where the control service is,
and with which certificates it is asked, stands in the environment of the host, as in Kubernetes:
``FLOCKER_CONTROL_SERVICE_HOST``, ``_PORT``, ``_CA_FILE``, ``_CLIENT_KEY_FILE`` and ``_CLIENT_CERT_FILE``.
Source: kubernetes 1.24 ``pkg/volume/flocker`` and its client ``github.com/clusterhq/flocker-go``.
"""

from __future__ import annotations

import os
import random
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from hyperkube_lib.storage_api import StorageApi, StorageRefused
from hyperkube_lib.volume_mount import Mounter

from hyperkube.client.connection_pool import TlsOptions
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import MountedVolume, VolumeFailed, VolumeRequest, Volumes, VolumeSpec
from hyperkube.hookspecs.volume_storage import ProvisionRequest
from hyperkube.machinery.objects import Object, name_of
from hyperkube.machinery.quantity import parse
from hyperkube.plugin import Plugin

__all__ = ["Flocker"]

_ACCESS = ("ReadWriteOnce",)
MOUNTS: Final = "/flocker"
"""Where the agent of a node mounts its data sets."""
TRIES: Final = 24
SECONDS: Final = 5.0
"""A move is waited for two minutes."""
_NOT_FOUND, _CONFLICT = 404, 409
_DATASETS = "/configuration/datasets"
_GIB = 1 << 30
_NAMES: Final = uuid.UUID("1f0f2c8e-53bb-4ac0-9a1b-6f8f5d3d6c11")
"""The space of names in which a volume's name gives the id of its data set: made twice, it is the same."""


def connect(environment: Mapping[str, str]) -> StorageApi:
    """Return the control service that an environment names.

    Raises:
        VolumeFailed: its port is no number, or a certificate cannot be used.
    """

    def named(what: str, default: str) -> str:
        return environment.get(f"FLOCKER_CONTROL_SERVICE_{what}") or default

    host, port = named("HOST", "localhost"), named("PORT", "4523")
    if not port.isdecimal():
        raise VolumeFailed(f"FLOCKER_CONTROL_SERVICE_PORT {port!r} must be a number")
    tls = TlsOptions(
        ca_file=named("CA_FILE", "/etc/flocker/cluster.crt"),
        key_file=named("CLIENT_KEY_FILE", "/etc/flocker/apiuser.key"),
        cert_file=named("CLIENT_CERT_FILE", "/etc/flocker/apiuser.crt"),
    )
    address = f"[{host}]" if ":" in host else host
    return StorageApi(f"https://{address}:{port}/v1", tls=tls)


class ControlService:
    """What is asked of the control service; each method raises `VolumeFailed` where it does not answer."""

    def __init__(self, api: StorageApi) -> None:
        self._api = api

    def dataset_id(self, source: Object) -> str:
        """Return the id of the data set that a volume names by id or by name; empty if there is none of that name."""
        if source.get("datasetUUID"):
            return str(source["datasetUUID"])
        name = source.get("datasetName")
        for each in self._api.objects(_DATASETS):
            metadata = each.get("metadata")
            if isinstance(metadata, dict) and metadata.get("name") == name and not each.get("deleted"):
                return str(each.get("dataset_id") or "")
        return ""

    def primary_of(self, dataset: str) -> str:
        """Return the id of the node that has a data set."""
        for each in self._api.objects("/state/datasets"):
            if each.get("dataset_id") == dataset:
                return str(each.get("primary") or "")
        raise VolumeFailed(
            f"the datasetState for volume with datasetUUID='{dataset}' could not be determined using flocker: "
            "State not found by Dataset ID"
        )

    def nodes(self) -> dict[str, str]:
        """Return address → id of the nodes."""
        return {str(each.get("host")): str(each.get("uuid")) for each in self._api.objects("/state/nodes")}

    def move(self, dataset: str, node: str) -> None:
        """Ask that a node shall have a data set."""
        try:
            self._api.call("POST", f"{_DATASETS}/{quote(dataset, safe='')}", {"primary": node})
        except StorageRefused as error:
            raise VolumeFailed(f"It was impossible to update the dataset: {error}") from error

    def create(self, dataset: str, size: int, node: str, claim: str) -> None:
        """Make a data set of so many bytes, with its first place; no error if it is there."""
        metadata = {"type": "k8s-dynamic-prov", "pvc": claim}
        wanted = {"primary": node, "dataset_id": dataset, "maximum_size": size, "metadata": metadata}
        try:
            self._api.call("POST", _DATASETS, wanted)
        except StorageRefused as error:
            if error.status != _CONFLICT:
                raise

    def delete(self, dataset: str) -> None:
        """Delete a data set; no error if it is gone."""
        try:
            self._api.call("DELETE", f"{_DATASETS}/{quote(dataset, safe='')}")
        except StorageRefused as error:
            if error.status != _NOT_FOUND:
                raise


class FlockerVolumes:
    """Moves, mounts and makes data sets; see `Volumes`, `OwnsFiles`, `Persistent`, `Provisionable` and `Deletable`."""

    def __init__(self, mounter: Mounter, api: Callable[[], StorageApi], sleep: Callable[[float], None]) -> None:
        """Take what mounts, what connects to the control service, and what waits for it."""
        self._mounter, self._api, self._sleep = mounter, api, sleep

    def supports(self, volume: Object) -> bool:
        """Handle ``flocker``."""
        return "flocker" in volume

    # the node

    def setup(self, request: VolumeRequest) -> str:
        """Have the data set moved here, and show it to the pod.

        Raises:
            VolumeFailed: there is none, it does not come, or it cannot be mounted.
        """
        if self._mounter.is_mount_point(request.path):
            return request.path
        dataset = self._here(request)
        Path(request.path).mkdir(mode=0o750, parents=True, exist_ok=True)
        options = ["bind", *(("ro",) if request.spec.read_only or request.read_only else ())]
        try:
            self._mounter.mount(f"{MOUNTS}/{dataset}", request.path, options=options)
        except VolumeFailed:
            self._mounter.clean_up(request.path)
            raise
        return request.path

    def _here(self, request: VolumeRequest) -> str:
        """Return the id of a data set that this node has, at the latest in the end."""
        service = ControlService(self._api())
        source = request.volume["flocker"]
        dataset = service.dataset_id(source)
        if not dataset:
            text = "can not be found using flocker: Configuration not found by Name"
            raise VolumeFailed(f"the datasetUUID for volume with datasetName='{source.get('datasetName')}' {text}")
        # An id that a pod names becomes a path: the control service has to know it.
        primary = service.primary_of(dataset)
        if "/" in dataset or dataset in {".", ".."}:
            raise VolumeFailed(f"flocker: datasetUUID {dataset!r} must be the id of a data set")
        own = _own_node(service.nodes(), request.node)
        if primary != own:
            service.move(dataset, own)
            self._wait(service, dataset, own)
        return dataset

    def _wait(self, service: ControlService, dataset: str, own: str) -> None:
        problem = ""
        for _ in range(TRIES):
            try:
                if service.primary_of(dataset) == own:
                    return
                problem = ""
            except VolumeFailed as error:  # on its way it may be nowhere
                problem = f"\n{error}"
            self._sleep(SECONDS)
        text = f"Timed out waiting for the datasetUUID: '{dataset}' to be moved to the primary: '{own}'"
        raise VolumeFailed(text + problem)

    def teardown(self, mounted: MountedVolume) -> None:
        """Take it from the pod; it stays with the node until another asks for it.

        Raises:
            VolumeFailed: it is busy.
        """
        self._mounter.clean_up(mounted.path)

    def gives_to_group(self, spec: VolumeSpec) -> bool:
        """Give its files to the pod's group."""
        del spec
        return True

    def construct_spec(self, mounted: MountedVolume) -> VolumeSpec:
        """Return a spec that names the data set as the volume: unmounting needs the folder alone."""
        return VolumeSpec(volume={"name": mounted.name, "flocker": {"datasetName": mounted.name}})

    # the storage

    def access_modes(self) -> Sequence[str]:
        """Return the one: a data set is at one node."""
        return _ACCESS

    def provision(self, request: ProvisionRequest) -> Object:
        """Make a data set, with its first place at any node.

        Raises:
            VolumeFailed: the claim or its class asks for what data sets cannot do, or it is not ready yet.
        """
        spec = request.claim.get("spec") or {}
        if request.storage_class.get("parameters"):
            raise VolumeFailed("Provisioning failed: Specified at least one unsupported parameter")
        if spec.get("selector") is not None:
            raise VolumeFailed("Provisioning failed: Specified unsupported selector")
        if spec.get("volumeMode") == "Block":
            raise VolumeFailed("kubernetes.io/flocker does not support block volume provisioning")
        service, dataset = ControlService(self._api()), str(uuid.uuid5(_NAMES, request.name))
        nodes = sorted(service.nodes().values())
        if not nodes:
            raise VolumeFailed("no nodes found inside the flocker cluster to provision a dataset")
        size = parse(spec["resources"]["requests"]["storage"]).value()
        service.create(dataset, size, random.choice(nodes), name_of(request.claim))  # noqa: S311  any node will do
        service.primary_of(dataset)  # until it has a place it is not ready: asked again, it is the same data set
        return {
            "metadata": {"annotations": {"kubernetes.io/createdby": "flocker-dynamic-provisioner"}},
            "spec": {
                "capacity": {"storage": f"{-(-size // _GIB)}Gi"},
                "accessModes": spec.get("accessModes") or list(_ACCESS),
                "flocker": {"datasetUUID": dataset},
            },
        }

    def delete(self, volume: Object) -> None:
        """Delete the data set of a volume; no error if it is gone.

        Raises:
            VolumeFailed: the control service does not answer, or refuses.
        """
        service = ControlService(self._api())
        if dataset := service.dataset_id(volume["spec"]["flocker"]):
            service.delete(dataset)


def _own_node(nodes: Mapping[str, str], node: Object) -> str:
    """Return the id that the control service gave this node, known by its address."""
    addresses = (node.get("status") or {}).get("addresses") or []
    own = [each["address"] for kind in ("InternalIP", "ExternalIP") for each in addresses if each.get("type") == kind]
    if not own:
        raise VolumeFailed("flocker: this node has no address yet")
    if own[0] not in nodes:
        raise VolumeFailed(f"No node found with IP '{own[0]}', available nodes {', '.join(sorted(nodes))}")
    return nodes[own[0]]


class Flocker(Plugin):
    """The flocker volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        return FlockerVolumes(Mounter(), lambda: connect(os.environ), self.context.clock.sleep)
