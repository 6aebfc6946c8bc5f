"""What a policy forbids: all that is wrong with a pod, in Kubernetes' words.

Source: kubernetes 1.20 ``pkg/security/podsecuritypolicy/provider.go`` (ValidatePod) and its strategies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hyperkube_admission.pod_security_policy.defaults import effective

from hyperkube.kinds.pods import containers_with_paths, spec_of
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, required
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")
_CONTEXT = _SPEC.child("securityContext")
_HOSTS = (("hostNetwork", "Host network"), ("hostPID", "Host PID"), ("hostIPC", "Host IPC"))
_DRIVERS = {
    "flexVolume": ("allowedFlexVolumes", "driver", ("driver",), "Flexvolume driver is not allowed to be used"),
    "csi": ("allowedCSIDrivers", "name", ("csi", "driver"), "Inline CSI driver is not allowed to be used"),
}
"""Kind of volume: where the policy lists drivers, under which name; where the pod names it; what is said."""
_LABELS = ("level", "role", "type", "user")
SAFE_SYSCTLS = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range",
    }
)
"""What may be set without being listed. Source: 1.20 ``pkg/kubelet/sysctl/safe_sysctls.go``."""


def check(policy: Object, pod: Object) -> list[FieldError]:
    """Return what a policy does not allow of a pod."""
    rules, spec = spec_of(policy), spec_of(pod)
    context = spec.get("securityContext") or {}
    group = context.get("fsGroup")
    errors = _groups(_CONTEXT.child("fsGroup"), rules.get("fsGroup"), [] if group is None else [group])
    further = context.get("supplementalGroups") or []
    errors += _groups(_CONTEXT.child("supplementalGroups"), rules.get("supplementalGroups"), further)
    errors += _labels(_CONTEXT.child("seLinuxOptions"), rules.get("seLinux"), context.get("seLinuxOptions"))
    for member, shown in _HOSTS:
        if spec.get(member) and not rules.get(member):
            errors.append(invalid(_CONTEXT.child(member), True, f"{shown} is not allowed to be used"))
    errors += _sysctls(rules, context.get("sysctls") or ())
    errors += _volumes(rules, pod)
    classes, name = rules.get("runtimeClass"), spec.get("runtimeClassName")
    if (
        classes is not None
        and name is not None
        and not {"*", name} & set(classes.get("allowedRuntimeClassNames") or ())
    ):
        errors.append(invalid(_SPEC.child("runtimeClassName"), name, ""))
    for where, container in containers_with_paths(pod):
        errors += _container(rules, pod, container, Path(where))
    return errors


def _shown(ranges: Sequence[Object]) -> str:
    """Return ranges as Go prints them."""
    pairs = (f"{{{row.get('min', 0)} {row.get('max', 0)}}}" for row in ranges)
    return f"[{' '.join(pairs)}]"


def _fits(ranges: Sequence[Object], number: int) -> bool:
    return any(row.get("min", 0) <= number <= row.get("max", 0) for row in ranges)


def _groups(path: Path, options: Object | None, groups: list[int]) -> list[FieldError]:
    table = options or {}
    rule, ranges = table.get("rule"), table.get("ranges") or ()
    if rule not in {"MustRunAs", "MayRunAs"}:
        return []
    if rule == "MustRunAs" and not groups and ranges:
        return [invalid(path, groups, "unable to validate empty groups against required ranges")]
    return [
        invalid(path, groups, f"group {group} must be in the ranges: {_shown(ranges)}")
        for group in groups
        if not _fits(ranges, group)
    ]


def _labels(path: Path, options: Object | None, labels: Object | None) -> list[FieldError]:
    table = options or {}
    if table.get("rule") != "MustRunAs":
        return []
    if labels is None:
        return [required(path)]
    wanted = table.get("seLinuxOptions") or {}
    return [
        invalid(path.child(member), labels.get(member) or "", f"must be {wanted.get(member) or ''}")
        for member in _LABELS
        if _sorted_level(labels.get(member)) != _sorted_level(wanted.get(member))
    ]


def _sorted_level(text: str | None) -> str:
    """Return a level with its categories in order: they mean the same in any."""
    head, colon, categories = (text or "").rpartition(":")
    return f"{head}{colon}{','.join(sorted(categories.split(',')))}" if "," in categories else text or ""


def _sysctls(rules: Object, settings: Sequence[Object]) -> list[FieldError]:
    errors = []
    for index, setting in enumerate(settings):
        name, path = str(setting.get("name") or ""), Path("pod.spec.securityContext.sysctls").index(index)
        if name in SAFE_SYSCTLS or _matches(rules.get("allowedUnsafeSysctls") or (), name):
            if _matches(rules.get("forbiddenSysctls") or (), name):
                errors.append(forbidden(path, f'sysctl "{name}" is not allowed'))
        else:
            errors.append(forbidden(path, f'unsafe sysctl "{name}" is not allowed'))
    return errors


def _matches(patterns: Sequence[str], name: str) -> bool:
    return any(name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern for pattern in patterns)


def _volumes(rules: Object, pod: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    allowed = rules.get("volumes") or ()
    for index, volume in enumerate(spec_of(pod).get("volumes") or ()):
        path = _SPEC.child("volumes").index(index)
        kind = next((member for member, source in volume.items() if member != "name" and source is not None), "")
        is_secret = kind == "projected" and "secret" in allowed and _is_token(volume)
        if not {"*", kind} & set(allowed) and not is_secret:
            errors.append(invalid(path, kind, f"{kind} volumes are not allowed to be used"))
        elif kind == "hostPath":
            errors += _host_path(rules, pod, volume, path)
        elif kind in _DRIVERS:
            member, name, at, text = _DRIVERS[kind]
            driver, known = volume[kind].get("driver"), [row.get(name) for row in rules.get(member) or ()]
            if known and driver not in known:
                errors.append(invalid(path.child(*at), driver, text))
    return errors


def _is_token(volume: Object) -> bool:
    """Tell whether this is the volume with its account's token that every pod gets: it stands for the secret of old."""
    parts = (volume.get("projected") or {}).get("sources") or ()
    kinds = [next(iter(part), "") for part in parts]
    return sorted(kinds) == ["configMap", "downwardAPI", "serviceAccountToken"]


