"""The checks of the baseline standard: nothing that is known to break out of a container."""

from __future__ import annotations

from collections.abc import Iterator

from hyperkube_admission.pod_security.findings import (
    Finding,
    containers_where,
    context_of,
    has_own_users,
    name_in,
    named,
    plural,
    quoted,
    setters,
    within,
)

from hyperkube.kinds.pods import containers, spec_of
from hyperkube.machinery.field import quote
from hyperkube.machinery.objects import Object, annotations_of

APPARMOR_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"
SECCOMP_POD_ANNOTATION = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER_ANNOTATION = "container.seccomp.security.alpha.kubernetes.io/"
SECCOMP_TYPES = frozenset({"RuntimeDefault", "Localhost"})
_APPARMOR_TYPES = frozenset({None, "", "RuntimeDefault", "Localhost"})
_CAPABILITIES = frozenset(
    [
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    ]
)
_SELINUX_TYPES = frozenset({"", "container_t", "container_init_t", "container_kvm_t"})
_SYSCTLS_OF_VERSION = {
    0: "kernel.shm_rmid_forced net.ipv4.ip_local_port_range net.ipv4.tcp_syncookies net.ipv4.ping_group_range "
    "net.ipv4.ip_unprivileged_port_start",
    27: "net.ipv4.ip_local_reserved_ports",
    29: "net.ipv4.tcp_keepalive_time net.ipv4.tcp_fin_timeout net.ipv4.tcp_keepalive_intvl "
    "net.ipv4.tcp_keepalive_probes",
    32: "net.ipv4.tcp_rmem net.ipv4.tcp_wmem",
}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS = ("postStart", "preStop")


def app_armor(pod: Object) -> Finding | None:
    """AppArmor stays on: the runtime's profile or one of the node's."""
    types: set[str] = set()

    def is_bad(context: Object) -> bool:
        profile = within(context, "appArmorProfile", "type")
        if profile in _APPARMOR_TYPES:
            return False
        types.add(str(profile))
        return True

    who = setters(pod, is_bad)
    annotated = sorted(
        f"{key}={quote(value)}"
        for key, value in annotations_of(pod).items()
        if key.startswith(APPARMOR_ANNOTATION) and not _is_loadable(value)
    )
    if annotated:
        who.append(plural("annotation", len(annotated)))
    if not who:
        return None
    values = [*sorted(types), *annotated]
    return Finding(
        plural("forbidden AppArmor profile", len(values)),
        f"{' and '.join(who)} must not set AppArmor profile type to {quoted(values)}",
    )


def _is_loadable(profile: str) -> bool:
    return not profile or profile == "runtime/default" or profile.startswith("localhost/")


def capabilities(pod: Object) -> Finding | None:
    """No capability beyond those that container runtimes give by default."""
    return added_capabilities(pod, _CAPABILITIES, "non-default capabilities")


def added_capabilities(pod: Object, allowed: frozenset[str], reason: str) -> Finding | None:
    """Find the containers that add a capability that is not among `allowed`."""
    forbidden: set[str] = set()
    bad = []
    for container in containers(pod):
        extra = set(within(context_of(container), "capabilities", "add") or ()) - allowed
        if extra:
            bad.append(name_in(container))
            forbidden |= extra
    if not bad:
        return None
    return Finding(
        reason, f"{named(bad)} must not include {quoted(sorted(forbidden))} in securityContext.capabilities.add"
    )


def host_namespaces(pod: Object) -> Finding | None:
    """No share of the node's own network, processes or memory."""
    shared = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if spec_of(pod).get(name)]
    return Finding("host namespaces", ", ".join(shared)) if shared else None


def host_path_volumes(pod: Object) -> Finding | None:
    """No directory of the node."""
    names = [name_in(volume) for volume in spec_of(pod).get("volumes") or () if volume.get("hostPath") is not None]
    return Finding("hostPath volumes", f"{plural('volume', len(names))} {quoted(names)}") if names else None


def host_ports(pod: Object) -> Finding | None:
    """No port of the node."""
    ports: set[str] = set()
    bad = []
    for container in containers(pod):
        taken = {str(port["hostPort"]) for port in container.get("ports") or () if port.get("hostPort")}
        if taken:
            bad.append(name_in(container))
            ports |= taken
    if not bad:
        return None
    uses = "uses" if len(bad) == 1 else "use"
    return Finding("hostPort", f"{named(bad)} {uses} {plural('hostPort', len(ports))} {', '.join(sorted(ports))}")


def host_probes(pod: Object) -> Finding | None:
    """No probe or hook by which the kubelet would call something other than the pod."""
    hosts: set[str] = set()
    bad: set[str] = set()
    for container in containers(pod):
        called = set(_called_hosts(container))
        if called:
            bad.add(name_in(container))
            hosts |= called
    if not bad:
        return None
    uses = "uses" if len(bad) == 1 else "use"
    kind = plural("probe or lifecycle host", len(hosts))
    return Finding("probe or lifecycle host", f"{named(sorted(bad))} {uses} {kind} {quoted(sorted(hosts))}")


