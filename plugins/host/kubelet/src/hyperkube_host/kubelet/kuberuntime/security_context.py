"""A container's security context as the runtime is told: its own over its pod's, profiles, namespaces, groups.

Sources: kubernetes ``pkg/kubelet/kuberuntime/security_context.go``, ``pkg/kubelet/kuberuntime/helpers.go``,
``pkg/kubelet/kuberuntime/util/util.go`` (NamespacesForPod), ``pkg/securitycontext/util.go``, ``pkg/security/apparmor``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperkube_host.kubelet.kuberuntime.environment import ConfigFailed

from hyperkube.hookspecs.runtime import Config, Image
from hyperkube.kinds.pods import containers
from hyperkube.machinery.objects import Object, annotations_of

APPARMOR_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"
_FROM_POD = ("seLinuxOptions", "windowsOptions", "runAsUser", "runAsGroup", "runAsNonRoot")
"""What containers have from their pod, unless they say otherwise."""

_MASKED_PATHS = (
    "/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
    "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware",
    "/sys/devices/virtual/powercap",
)  # fmt: skip
_READONLY_PATHS = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")


def effective_security_context(pod: Object, container: Object) -> Object:
    """Return a container's security context, with what it has from its pod."""
    pod_context = pod["spec"].get("securityContext") or {}
    inherited = {field: pod_context[field] for field in _FROM_POD if pod_context.get(field) is not None}
    own = {field: value for field, value in (container.get("securityContext") or {}).items() if value is not None}
    return {**inherited, **own}


def verify_run_as_non_root(pod: Object, container: Object, image: Image) -> None:
    """Check that a container that must not run as root will not.

    Raises:
        ConfigFailed: it would, or it cannot be verified.
    """
    context = effective_security_context(pod, container)
    if not context.get("runAsNonRoot"):
        return
    where = f'(pod: "{_pod_text(pod)}", container: {container["name"]})'
    if context.get("runAsUser") is not None:
        if context["runAsUser"] == 0:
            raise ConfigFailed(f"container's runAsUser breaks non-root policy {where}")
        return
    if image.username:
        text = f"container has runAsNonRoot and image has non-numeric user ({image.username}), cannot verify user is"
        raise ConfigFailed(f"{text} non-root {where}")
    if not image.uid:
        raise ConfigFailed(f"container has runAsNonRoot and image will run as root {where}")


def _pod_text(pod: Object) -> str:
    meta = pod["metadata"]
    return f"{meta['name']}_{meta.get('namespace', '')}({meta.get('uid', '')})"


def namespace_options(pod: Object, container: Object | None, target_id: str, user_namespace: Config | None) -> Config:
    """Return the ``NamespaceOption`` of a pod, or of one of its containers.

    Args:
        pod: the pod.
        container: None for the sandbox.
        target_id: the id of the container whose processes an ephemeral container sees, empty for none.
        user_namespace: the ``UserNamespace`` of a pod that has its own, None for the node's.
    """
    spec = pod["spec"]
    options: dict[str, Any] = {"userns_options": {"mode": "NODE"} if user_namespace is None else user_namespace}
    if spec.get("hostNetwork"):
        options["network"] = "NODE"
    if spec.get("hostIPC"):
        options["ipc"] = "NODE"
    if spec.get("hostPID"):
        options["pid"] = "NODE"
    elif not spec.get("shareProcessNamespace"):
        options["pid"] = "CONTAINER"
    if container is not None and target_id:
        options |= {"pid": "TARGET", "target_id": target_id}
    return options


def supplemental_groups(pod_context: Object, extra: tuple[int, ...] = ()) -> Config:
    """Return the groups of all containers of a pod, and the policy for merging them with the image's.

    Args:
        pod_context: the pod's security context.
        extra: the groups of its volumes.
    """
    found: dict[str, Any] = {}
    groups = [] if pod_context.get("fsGroup") is None else [pod_context["fsGroup"]]
    groups += [*extra, *(pod_context.get("supplementalGroups") or ())]
    if groups:
        found["supplemental_groups"] = groups
    if pod_context.get("supplementalGroupsPolicy") == "Strict":
        found["supplemental_groups_policy"] = "Strict"
    return found


def selinux_option(options: Mapping[str, str]) -> Config:
    """Return the ``SELinuxOption`` of ``seLinuxOptions``."""
    return {field: options[field] for field in ("user", "role", "type", "level") if options.get(field)}


