"""From an entry of a pod's volumes to the volume behind it: its claim's PersistentVolume, its plugin, its names.

Sources: kubernetes ``pkg/kubelet/volumemanager/populator/desired_state_of_world_populator.go`` (createVolumeSpec),
``pkg/volume/util/util.go`` (GetUniqueVolumeName).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_host.kubelet.objects.object_cache import ObjectCache
from hyperkube_lib.csi_translation import taken_over

from hyperkube.hookspecs.volume import Attachable, DeviceMountable, VolumeFailed, Volumes, VolumeSpec
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from hyperkube.kinds.volumes import claim_name, not_made_for
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, is_being_deleted, namespace_of, uid_of

RWOP = "ReadWriteOncePod"


class VolumeNotProcessed(VolumeFailed):
    """What a pod's entry means cannot be told now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodVolume:
    """One volume of one pod, resolved.

    Attributes:
        name: that of the pod's entry.
        plugin_name, plugin: the kind.
        spec: what it is.
        unique_name: of the volume on the node: pods that share it have the same.
        claim: the claim it comes from.
        attachable: the kind, if this volume is attached to the node before it is mounted.
        device_mountable: the kind, if this volume is mounted once for all pods of the node.
        selinux_label: what it is mounted with; empty for a volume that is not mounted so.
    """

    name: str
    plugin_name: str
    plugin: Volumes
    spec: VolumeSpec
    unique_name: str
    claim: Object | None = None
    attachable: Attachable | None = None
    device_mountable: DeviceMountable | None = None
    selinux_label: str = ""

    @property
    def is_for_one_pod(self) -> bool:
        """Whether no two pods may have it at a time."""
        return self.spec.persistent_volume is not None and self.spec.volume.get("accessModes") == [RWOP]


class PodVolumes:
    """Resolves the volumes of pods."""

    def __init__(self, plugins: Sequence[tuple[str, Volumes]], objects: ObjectCache) -> None:
        """Use `plugins`, the kinds with their names, in order."""
        self._plugins = plugins
        self._objects = objects

    def plugin(self, name: str) -> Volumes | None:
        """Return the kind of a name."""
        return next((plugin for known, plugin in self._plugins if known == name), None)

    def plugins(self) -> Sequence[tuple[str, Volumes]]:
        """Return all kinds with their names."""
        return self._plugins

    def resolve(self, pod: Object, volume: Object) -> PodVolume:
        """Return what an entry of a pod stands for.

        Raises:
            VolumeNotProcessed: its claim or its volume is not as it must be.
            VolumeFailed: no plugin handles it, or it has no name.
        """
        claim: Object | None = None
        if "persistentVolumeClaim" in volume or "ephemeral" in volume:
            spec, claim = self._of_claim(pod, volume)
        else:
            spec = VolumeSpec(volume=volume)
        found = self._plugin_of(spec)
        if found is None and (moved := taken_over(spec, namespace_of(pod))) is not None:
            spec, found = moved, self._plugin_of(moved)
        if found is None:
            known = ", ".join(name for name, _ in self._plugins)
            raise VolumeFailed(f"no volume plugin handles {_source_of(spec.volume)} (installed: {known})")
        plugin_name, plugin = found
        return pod_volume(volume["name"], plugin_name, plugin, spec, uid_of(pod), claim)

    def _plugin_of(self, spec: VolumeSpec) -> tuple[str, Volumes] | None:
        return next(((name, plugin) for name, plugin in self._plugins if plugin.supports(spec.volume)), None)

    def _of_claim(self, pod: Object, volume: Object) -> tuple[VolumeSpec, Object]:
        """Return the PersistentVolume that a claim is bound to, and the claim."""
        namespace, name = namespace_of(pod), claim_name(pod, volume) or ""
        try:
            claim = self._claim(pod, volume, name)
            bound = str(claim["spec"]["volumeName"])
            found = self._persistent_volume(bound, claim)
        except VolumeNotProcessed as error:
            raise VolumeNotProcessed(f"error processing PVC {namespace}/{name}: {error}") from error
        spec: Object = {"name": bound, **found["spec"]}
        read_only = bool((volume.get("persistentVolumeClaim") or {}).get("readOnly"))
        meta = {"name": bound, **(found.get("metadata") or {})}
        return VolumeSpec(volume=spec, persistent_volume={**found, "metadata": meta}, read_only=read_only), claim

    def _claim(self, pod: Object, volume: Object, name: str) -> Object:
        try:
            claim = self._objects.get(PERSISTENT_VOLUME_CLAIMS, namespace_of(pod), name)
        except ApiError as error:
            raise VolumeNotProcessed(f"failed to fetch PVC from API server: {error.message}") from error
        why = not_made_for(claim, pod) if "ephemeral" in volume else ""
        if why:
            raise VolumeNotProcessed(why)
        if is_being_deleted(claim):
            raise VolumeNotProcessed("PVC is being deleted")
        if (claim.get("status") or {}).get("phase") != "Bound":
            raise VolumeNotProcessed("PVC is not bound")
        if not (claim.get("spec") or {}).get("volumeName"):
            raise VolumeNotProcessed("PVC has empty pvc.Spec.VolumeName")
        return claim

    def _persistent_volume(self, name: str, claim: Object) -> Object:
        try:
            found = self._objects.get(PERSISTENT_VOLUMES, "", name)
        except ApiError as error:
            raise VolumeNotProcessed(f"failed to fetch PV {name} from API server: {error.message}") from error
        reference = found["spec"].get("claimRef")
        if reference is None:
            text = "but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim"
            raise VolumeNotProcessed(f"found PV object {name} {text}")
        if reference.get("uid") != uid_of(claim):
            text = f"does not point to claim.UID {uid_of(claim)}"
            raise VolumeNotProcessed(
                f"found PV object {name} but its pv.Spec.ClaimRef.UID {reference.get('uid')} {text}"
            )
        return found


def _source_of(volume: Object) -> str:
    """Return what a volume is of, with the driver where one is named, for a message."""
    source = next((key for key in volume if key != "name"), "nothing")
    table = volume.get(source)
    driver = table.get("driver") if isinstance(table, dict) else None
    return f"{source!r}" if driver is None else f"{source!r} of driver {driver!r}"


def pod_volume(
    name: str, plugin_name: str, plugin: Volumes, spec: VolumeSpec, pod_uid: str, claim: Object | None = None
) -> PodVolume:
    """Return a volume with what its kind says of it; the unique name of one that is not shared has the pod's uid in it.

    Raises:
        VolumeFailed: the kind cannot say now.
    """
    attachable = plugin if isinstance(plugin, Attachable) and plugin.can_attach(spec) else None
    mountable = plugin if isinstance(plugin, DeviceMountable) and plugin.can_device_mount(spec) else None
    shared = attachable or mountable or (plugin if isinstance(plugin, DeviceMountable) and spec.is_block else None)
    return PodVolume(
        name=name,
        plugin_name=plugin_name,
        plugin=plugin,
        spec=spec,
        unique_name=f"{plugin_name}/{pod_uid}-{spec.name}"
        if shared is None
        else f"{plugin_name}/{shared.volume_name(spec)}",
        claim=claim,
        attachable=attachable,
        device_mountable=mountable,
    )
