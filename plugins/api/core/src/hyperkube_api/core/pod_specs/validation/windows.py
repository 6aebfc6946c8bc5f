"""What depends on a pod's operating system: options for Windows, and what neither system can do.

Source: kubernetes pkg/apis/core/validation (validateWindowsSecurityContextOptions, validateWindowsHostProcessPod,
validateWindows, validateLinux).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object

SYSTEMS = ("linux", "windows")
MAX_SPEC_KIB = 64
MAX_DOMAIN, MAX_USER = 256, 104
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NET_BIOS = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DNS_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DNS_DOMAIN = re.compile(rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*")
_NOT_IN_USERS = '"/\\:;|=,+*?<>@[]'
_NOT_ON_WINDOWS = "cannot be set for a windows pod"
_LINUX_POD_MEMBERS = (
    "securityContext.appArmorProfile", "securityContext.seLinuxOptions", "hostUsers", "hostPID", "hostIPC",
    "securityContext.seccompProfile", "securityContext.fsGroup", "securityContext.fsGroupChangePolicy",
    "securityContext.sysctls", "shareProcessNamespace", "securityContext.runAsUser", "securityContext.runAsGroup",
    "securityContext.supplementalGroups", "securityContext.supplementalGroupsPolicy",
    "securityContext.seLinuxChangePolicy",
)  # fmt: skip
_ONLY_IF_TRUE = frozenset({"hostPID", "hostIPC", "securityContext.sysctls"})
"""Members that an empty value leaves unset; others are set by any value."""
_LINUX_CONTAINER_MEMBERS = (
    "appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged",
    "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup",
)  # fmt: skip


def windows_options(path: Path, options: Object | None) -> list[FieldError]:
    """Check the options for Windows of a pod or a container."""
    if options is None:
        return []
    errors: list[FieldError] = []
    name, spec, user = (options.get(key) for key in ("gmsaCredentialSpecName", "gmsaCredentialSpec", "runAsUserName"))
    if name is not None:
        at = path.child("gmsaCredentialSpecName")
        errors += [invalid(at, name, text) for text in names.dns1123_subdomain(name)]
    if spec == "":
        text = "gmsaCredentialSpec cannot be an empty string"
        errors.append(invalid(path.child("gmsaCredentialSpec"), spec, text))
    elif spec is not None and len(spec.encode()) > MAX_SPEC_KIB * 1024:
        text = f"gmsaCredentialSpec size must be under {MAX_SPEC_KIB} KiB"
        errors.append(invalid(path.child("gmsaCredentialSpec"), spec, text))
    if user is not None:
        errors += [invalid(path.child("runAsUserName"), user, text) for text in _user_errors(user)]
    return errors


def _user_errors(name: str) -> Iterable[str]:
    r"""Yield what is wrong with ``USER`` or ``DOMAIN\USER``."""
    if not name:
        return ["runAsUserName cannot be an empty string"]
    if _CONTROL.search(name):
        return ["runAsUserName cannot contain control characters"]
    if name.count("\\") > 1:
        return ["runAsUserName cannot contain more than one backslash"]
    domain, separator, user = name.rpartition("\\")
    size = len(user.encode())
    wrong = {
        f"Domain length must be under {MAX_DOMAIN} characters": len(domain.encode()) >= MAX_DOMAIN,
        "Domain doesn't match the NetBios nor the DNS format": bool(separator)
        and not (_NET_BIOS.fullmatch(domain) or _DNS_DOMAIN.fullmatch(domain)),
        "User cannot be empty": not user,
        f"User length must not be longer than {MAX_USER} characters": size > MAX_USER,
        "User cannot contain only periods or spaces": bool(user) and not user.strip(". "),
        f"User cannot contain the following characters: {_NOT_IN_USERS}": any(char in _NOT_IN_USERS for char in user),
    }
    return [f"runAsUserName's {text}" for text, is_so in wrong.items() if is_so]


def validate_host_processes(path: Path, spec: Object, *, privileged: bool) -> list[FieldError]:
    """Check that all containers of a pod run as processes of the host, or none."""
    pod_wide = _host_process(spec)
    errors: list[FieldError] = []
    on_host = []
    for at, container in _containers(path, spec):
        own = _host_process(container)
        if pod_wide is not None and own is not None and own != pod_wide:
            text = f"pod hostProcess value must be identical if both are specified, was {str(pod_wide).lower()}"
            errors.append(invalid(at.child("securityContext", "windowsOptions", "hostProcess"), own, text))
        on_host.append(bool(pod_wide if own is None else own))
    if not any(on_host):
        return errors
    if not all(on_host):
        text = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        errors.append(invalid(path, "", text))
    if not spec.get("hostNetwork"):
        text = "hostNetwork must be true if pod contains any hostProcess containers"
        errors.append(invalid(path.child("hostNetwork"), False, text))
    if not privileged:
        errors.append(forbidden(path, "hostProcess containers are disallowed by cluster policy"))
    return errors


def _host_process(owner: Object) -> bool | None:
    found: bool | None = ((owner.get("securityContext") or {}).get("windowsOptions") or {}).get("hostProcess")
    return found


def _containers(path: Path, spec: Object) -> Iterable[tuple[Path, Object]]:
    for member in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(member) or ()):
            yield path.child(member).index(index), container


def validate_system(path: Path, spec: Object) -> list[FieldError]:
    """Check a pod's operating system, and that nothing asks for what only the other one can do."""
    if spec.get("os") is None:
        return []
    system = spec["os"].get("name")
    if not system:
        return [required(path.child("os", "name"))]
    if system not in SYSTEMS:
        return [not_supported(path.child("os"), system, SYSTEMS)]
    return _not_on_windows(path, spec) if system == "windows" else _not_on_linux(path, spec)


def _not_on_linux(path: Path, spec: Object) -> list[FieldError]:
    owners = [(path, spec), *_containers(path, spec)]
    return [
        forbidden(at.child("securityContext", "windowsOptions"), "windows options cannot be set for a linux pod")
        for at, owner in owners
        if (owner.get("securityContext") or {}).get("windowsOptions") is not None
    ]


def _not_on_windows(path: Path, spec: Object) -> list[FieldError]:
    context = spec.get("securityContext") or {}
    errors = []
    for member in _LINUX_POD_MEMBERS:
        group, _, name = member.rpartition(".")
        value = context.get(name) if group else spec.get(name)
        if value if member in _ONLY_IF_TRUE else value is not None:
            errors.append(forbidden(path.child(*member.split(".")), _NOT_ON_WINDOWS))
    for at, container in _containers(path, spec):
        own = container.get("securityContext") or {}
        errors += [
            forbidden(at.child("securityContext", member), _NOT_ON_WINDOWS)
            for member in _LINUX_CONTAINER_MEMBERS
            if own.get(member) is not None
        ]
    return errors
