"""Sets up the volumes of pods on this node, each with the volume plugin that supports it.

Source: kubernetes ``pkg/kubelet/volumemanager/volume_manager.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.objects.object_cache import ObjectCache
from hyperkube_host.kubelet.objects.token_manager import TokenManager
from hyperkube_host.kubelet.types.pod_spec import containers_of, init_containers_of
from hyperkube_host.kubelet.volumemanager.volume_ownership import (
    follows_api,
    group_of_volume,
    set_volume_ownership,
)

from hyperkube.hookspecs.volume import MountedVolume, VolumeFailed, VolumeRequest, Volumes
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from hyperkube.kinds.volumes import claim_name, not_made_for
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.objects import Object, namespace_of, uid_of


class MountFailed(Exception):
    """A volume is not ready; the text is that of the FailedMount event. If it is `final`, it never will be."""

    def __init__(self, volume: str, problem: object, *, final: bool = False) -> None:
        super().__init__(f'MountVolume.SetUp failed for volume "{volume}" : {problem}')
        self.final = final


class VolumeManager:
    """Mounts and unmounts the volumes of pods."""

    def __init__(
        self,
        directories: KubeletDirectories,
        plugins: Sequence[tuple[str, Volumes]],
        objects: ObjectCache,
        tokens: TokenManager,
        node: Callable[[], Object],
    ) -> None:
        """Use `plugins`, the volume plugins with their names, in order; `node` returns the Node as it is now."""
        self._directories = directories
        self._plugins = plugins
        self._objects = objects
        self._tokens = tokens
        self._node = node
        self._owned: set[str] = set()

    def setup(self, pod: Object) -> dict[str, str]:
        """Set up all volumes, or update their content from its sources; return volume name → path on the node.

        Raises:
            MountFailed: for the first that is not ready.
        """
        paths: dict[str, str] = {}
        for volume in pod["spec"].get("volumes") or []:
            name = volume["name"]
            if "image" in volume:
                continue  # the runtime mounts images itself
            try:
                plugin_name, plugin, resolved = self._find(pod, volume)
                folder = self._directories.volume(uid_of(pod), plugin_name, name)
                folder.mkdir(parents=True, exist_ok=True)
                paths[name] = plugin.setup(self._request(pod, resolved, folder))
                self._own(pod, resolved, paths[name])
            except ApiError as error:
                raise MountFailed(name, error.message) from error
            except ValueError as error:  # what the pod asks for is no path at all
                raise MountFailed(name, error, final=True) from error
            except (VolumeFailed, OSError) as error:
                raise MountFailed(name, error) from error
        return paths

    def _own(self, pod: Object, volume: Object, path: str) -> None:
        """Give a volume to the pod's group: once, or at every sync when its content may be new."""
        group = group_of_volume(pod, volume)
        if group is None or (path in self._owned and not follows_api(volume)):
            return
        policy = (pod["spec"].get("securityContext") or {}).get("fsGroupChangePolicy")
        lazily = policy == "OnRootMismatch"
        set_volume_ownership(path, group, read_only=follows_api(volume), on_root_mismatch=lazily)
        self._owned.add(path)

    def _request(self, pod: Object, volume: Object, folder: Path) -> VolumeRequest:
        containers = [*init_containers_of(pod), *containers_of(pod)]
        mounts = [m for c in containers for m in c.get("volumeMounts") or [] if m["name"] == volume["name"]]
        return VolumeRequest(
            volume=volume,
            pod=pod,
            path=str(folder),
            read_only=bool(mounts) and all(mount.get("readOnly") for mount in mounts),
            node=self._node(),
            get_config_map=self._objects.config_map,
            get_secret=self._objects.secret,
            request_token=lambda audience, seconds: self._tokens.token(pod, audience, seconds),
        )

    def _find(self, pod: Object, volume: Object) -> tuple[str, Volumes, Object]:
        resolved = volume
        if "persistentVolumeClaim" in volume or "ephemeral" in volume:
            resolved = self._resolve(pod, volume)
        for name, plugin in self._plugins:
            if plugin.supports(resolved):
                return name, plugin, resolved
        source = next((key for key in resolved if key != "name"), "nothing")
        known = ", ".join(name for name, _ in self._plugins)
        raise VolumeFailed(f"no volume plugin handles {source!r} (installed: {known})")

    def _resolve(self, pod: Object, volume: Object) -> Object:
        """Return the volume with the source of the PersistentVolume that its claim is bound to."""
        name = claim_name(pod, volume) or ""
        claim = self._objects.get(PERSISTENT_VOLUME_CLAIMS, namespace_of(pod), name)
        why = not_made_for(claim, pod) if "ephemeral" in volume else ""
        if why:
            raise VolumeFailed(why)
        bound = (claim.get("spec") or {}).get("volumeName")
        if not bound or (claim.get("status") or {}).get("phase") != "Bound":
            raise VolumeFailed(f"PVC {namespace_of(pod)}/{name} is not bound")
        spec = self._objects.get(PERSISTENT_VOLUMES, "", bound)["spec"]
        return {"name": volume["name"], **spec}

    def teardown(self, pod: Object) -> None:
        """Tear down the volumes of an ended pod and remove its folder."""
        for volume in pod["spec"].get("volumes") or []:
            try:
                plugin_name, plugin, _ = self._find(pod, volume)
            except (VolumeFailed, NotFound):
                continue  # what could never be set up leaves nothing
            folder = self._directories.volume(uid_of(pod), plugin_name, volume["name"])
            if folder.exists():
                plugin.teardown(MountedVolume(name=volume["name"], pod_uid=uid_of(pod), path=str(folder)))
        self._directories.remove_pod(uid_of(pod))
        gone = str(self._directories.pod(uid_of(pod)))
        self._owned = {path for path in self._owned if not path.startswith(gone)}
