"""Security contexts of pods and containers.

Source: kubernetes pkg/apis/core/validation (validatePodSpecSecurityContext, ValidateSecurityContext).
"""

from __future__ import annotations

import re
from typing import Any

from hyperkube_api.core.paths import relative_path
from hyperkube_api.core.pod_specs.validation.windows import windows_options

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, duplicate, forbidden, invalid, not_supported, required, too_long
from hyperkube.machinery.objects import Object

PROFILE_TYPES = ("Localhost", "RuntimeDefault", "Unconfined")
LABEL_CHANGES = ("MountOption", "Recursive")
"""How a volume's SELinux labels may be changed as long as the gate SELinuxMount is off, as it is by default."""
_SYSCTL_SHOWN = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
_SYSCTL = re.compile(_SYSCTL_SHOWN)
_SYSCTL_MAX = 253
_CONTEXT = "hyperkube_api.core.v1:SecurityContext"
_SECCOMP = "hyperkube_api.core.v1:SeccompProfile"


def _ids(path: Path, context: Object, *members: str) -> list[FieldError]:
    return [
        invalid(path.child(member), context[member], text)
        for member in members
        if context.get(member) is not None
        for text in names.user_or_group_id(context[member])
    ]


def _choice(path: Path, context: Object, member: str, supported: tuple[str, ...]) -> list[FieldError]:
    value = context.get(member)
    return [] if value is None or value in supported else [not_supported(path.child(member), value, supported)]


def validate_pod_security(path: Path, context: Object | None, spec: Object) -> list[FieldError]:
    """Check the security context of a whole pod."""
    if not context:
        return _shared_processes(path, spec)
    errors = _ids(path, context, "fsGroup", "runAsUser", "runAsGroup")
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        errors += [
            invalid(path.child("supplementalGroups").index(index), group, text)
            for text in names.user_or_group_id(group)
        ]
    errors += _shared_processes(path, spec)
    errors += _sysctls(path.child("sysctls"), context.get("sysctls") or [], spec)
    errors += _choice(path, context, "fsGroupChangePolicy", ("Always", "OnRootMismatch"))
    errors += seccomp_profile(path.child("seccompProfile"), context.get("seccompProfile"))
    errors += windows_options(path.child("windowsOptions"), context.get("windowsOptions"))
    errors += app_armor_profile(path.child("appArmorProfile"), context.get("appArmorProfile"))
    errors += _choice(path, context, "supplementalGroupsPolicy", ("Merge", "Strict"))
    return errors + _choice(path, context, "seLinuxChangePolicy", LABEL_CHANGES)


def _shared_processes(path: Path, spec: Object) -> list[FieldError]:
    if not (spec.get("shareProcessNamespace") and spec.get("hostPID")):
        return []
    text = "ShareProcessNamespace and HostPID cannot both be enabled"
    return [invalid(path.child("shareProcessNamespace"), True, text)]


def _sysctls(path: Path, sysctls: list[Object], spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, sysctl in enumerate(sysctls):
        at, name = path.index(index).child("name"), sysctl.get("name") or ""
        if not name:
            errors.append(required(at))
        elif len(name) > _SYSCTL_MAX or not _SYSCTL.fullmatch(name):
            text = f"must have at most {_SYSCTL_MAX} characters and match regex {_SYSCTL_SHOWN}"
            errors.append(invalid(at, name, text))
        elif name in seen:
            errors.append(duplicate(at, name))
        seen.add(name)
        dotted = name.replace("/", ".")
        if spec.get("hostNetwork") and dotted.startswith("net."):
            errors.append(invalid(at, name, "may not be specified when 'hostNetwork' is true"))
        if spec.get("hostIPC") and (
            dotted.startswith(("kernel.shm", "kernel.msg", "fs.mqueue.")) or dotted == "kernel.sem"
        ):
            errors.append(invalid(at, name, "may not be specified when 'hostIPC' is true"))
    return errors


def seccomp_profile(path: Path, profile: Object | None) -> list[FieldError]:
    """Check which system calls are filtered, and by what."""
    if profile is None:
        return []
    errors = _profile_type(path.child("type"), profile.get("type") or "", "seccomp")
    at, local = path.child("localhostProfile"), profile.get("localhostProfile")
    if profile.get("type") != "Localhost":
        text = "can only be set when seccomp type is Localhost"
        return errors if local is None else [*errors, invalid(at, _shown(_SECCOMP, profile), text)]
    if local is None:
        return [required(at, "must be set when seccomp type is Localhost")]
    return relative_path(at, local)


def app_armor_profile(path: Path, profile: Object | None) -> list[FieldError]:
    """Check what confines a container, and by what profile."""
    if profile is None:
        return []
    kind, at, local = profile.get("type") or "", path.child("localhostProfile"), profile.get("localhostProfile")
    if kind not in PROFILE_TYPES:
        return _profile_type(path.child("type"), kind, "appArmor")
    if kind != "Localhost":
        text = "can only be set when AppArmor type is Localhost"
        return [] if local is None else [invalid(at, local, text)]
    if not local:
        return [required(at, "must be set when AppArmor type is Localhost")]
    errors = [] if local.strip() == local else [invalid(at, local, "must not be padded with whitespace")]
    return errors + ([too_long(at, 4095)] if len(local.encode()) > 4095 else [])


def _profile_type(path: Path, kind: str, what: str) -> list[FieldError]:
    if not kind:
        return [required(path, f"type is required when {what}Profile is set")]
    return [] if kind in PROFILE_TYPES else [not_supported(path, kind, PROFILE_TYPES)]


def validate_container_security(
    path: Path, context: Object | None, *, privileged: bool = True, host_users: bool = True
) -> list[FieldError]:
    """Check the security context of one container.

    Args:
        path: where the context is.
        context: the context, if the container has one.
        privileged: whether the cluster allows privileged containers.
        host_users: whether the pod runs in the host's user namespace.
    """
    if context is None:
        return []
    errors: list[FieldError] = []
    if context.get("privileged") and not privileged:
        errors.append(forbidden(path.child("privileged"), "disallowed by cluster policy"))
    errors += _ids(path, context, "runAsUser", "runAsGroup")
    mount = context.get("procMount")
    if mount is not None:
        if mount not in {"Default", "Unmasked"}:
            errors.append(not_supported(path.child("procMount"), mount, ("Default", "Unmasked")))
        if mount == "Unmasked" and host_users:
            text = "`hostUsers` must be false to use `Unmasked`"
            errors.append(invalid(path.child("procMount"), mount, text))
    errors += seccomp_profile(path.child("seccompProfile"), context.get("seccompProfile"))
    if context.get("allowPrivilegeEscalation") is False:
        errors += _escalates(path, context)
    errors += windows_options(path.child("windowsOptions"), context.get("windowsOptions"))
    return errors + app_armor_profile(path.child("appArmorProfile"), context.get("appArmorProfile"))


def _escalates(path: Path, context: Object) -> list[FieldError]:
    """Check that what may not gain privileges does not have them."""
    texts = ["cannot set `allowPrivilegeEscalation` to false and `privileged` to true"] * bool(
        context.get("privileged")
    )
    added = ((context.get("capabilities") or {}).get("add") or []).count("CAP_SYS_ADMIN")
    texts += ["cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"] * added
    return [invalid(path, _shown(_CONTEXT, context), text) for text in texts]


def _shown(schema: str, value: Object) -> Any:
    """Return a value as a refusal shows it."""
    from hyperkube_api.meta.go_shape import go_shape  # with the first refusal

    return go_shape(schema, value)