def container_security_context(
    pod: Object,
    container: Object,
    *,
    image: Image,
    namespaces: Config,
    seccomp_root: Path,
    seccomp_default: bool,
    extra_groups: tuple[int, ...] = (),
) -> Config:
    """Return the ``LinuxContainerSecurityContext`` of a container.

    Args:
        pod: the pod.
        container: one of its containers.
        image: the user that the program runs as unless the pod says otherwise.
        namespaces: its ``NamespaceOption``.
        seccomp_root: the folder of the node's own seccomp profiles.
        seccomp_default: whether ``RuntimeDefault`` is the profile of those that name none.
        extra_groups: the groups of its volumes.

    Raises:
        ConfigFailed: a profile without a name.
    """
    context = effective_security_context(pod, container)
    made: dict[str, Any] = {"namespace_options": namespaces}
    if context.get("runAsUser") is not None:
        made["run_as_user"] = {"value": context["runAsUser"]}
    elif image.username:
        made["run_as_username"] = image.username
    else:
        made["run_as_user"] = {"value": image.uid or 0}
    if context.get("runAsGroup") is not None:
        made["run_as_group"] = {"value": context["runAsGroup"]}
    if context.get("capabilities"):
        made["capabilities"] = {
            f"{which}_capabilities": list(names) for which, names in context["capabilities"].items() if names
        }
    if context.get("seLinuxOptions"):
        made["selinux_options"] = selinux_option(context["seLinuxOptions"])
    made |= {
        field: True
        for field, wanted in (
            ("privileged", context.get("privileged")),
            ("readonly_rootfs", context.get("readOnlyRootFilesystem")),
            ("no_new_privs", context.get("allowPrivilegeEscalation") is False),
        )
        if wanted
    }
    if context.get("procMount") != "Unmasked":
        made |= {"masked_paths": list(_MASKED_PATHS), "readonly_paths": list(_READONLY_PATHS)}
    made["seccomp"] = _seccomp(pod, container, seccomp_root, seccomp_default)
    made |= _apparmor(pod, container)
    return {**made, **supplemental_groups(pod["spec"].get("securityContext") or {}, extra_groups)}


def _seccomp(pod: Object, container: Object, root: Path, default: bool) -> Config:
    for owner in (container, pod["spec"]):
        profile = (owner.get("securityContext") or {}).get("seccompProfile")
        if profile:
            return _seccomp_profile(profile, root)
    return {} if default else {"profile_type": "Unconfined"}


def _seccomp_profile(profile: Object, root: Path) -> Config:
    """Return the ``SecurityProfile``; one without a type is ``RuntimeDefault``."""
    if profile["type"] == "RuntimeDefault":
        return {}
    if profile["type"] != "Localhost":
        return {"profile_type": "Unconfined"}
    if not profile.get("localhostProfile"):
        raise ConfigFailed("localhostProfile must be set if seccompProfile type is Localhost.")
    return {"profile_type": "Localhost", "localhost_ref": str(root / profile["localhostProfile"])}


def _apparmor(pod: Object, container: Object) -> Config:
    profile = apparmor_profile(pod, container)
    if profile is None:
        return {}
    kind, name = profile["type"], profile.get("localhostProfile", "")
    if kind == "RuntimeDefault":
        return {"apparmor": {}, "apparmor_profile": "runtime/default"}
    if kind == "Localhost":
        made = {"profile_type": "Localhost", "localhost_ref": name}
        return {"apparmor": made, "apparmor_profile": f"localhost/{name}"}
    return {"apparmor": {"profile_type": "Unconfined"}, "apparmor_profile": "unconfined"}


def apparmor_profile(pod: Object, container: Object) -> Object | None:
    """Return the ``appArmorProfile`` of a container: its own, that of the older annotation, or its pod's."""
    own: Object | None = (container.get("securityContext") or {}).get("appArmorProfile")
    if own:
        return own
    text = annotations_of(pod).get(APPARMOR_ANNOTATION + container["name"], "")
    if text:
        kind, _, name = text.partition("/")
        if kind == "localhost":
            return {"type": "Localhost", "localhostProfile": name}
        return {"type": "Unconfined" if kind == "unconfined" else "RuntimeDefault"}
    pods: Object | None = (pod["spec"].get("securityContext") or {}).get("appArmorProfile")
    return pods or None


def has_privileged_container(pod: Object) -> bool:
    """Tell whether a container of the pod, of any kind, is privileged."""
    return any((container.get("securityContext") or {}).get("privileged") for container in containers(pod))