def _host_path(rules: Object, pod: Object, volume: Object, path: Path) -> list[FieldError]:
    allowed, folder = rules.get("allowedHostPaths") or (), str(volume["hostPath"].get("path") or "")
    if not allowed:
        return []
    fitting = [row for row in allowed if _is_below(folder, str(row.get("pathPrefix") or ""))]
    if not fitting:
        return [invalid(path.child("hostPath", "pathPrefix"), folder, "is not allowed to be used")]
    if not all(row.get("readOnly") for row in fitting):
        return []
    return [
        invalid(Path(where).child("volumeMounts").index(index).child("readOnly"), False, "must be read-only")
        for where, container in containers_with_paths(pod)
        for index, mount in enumerate(container.get("volumeMounts") or ())
        if mount.get("name") == volume.get("name") and not mount.get("readOnly")
    ]


def _is_below(folder: str, prefix: str) -> bool:
    names, first = ([part for part in text.split("/") if part] for text in (folder, prefix))
    return ".." not in names and names[: len(first)] == first


def _container(rules: Object, pod: Object, container: Object, path: Path) -> list[FieldError]:
    at, own = path.child("securityContext"), container.get("securityContext") or {}
    errors = _user(at, rules.get("runAsUser") or {}, pod, container)
    group = effective(pod, container, "runAsGroup")
    if rules.get("runAsGroup") is not None:
        errors += _groups(at, rules["runAsGroup"], [] if group is None else [group])
    errors += _labels(at.child("seLinuxOptions"), rules.get("seLinux"), effective(pod, container, "seLinuxOptions"))
    if own.get("privileged") and not rules.get("privileged"):
        errors.append(invalid(at.child("privileged"), True, "Privileged containers are not allowed"))
    mount = own.get("procMount") or "Default"
    if mount not in (rules.get("allowedProcMountTypes") or ("Default",)):
        errors.append(invalid(at.child("procMount"), mount, "ProcMountType is not allowed"))
    errors += _capabilities(at.child("capabilities"), rules, own.get("capabilities"))
    errors += _ports(path, rules.get("hostPorts") or (), container)
    read_only = own.get("readOnlyRootFilesystem")
    if rules.get("readOnlyRootFilesystem") and not read_only:
        text = "ReadOnlyRootFilesystem must be set to true"
        if read_only is None:
            text = "ReadOnlyRootFilesystem may not be nil and must be set to true"
        errors.append(invalid(at.child("readOnlyRootFilesystem"), read_only, text))
    escalates = own.get("allowPrivilegeEscalation")
    if not rules.get("allowPrivilegeEscalation", True) and escalates is not False:
        text = "Allowing privilege escalation for containers is not allowed"
        errors.append(invalid(at.child("allowPrivilegeEscalation"), escalates, text))
    return errors


def _user(path: Path, options: Object, pod: Object, container: Object) -> list[FieldError]:
    user, non_root = effective(pod, container, "runAsUser"), effective(pod, container, "runAsNonRoot")
    if options.get("rule") == "MustRunAs":
        ranges = options.get("ranges") or ()
        if user is None:
            return [required(path.child("runAsUser"))]
        if not _fits(ranges, user):
            return [invalid(path.child("runAsUser"), user, f"must be in the ranges: {_shown(ranges)}")]
    if options.get("rule") == "MustRunAsNonRoot":
        if non_root is None and user is None:
            return [required(path.child("runAsNonRoot"), "must be true")]
        if non_root is False:
            return [invalid(path.child("runAsNonRoot"), False, "must be true")]
        if user == 0:
            return [invalid(path.child("runAsUser"), 0, "running with the root UID is forbidden")]
    return []


def _capabilities(path: Path, rules: Object, given: Object | None) -> list[FieldError]:
    default, allowed = rules.get("defaultAddCapabilities") or (), rules.get("allowedCapabilities") or ()
    wanted: Any = rules.get("requiredDropCapabilities") or ()
    if given is None:
        if not default and not wanted:
            return []
        return [invalid(path, None, "required capabilities are not set on the securityContext")]
    dropped = given.get("drop") or []
    errors = [
        invalid(path.child("add"), one, "capability may not be added")
        for one in given.get("add") or ()
        if "*" not in allowed and one not in default and one not in allowed
    ]
    return errors + [
        invalid(path.child("drop"), dropped, f"{one} is required to be dropped but was not found")
        for one in wanted
        if one not in dropped
    ]


def _ports(path: Path, ranges: Sequence[Object], container: Object) -> list[FieldError]:
    shown = ",".join(f"{row['min']}" if row["min"] == row["max"] else f"{row['min']}-{row['max']}" for row in ranges)
    return [
        invalid(
            path.child("hostPort"), port["hostPort"],
            f"Host port {port['hostPort']} is not allowed to be used. Allowed ports: [{shown}]",
        )
        for port in container.get("ports") or ()
        if port.get("hostPort") and not _fits(ranges, port["hostPort"])
    ]  # fmt: skip
