"""AppArmor profiles of old: annotations of a pod that became fields.

Source: kubernetes pkg/registry/core/pod/strategy.go (applyAppArmorVersionSkew).
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object, annotations_of

PREFIX = "container.apparmor.security.beta.kubernetes.io/"
_LOCALHOST = "localhost/"


def apply_app_armor_annotations(pod: Object) -> None:
    """Fill in the profile of each container that only an annotation names, in place."""
    annotations = annotations_of(pod)
    if not any(key.startswith(PREFIX) for key in annotations):
        return
    whole = (pod["spec"].get("securityContext") or {}).get("appArmorProfile")
    for member in ("initContainers", "containers", "ephemeralContainers"):
        for container in pod["spec"].get(member) or ():
            profile = _profile(annotations.get(PREFIX + str(container.get("name"))))
            context = container.get("securityContext") or {}
            if profile is None or context.get("appArmorProfile") or profile == whole:
                continue
            container["securityContext"] = {**context, "appArmorProfile": profile}


def _profile(text: str | None) -> Object | None:
    if text == "runtime/default":
        return {"type": "RuntimeDefault"}
    if text == "unconfined":
        return {"type": "Unconfined"}
    if text is not None and text.startswith(_LOCALHOST):
        return {"type": "Localhost", "localhostProfile": text.removeprefix(_LOCALHOST)}
    return None
