"""CSIStorageCapacity objects: how much a driver can still make of a class in a place, for the scheduler.

They are kept for drivers whose CSIDriver says ``storageCapacity: true``, and renewed every minute.
Source: external-provisioner ``pkg/capacity/capacity.go``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hyperkube_controller.csi_provisioner.topology import Segments
from hyperkube_lib.csi_controllers import Driver
from hyperkube_lib.csi_controllers.secrets import PREFIX

from hyperkube.client.client import Client
from hyperkube.kinds.resources import CSI_DRIVERS, CSI_STORAGE_CAPACITIES
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import Object, name_of, uid_of
from hyperkube.machinery.quantity import Quantity

POLL_SECONDS = 60.0
NAMESPACE = "kube-system"
DRIVER_LABEL, MANAGER_LABEL = "csi.storage.k8s.io/drivername", "csi.storage.k8s.io/managed-by"
MANAGER = "external-provisioner"


def object_name(driver: str, class_name: str, place: Segments) -> str:
    """Return the name of the object for a class in a place."""
    text = "\0".join((driver, class_name, *(f"{key}={value}" for key, value in place)))
    return f"csisc-{hashlib.sha256(text.encode()).hexdigest()[:20]}"


def capacity_object(driver: Object, storage_class: Object, place: Segments, answer: Mapping[str, Any]) -> Object:
    """Return the object that tells of a class in a place.

    Args:
        driver: its CSIDriver, with which the object goes.
        storage_class: the class.
        place: where.
        answer: of GetCapacity.
    """
    owner = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "name": name_of(driver), "uid": uid_of(driver)}
    name = object_name(name_of(driver), name_of(storage_class), place)
    found: Object = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIStorageCapacity",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {DRIVER_LABEL: name_of(driver), MANAGER_LABEL: MANAGER},
            "ownerReferences": [owner],
        },
        "storageClassName": name_of(storage_class),
        "nodeTopology": {"matchLabels": dict(place)},
        "capacity": _bytes(answer.get("available_capacity")),
    }
    if largest := (answer.get("maximum_volume_size") or {}).get("value"):
        found["maximumVolumeSize"] = _bytes(largest)
    return found


def _bytes(value: Any) -> str:
    return str(Quantity(int(value or 0), form="BinarySI"))


class CapacityObjects:
    """Keeps the objects as the drivers say."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def sync(self, driver: Driver, classes: Sequence[Object], places: Sequence[Segments]) -> float | None:
        """Bring one driver's objects up to date; return after how many seconds to do so again.

        Raises:
            CsiFailed: the driver does not tell.
        """
        try:
            described = self._client.get(CSI_DRIVERS, driver.name)
        except NotFound:
            return None
        if not (described.get("spec") or {}).get("storageCapacity") or "GET_CAPACITY" not in driver.can():
            return None
        wanted = {name_of(each): each for each in self._wanted(driver, described, classes, places)}
        selector = f"{DRIVER_LABEL}={driver.name},{MANAGER_LABEL}={MANAGER}"
        for found in self._client.list(CSI_STORAGE_CAPACITIES, NAMESPACE, label_selector=selector).items:
            new = wanted.pop(name_of(found), None)
            if new is None:
                self._client.delete(CSI_STORAGE_CAPACITIES, name_of(found), NAMESPACE)
            elif any(found.get(key) != new.get(key) for key in ("capacity", "maximumVolumeSize")):
                kept = {key: value for key, value in found.items() if key != "maximumVolumeSize"}
                parts: Object = {key: new[key] for key in ("capacity", "maximumVolumeSize") if key in new}
                self._client.update(CSI_STORAGE_CAPACITIES, {**kept, **parts}, NAMESPACE)
        for new in wanted.values():
            self._client.create(CSI_STORAGE_CAPACITIES, new, NAMESPACE)
        return POLL_SECONDS

    def _wanted(
        self, driver: Driver, described: Object, classes: Iterable[Object], places: Sequence[Segments]
    ) -> Iterable[Object]:
        for storage_class in classes:
            parameters = {
                key: value
                for key, value in (storage_class.get("parameters") or {}).items()
                if not key.startswith(PREFIX)
            }
            for place in places or [()]:
                request = {"parameters": parameters, "accessible_topology": {"segments": dict(place)} if place else {}}
                yield capacity_object(described, storage_class, place, driver.control("GetCapacity", request))
