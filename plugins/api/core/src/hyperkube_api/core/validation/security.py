"""Security contexts of pods and containers.

Source: kubernetes pkg/apis/core/validation (validatePodSpecSecurityContext, ValidateSecurityContext).
"""

from __future__ import annotations

import re

from hyperkube_api.core.validation.windows import windows_options

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, duplicate, forbidden, invalid, not_supported, required, too_long
from hyperkube.machinery.objects import Object

PROFILE_TYPES = ("Localhost", "RuntimeDefault", "Unconfined")
_SYSCTL_SHOWN = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
_SYSCTL = re.compile(_SYSCTL_SHOWN)
_SYSCTL_MAX = 253
_CONTEXT_MEMBERS = (
    ("Capabilities", "capabilities"), ("Privileged", "privileged"), ("SELinuxOptions", "seLinuxOptions"),
    ("WindowsOptions", "windowsOptions"), ("RunAsUser", "runAsUser"), ("RunAsGroup", "runAsGroup"),
    ("RunAsNonRoot", "runAsNonRoot"), ("ReadOnlyRootFilesystem", "readOnlyRootFilesystem"),
    ("AllowPrivilegeEscalation", "allowPrivilegeEscalation"), ("ProcMount", "procMount"),
    ("SeccompProfile", "seccompProfile"), ("AppArmorProfile", "appArmorProfile"),
)  # fmt: skip


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
    if context is None:
        return []
    errors = _ids(path, context, "fsGroup", "runAsUser", "runAsGroup")
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        errors += [
            invalid(path.child("supplementalGroups").index(index), group, text)
            for text in names.user_or_group_id(group)
        ]
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        text = "ShareProcessNamespace and HostPID cannot both be enabled"
        errors.append(invalid(path.child("shareProcessNamespace"), True, text))
    errors += _sysctls(path.child("sysctls"), context.get("sysctls") or [], spec)
    errors += _choice(path, context, "fsGroupChangePolicy", ("Always", "OnRootMismatch"))
    errors += _choice(path, context, "supplementalGroupsPolicy", ("Merge", "Strict"))
    errors += _choice(path, context, "seLinuxChangePolicy", ("MountOption", "Recursive"))
    errors += _profile(path.child("seccompProfile"), context.get("seccompProfile"), "seccomp")
    errors += windows_options(path.child("windowsOptions"), context.get("windowsOptions"))
    return errors + _profile(path.child("appArmorProfile"), context.get("appArmorProfile"), "AppArmor")


def _sysctls(path: Path, sysctls: list[Object], spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, sysctl in enumerate(sysctls):
        at, name = path.index(index).child("name"), sysctl.get("name") or ""
        if not name:
            errors.append(required(at))
        elif len(name) > _SYSCTL_MAX or not _SYSCTL.match(name):
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


def _profile(path: Path, profile: Object | None, what: str) -> list[FieldError]:
    if profile is None:
        return []
    kind = profile.get("type") or ""
    if not kind:
        return [
            required(path.child("type"), f"type is required when {what}Profile is set" if what == "AppArmor" else "")
        ]
    if kind not in PROFILE_TYPES:
        return [not_supported(path.child("type"), kind, PROFILE_TYPES)]
    at, local = path.child("localhostProfile"), profile.get("localhostProfile")
    if kind != "Localhost":
        if local is not None:
            return [invalid(at, local, f"can only be set when {what} type is Localhost")]
        return []
    if not local:
        return [required(at, f"must be set when {what} type is Localhost")]
    if what == "seccomp":
        from hyperkube_api.core.validation.volumes import relative_path

        return relative_path(at, local)
    if local.strip() != local:
        return [invalid(at, local, "must not be padded with whitespace")]
    return [too_long(at, 4095)] if len(local) > 4095 else []


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
        elif mount == "Unmasked" and host_users:
            text = "`hostUsers` must be false to use `Unmasked`"
            errors.append(invalid(path.child("procMount"), mount, text))
    errors += _profile(path.child("seccompProfile"), context.get("seccompProfile"), "seccomp")
    if context.get("allowPrivilegeEscalation") is False:
        shown = {go: context.get(member) for go, member in _CONTEXT_MEMBERS}
        if context.get("privileged"):
            text = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            errors.append(invalid(path, shown, text))
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or ()):
            text = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            errors.append(invalid(path, shown, text))
    errors += windows_options(path.child("windowsOptions"), context.get("windowsOptions"))
    return errors + _profile(path.child("appArmorProfile"), context.get("appArmorProfile"), "AppArmor")
