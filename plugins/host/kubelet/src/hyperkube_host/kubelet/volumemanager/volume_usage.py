"""How full volumes are that are more than a folder of the node. Source: kubernetes ``pkg/volume/metrics_statfs.go``."""

from __future__ import annotations

from pathlib import Path

from hyperkube_host.kubelet.stats.file_systems import fs_info
from hyperkube_host.kubelet.volumemanager.actual_state import ActualStateOfWorld

from hyperkube.hookspecs.volume import MetricsProvider, MountedVolume, VolumeFailed, VolumeUsage
from hyperkube.machinery.objects import Object, name_of, namespace_of


def usage_row(state: ActualStateOfWorld, uid: str, path: Path) -> Object | None:
    """Return the row of the volume of a pod in a folder.

    Nothing is in it for one that is not to be measured; None where the folder itself is to be.
    """
    mounted = next((one for one in state.mounted(uid).values() if one.volume.spec.name == path.name), None)
    if mounted is None:
        return None
    volume = mounted.volume
    spec, claim = volume.spec, volume.claim
    if isinstance(volume.plugin, MetricsProvider):
        try:
            found = _usage(volume.plugin.usage(spec, MountedVolume(name=spec.name, pod_uid=uid, path=str(path))))
        except VolumeFailed:
            return {}
    elif spec.persistent_volume is not None or volume.device_mountable is not None:
        found = {} if "hostPath" in spec.volume else fs_info(Path(mounted.path))
    else:
        return None
    if not found or claim is None:
        return {**found, "name": volume.name} if found else {}
    return {**found, "name": volume.name, "pvcRef": {"name": name_of(claim), "namespace": namespace_of(claim)}}


def _usage(usage: VolumeUsage) -> Object:
    figures = {
        "availableBytes": usage.available,
        "capacityBytes": usage.capacity,
        "usedBytes": usage.used,
        "inodesFree": usage.inodes_free,
        "inodes": usage.inodes,
        "inodesUsed": usage.inodes_used,
    }
    found: Object = {key: value for key, value in figures.items() if value is not None}
    if usage.abnormal is not None:
        found["volumeHealthStats"] = {"abnormal": bool(usage.abnormal)}
    return found
