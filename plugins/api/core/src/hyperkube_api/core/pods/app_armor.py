"""AppArmor profiles in the deprecated annotations of a pod, which became fields.

Source: kubernetes pkg/registry/core/pod/strategy.go (applyAppArmorVersionSkew).
"""

from __future__ import annotations

from hyperkube_api.core.pod_specs.annotations import APP_ARMOR

from hyperkube.machinery.field import ROOT
from hyperkube.machinery.objects import Object, annotations_of

_LOCALHOST = "localhost/"


def apply_app_armor_annotations(pod: Object) -> list[str]:
    """Fill in the profile of each container that only an annotation names, in place.

    Returns the names of the containers whose annotation did something, or says nothing that could be understood.
    """
    annotations = annotations_of(pod)
    is_windows = (pod["spec"].get("os") or {}).get("name") == "windows"
    if is_windows or not any(key.startswith(APP_ARMOR) for key in annotations):
        return []
    noted: list[str] = []
    whole = (pod["spec"].get("securityContext") or {}).get("appArmorProfile")
    for member in ("initContainers", "containers", "ephemeralContainers"):
        for container in pod["spec"].get(member) or ():
            name, context = str(container.get("name")), container.get("securityContext") or {}
            if APP_ARMOR + name not in annotations or context.get("appArmorProfile"):
                continue
            profile = _profile(annotations[APP_ARMOR + name])
            if profile is not None and profile == whole:
                continue
            noted.append(name)
            if profile is not None:
                container["securityContext"] = {**context, "appArmorProfile": profile}
    return noted


def app_armor_warning(container: str) -> str:
    """Return the warning for an annotation of a pod that names a container's AppArmor profile."""
    at = ROOT.child("metadata", "annotations").key(APP_ARMOR + container)
    return f'{at}: deprecated since v1.30; use the "appArmorProfile" field instead'


def _profile(text: str | None) -> Object | None:
    if text == "runtime/default":
        return {"type": "RuntimeDefault"}
    if text == "unconfined":
        return {"type": "Unconfined"}
    if text is not None and text.startswith(_LOCALHOST):
        return {"type": "Localhost", "localhostProfile": text.removeprefix(_LOCALHOST)}
    return None
