"""Admission of a pod by its AppArmor profiles: a node without AppArmor cannot keep what they promise.

Sources: kubernetes ``pkg/security/apparmor/validate.go``, ``pkg/kubelet/lifecycle/handlers.go`` (appArmorAdmitHandler).
"""

from __future__ import annotations

from pathlib import Path

from hyperkube_host.kubelet.kuberuntime.unhonoured import NamesUnhonoured
from hyperkube_host.kubelet.types.pod_spec import all_containers_of
from hyperkube_host.kubelet.types.pod_status import Failure

from hyperkube.hookspecs.runtime import Runtime, Simulated
from hyperkube.machinery.objects import Object, annotations_of

APPARMOR, UNCONFINED = "AppArmor", "Unconfined"
_ENABLED = Path("/sys/module/apparmor/parameters/enabled")


class AppArmorAdmission:
    """Admits pods by their AppArmor profiles; see `AdmitHandler`."""

    def __init__(self, enabled: Path = _ENABLED) -> None:
        """Take the file in which the kernel says ``Y`` if it has AppArmor."""
        self._enabled = enabled

    def admit(self, pod: Object) -> Failure | None:
        """Return why the pod's profiles cannot be enforced, or None; one that has begun to run keeps running."""
        if (pod.get("status") or {}).get("phase", "Pending") != "Pending" or not _requires(pod):
            return None
        from hyperkube_host.kubelet.kuberuntime.security_context import apparmor_profile

        if not self._is_enabled():
            return _refused("AppArmor is not enabled on the host")
        profiles = (apparmor_profile(pod, container) for container in all_containers_of(pod))
        if any(one and one["type"] == "Localhost" and not one.get("localhostProfile", "").strip() for one in profiles):
            return _refused("localhost AppArmor profile name cannot be empty")
        return None

    def _is_enabled(self) -> bool:
        try:
            return self._enabled.read_text().startswith("Y")
        except OSError:
            return False


def apparmor_admission(runtime: Runtime) -> tuple[AppArmorAdmission, ...]:
    """Return what decides on the profiles of pods, nothing for a runtime that runs them without and says so."""
    says_so = isinstance(runtime, NamesUnhonoured | Simulated)
    return () if says_so else (AppArmorAdmission(),)


def _requires(pod: Object) -> bool:
    """Tell whether a pod asks for a profile."""
    from hyperkube_host.kubelet.kuberuntime.security_context import APPARMOR_ANNOTATION

    holders = (pod["spec"], *all_containers_of(pod))
    own = [(holder.get("securityContext") or {}).get("appArmorProfile") for holder in holders]
    older = [text for key, text in annotations_of(pod).items() if key.startswith(APPARMOR_ANNOTATION)]
    return any(one and one.get("type") != UNCONFINED for one in own) or any(text != "unconfined" for text in older)


def _refused(why: str) -> Failure:
    return Failure(APPARMOR, f"Cannot enforce AppArmor: {why}")
