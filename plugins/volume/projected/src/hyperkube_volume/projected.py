"""projected: config maps, secrets, fields, tokens, certificates and trust anchors, all in one folder.

Every pod gets one of these: its service account's token, the cluster's CA and its namespace.
"""

from __future__ import annotations

from hyperkube_lib.volume_files import (
    DEFAULT_MODE,
    File,
    Files,
    clear_folder,
    config_map_files,
    downward_files,
    secret_files,
    write_files,
)

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import MountedVolume, VolumeFailed, VolumeRequest, Volumes
from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

__all__ = ["Projected"]

TOKEN_SECONDS = 3600
CREDENTIAL_MODE = 0o600


class ProjectedFolders:
    """Joins several sources; see `Volumes` and `Remounts`."""

    def supports(self, volume: Object) -> bool:
        """Handle ``projected``."""
        return "projected" in volume

    def setup(self, request: VolumeRequest) -> str:
        """Write what the sources have now; a later source wins over an earlier one.

        Raises:
            NotFound: a source is not there and not optional.
            VolumeFailed: a key is not there, a certificate is not issued, or a source is of an unknown kind; when
                several sources are wrong it tells of all of them.
        """
        projected = request.volume["projected"] or {}
        mode = projected.get("defaultMode") or DEFAULT_MODE
        files: Files = {}
        problems: list[Exception] = []
        for index, source in enumerate(projected.get("sources") or []):
            try:
                files |= self._files(request, index, source, mode)
            except (ApiError, VolumeFailed) as error:
                problems.append(error)
        if len(problems) == 1:
            raise problems[0]
        if problems:
            texts = (error.message if isinstance(error, ApiError) else error for error in problems)
            raise VolumeFailed(aggregate(texts)) from problems[0]
        write_files(request.path, files)
        return request.path

    def _files(self, request: VolumeRequest, index: int, source: Object, mode: int) -> Files:
        if "configMap" in source:
            return config_map_files(request, source["configMap"], mode)
        if "secret" in source:
            return secret_files(request, source["secret"], source["secret"]["name"], mode)
        if "downwardAPI" in source:
            return downward_files(request, source["downwardAPI"].get("items") or [], mode)
        if "serviceAccountToken" in source:
            wanted = source["serviceAccountToken"]
            status = request.request_token(
                wanted.get("audience", ""), int(wanted.get("expirationSeconds") or TOKEN_SECONDS)
            )
            return {wanted["path"]: _credential_file(request.pod, status["token"].encode(), mode)}
        if "podCertificate" in source:
            return _certificate_files(request, index, source["podCertificate"], mode)
        if "clusterTrustBundle" in source:
            bundle = source["clusterTrustBundle"]
            return {bundle["path"]: _credential_file(request.pod, request.trust_anchors(bundle), mode)}
        raise VolumeFailed(f"projected source {sorted(source)} is not supported by this kubelet")

    def requires_remount(self, volume: Object) -> bool:
        """Follow the sources."""
        return True

    def teardown(self, mounted: MountedVolume) -> None:
        """Remove the files."""
        clear_folder(mounted.path)


def _certificate_files(request: VolumeRequest, index: int, wanted: Object, mode: int) -> Files:
    """Return what a source asks for: key and certificates in one file, or each in its own, or both ways."""
    key, certificates = request.pod_certificate(index)
    contents = {"credentialBundlePath": key + certificates, "keyPath": key, "certificateChainPath": certificates}
    return {
        wanted[member]: _credential_file(request.pod, content, mode)
        for member, content in contents.items()
        if wanted.get(member)
    }


def _credential_file(pod: Object, content: bytes, mode: int) -> File:
    """Return a file that is for the one user of all containers, or for the pod's group, if there is one."""
    user = _common_user(pod)
    has_group = (pod["spec"].get("securityContext") or {}).get("fsGroup") is not None
    return File(content, mode if user is None and not has_group else CREDENTIAL_MODE, user)


def _common_user(pod: Object) -> int | None:
    """Return the user that all containers of a pod run as, None when they differ or do not say.

    Source: kubernetes ``pkg/volume/util/util.go`` (FsUserFrom).
    """
    spec = pod["spec"]
    default = (spec.get("securityContext") or {}).get("runAsUser")
    users = {
        (container.get("securityContext") or {}).get("runAsUser", default)
        for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ()))
    }
    return users.pop() if len(users) == 1 else None


class Projected(Plugin):
    """The projected volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        return ProjectedFolders()
