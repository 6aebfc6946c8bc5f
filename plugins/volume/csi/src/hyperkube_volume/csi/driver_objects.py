"""What a CSIDriver object says of a driver; each is read when it is needed, and kept for a moment.

Sources: kubernetes ``pkg/volume/csi/csi_plugin.go`` (podInfoEnabled, supportsVolumeLifecycleMode), ``csi_mounter.go``.
"""

from __future__ import annotations

import base64
import json

from hyperkube.client.client import Client
from hyperkube.hookspecs.volume import VolumeFailed, VolumeRequest
from hyperkube.kinds.resources import CSI_DRIVERS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of

_POD = "csi.storage.k8s.io/"
TOKENS = f"{_POD}serviceAccount.tokens"
TOKEN_SECONDS = 3600
TTL_SECONDS = 10.0


class DriverObjects:
    """Reads CSIDrivers; without an API there are none, and their defaults hold."""

    def __init__(self, client: Client | None, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._known: dict[str, tuple[float, Object | None]] = {}

    def _spec(self, name: str) -> Object | None:
        """Return the spec of a driver's object, None if there is none.

        Raises:
            VolumeFailed: it was never read, and cannot be now.
        """
        if self._client is None:
            return None
        now, known = self._clock.monotonic(), self._known.get(name)
        if known is not None and now - known[0] < TTL_SECONDS:
            return known[1]
        spec: Object | None = None
        try:
            spec = self._client.get(CSI_DRIVERS, name).get("spec") or {}
        except NotFound:
            spec = None
        except (ApiError, ConnectionError) as error:
            if known is None:
                raise VolumeFailed(f"CSIDriver {name} cannot be read: {error}") from error
            return known[1]
        self._known[name] = (now, spec)
        return spec

    def attach_required(self, name: str) -> bool:
        """Tell whether volumes of a driver are attached before they are mounted."""
        spec = self._spec(name)
        return self._client is not None and (spec is None or spec.get("attachRequired") is not False)

    def requires_republish(self, name: str) -> bool:
        """Tell whether a driver wants NodePublishVolume again and again."""
        return bool((self._spec(name) or {}).get("requiresRepublish"))

    def mounts_selinux_labels(self, name: str) -> bool:
        """Tell whether a driver mounts volumes with a SELinux label."""
        return bool((self._spec(name) or {}).get("seLinuxMount"))

    def fs_group_policy(self, name: str) -> str:
        """Return who changes the group of the files."""
        return str((self._spec(name) or {}).get("fsGroupPolicy") or "ReadWriteOnceWithFSType")

    def check_lifecycle(self, name: str, mode: str) -> None:
        """Check that a driver takes volumes of a life cycle.

        Raises:
            VolumeFailed: it does not.
        """
        spec = self._spec(name)
        if spec is None:
            if mode == "Persistent":
                return
            raise VolumeFailed(f'volume mode "{mode}" not supported by driver {name} (no CSIDriver object)')
        known = spec.get("volumeLifecycleModes") or ["Persistent"]
        if mode not in known:
            shown = " ".join(f'"{one}"' for one in known)
            raise VolumeFailed(f'volume mode "{mode}" not supported by driver {name} (only supports [{shown}])')

    def pod_context(self, name: str, request: VolumeRequest, *, is_inline: bool) -> dict[str, str]:
        """Return what a driver is told of the pod, if it wants to know."""
        spec, pod = self._spec(name) or {}, request.pod
        found: dict[str, str] = {}
        if spec.get("podInfoOnMount"):
            found = {
                f"{_POD}pod.name": name_of(pod),
                f"{_POD}pod.namespace": namespace_of(pod),
                f"{_POD}pod.uid": uid_of(pod),
                f"{_POD}serviceAccount.name": pod["spec"].get("serviceAccountName") or "",
                f"{_POD}ephemeral": "true" if is_inline else "false",
            }
        if wanted := spec.get("tokenRequests"):
            found[TOKENS] = json.dumps({one.get("audience", ""): _token(request, one) for one in wanted})
        return found

    def secret_data(self, secret: Object) -> dict[str, str]:
        """Return a secret as drivers get it."""
        return {key: base64.b64decode(value).decode() for key, value in (secret.get("data") or {}).items()}


def _token(request: VolumeRequest, wanted: Object) -> Object:
    seconds = int(wanted.get("expirationSeconds") or TOKEN_SECONDS)
    status = request.request_token(wanted.get("audience", ""), seconds)
    return {"token": status["token"], "expirationTimestamp": status.get("expirationTimestamp", "")}
