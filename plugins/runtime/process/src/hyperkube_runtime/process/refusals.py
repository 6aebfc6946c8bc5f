"""What a pod asks for to be confined by and this runtime cannot give: such a pod does not run, rather than unprotected.

A field that only would have given a pod more (`privileged` without root) is another matter: an event names it, see
`unhonoured`. So does one for ``RuntimeDefault`` profiles: the default of this runtime is none.
"""

from __future__ import annotations

from hyperkube.hookspecs.runtime import Config, RuntimeFailed

_REASON = "CreateContainerError"


def refuse_sandbox(config: Config, runtime_handler: str) -> None:
    """Refuse a pod that is to be isolated as a whole in a way that this runtime does not have.

    Args:
        config: CRI's ``PodSandboxConfig``.
        runtime_handler: what the pod's RuntimeClass names.

    Raises:
        RuntimeFailed: the runtime cannot give what it asks for.
    """
    if runtime_handler:
        raise RuntimeFailed(f'no runtime for "{runtime_handler}" is configured')
    namespaces = config.get("linux", {}).get("security_context", {}).get("namespace_options", {})
    if namespaces.get("userns_options", {}).get("mode") == "POD":
        raise RuntimeFailed("hostUsers: false needs user namespaces, which the process runtime does not make for pods")


def refuse_container(config: Config, *, has_private_view: bool) -> None:
    """Refuse a container without a command, or one that is to be confined by what this runtime does not have.

    Args:
        config: CRI's ``ContainerConfig``.
        has_private_view: whether the container gets mounts of its own.

    Raises:
        RuntimeFailed: the runtime cannot run it, or not confine it so.
    """
    if not (config.get("command") or config.get("args")):
        raise RuntimeFailed("no command specified: image 'host' has none of its own", _REASON)
    security = config.get("linux", {}).get("security_context", {})
    for field, word in (("seccomp", "seccompProfile"), ("apparmor", "appArmorProfile")):
        if security.get(field, {}).get("profile_type") == "LOCALHOST":
            text = f"securityContext.{word} of type Localhost is not supported by the process runtime"
            raise RuntimeFailed(text, _REASON)
    if security.get("readonly_rootfs") and not has_private_view:
        text = "securityContext.readOnlyRootFilesystem needs mounts of the container's own, which this node cannot make"
        raise RuntimeFailed(text, _REASON)