def _called_hosts(container: Object) -> Iterator[str]:
    actions = [container.get(probe) for probe in _PROBES] + [within(container, "lifecycle", hook) for hook in _HOOKS]
    for action in actions:
        for way in ("httpGet", "tcpSocket"):
            host = within(action or {}, way, "host")
            if host:
                yield str(host)


def privileged(pod: Object) -> Finding | None:
    """No container that is root of the node."""
    bad = containers_where(pod, lambda container: context_of(container).get("privileged") is True)
    return Finding("privileged", f"{named(bad)} must not set securityContext.privileged=true") if bad else None


def proc_mount(pod: Object) -> Finding | None:
    """The masks over ``/proc`` stay."""
    types: set[str] = set()
    bad = []
    for container in containers(pod):
        mount = context_of(container).get("procMount")
        if mount not in {None, "Default"}:
            bad.append(name_in(container))
            types.add(str(mount))
    if not bad:
        return None
    return Finding("procMount", f"{named(bad)} must not set securityContext.procMount to {quoted(sorted(types))}")


def proc_mount_unless_own_users(pod: Object) -> Finding | None:
    """The masks over ``/proc`` stay, unless the pod has users of its own (since 1.35)."""
    return None if has_own_users(pod) else proc_mount(pod)


def selinux(pod: Object) -> Finding | None:
    """No SELinux type but those for containers, no user, no role."""
    return _selinux(pod, _SELINUX_TYPES)


def selinux_with_engine(pod: Object) -> Finding | None:
    """Like `selinux`, with the type for engines in containers (since 1.31)."""
    return _selinux(pod, _SELINUX_TYPES | {"container_engine_t"})


def _selinux(pod: Object, allowed: frozenset[str]) -> Finding | None:
    types: set[str] = set()
    set_members: set[str] = set()

    def is_bad(context: Object) -> bool:
        options = context.get("seLinuxOptions") or {}
        kind = options.get("type") or ""
        given = {member for member in ("user", "role") if options.get(member)}
        if kind not in allowed:
            types.add(kind)
        set_members.update(given)
        return kind not in allowed or bool(given)

    who = setters(pod, is_bad)
    if not who:
        return None
    what = [f"{plural('type', len(types))} {quoted(sorted(types))}"] if types else []
    what += [f"{member} may not be set" for member in ("user", "role") if member in set_members]
    return Finding(
        "seLinuxOptions", f"{' and '.join(who)} set forbidden securityContext.seLinuxOptions: {'; '.join(what)}"
    )


def seccomp_annotations(pod: Object) -> Finding | None:
    """Seccomp stays on, as annotations said it before 1.19."""
    notes = annotations_of(pod)
    keys = {SECCOMP_POD_ANNOTATION}
    keys.update(SECCOMP_CONTAINER_ANNOTATION + name_in(container) for container in containers(pod))
    bad = sorted(
        f"{key}={quote(notes[key])}"
        for key in keys
        if key in notes
        and notes[key] not in {"runtime/default", "docker/default"}
        and not notes[key].startswith("localhost/")
    )
    return Finding("seccompProfile", f"forbidden {plural('annotation', len(bad))} {', '.join(bad)}") if bad else None


def seccomp(pod: Object) -> Finding | None:
    """Seccomp stays on where it is mentioned."""
    types: set[str] = set()

    def is_bad(context: Object) -> bool:
        profile = context.get("seccompProfile")
        if profile is None or profile.get("type", "") in SECCOMP_TYPES:
            return False
        types.add(str(profile.get("type", "")))
        return True

    who = setters(pod, is_bad)
    if not who:
        return None
    return Finding(
        "seccompProfile",
        f"{' and '.join(who)} must not set securityContext.seccompProfile.type to {quoted(sorted(types))}",
    )


def sysctls(pod: Object, minor: int) -> Finding | None:
    """No kernel parameter but those that are known to be the pod's alone; the list grew with the versions.

    Args:
        pod: the pod.
        minor: the version of the standard.
    """
    allowed = {name for since, names in _SYSCTLS_OF_VERSION.items() if minor >= since for name in names.split()}
    bad = [name_in(entry) for entry in context_of(spec_of(pod)).get("sysctls") or () if name_in(entry) not in allowed]
    return Finding("forbidden sysctls", ", ".join(bad)) if bad else None


def windows_host_process(pod: Object) -> Finding | None:
    """No Windows container that is a process of the node."""
    who = setters(pod, lambda context: within(context, "windowsOptions", "hostProcess") is True)
    if not who:
        return None
    return Finding("hostProcess", f"{' and '.join(who)} must not set securityContext.windowsOptions.hostProcess=true")
