"""What controllers look up for a claim: its volume, and the attributes that it asks for."""

from __future__ import annotations

from hyperkube_lib.csi_controllers.connections import Driver

from hyperkube.client.informer import Informer
from hyperkube.client.reconcile import NotYet
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.objects import Object, name_of, uid_of

_MODIFY = "MODIFY_VOLUME"


def bound_volume(claim: Object, volumes: Informer) -> Object:
    """Return the volume of a bound claim.

    Raises:
        NotYet: it is not known yet, or not bound to the claim.
    """
    volume = volumes.get("", claim["spec"]["volumeName"])
    if volume is None or ((volume["spec"].get("claimRef") or {}).get("uid")) != uid_of(claim):
        raise NotYet("the claim's volume is not known yet")
    return volume


def mutable_parameters(attributes: Object, driver: Driver) -> dict[str, str]:
    """Return the parameters of a VolumeAttributesClass for a driver.

    Source: github.com/kubernetes-csi/external-provisioner ``pkg/controller/controller.go`` (prepareProvision).

    Raises:
        VolumeFailed: it is another driver's class, or the driver modifies no volumes.
    """
    if attributes.get("driverName") != driver.name:
        text = f"VAC {name_of(attributes)} referenced in PVC is for driver {attributes.get('driverName')}"
        raise VolumeFailed(f"{text} which does not match driver name {driver.name}")
    if _MODIFY not in driver.can():
        raise VolumeFailed(f"driver {driver.name} does not support modify volume")
    return dict(attributes.get("parameters") or {})
