"""Security contexts of CRI as Docker's configuration of a container.

Source: kubernetes ``pkg/kubelet/dockershim/security_context.go``, ``selinux_util.go``, ``helpers_linux.go``
(getSeccompDockerOpts), ``helpers.go`` (getApparmorSecurityOpts).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hyperkube.hookspecs.runtime import Config, RuntimeFailed

HOST = "host"


def docker_user(context: Config) -> str:
    """Return Docker's ``User``: ``1000``, ``name`` or ``1000:2000``; empty for the image's."""
    user = str(context.get("run_as_username", ""))
    if "run_as_user" in context:
        user = str(context["run_as_user"].get("value", 0))
    if "run_as_group" in context and user:
        user += f":{context['run_as_group'].get('value', 0)}"
    return user


def security_host_config(context: Config) -> dict[str, Any]:
    """Return the part of ``HostConfig`` that is of a security context: all but namespaces.

    Raises:
        RuntimeFailed: a profile that cannot be read, or a policy that Docker does not have.
    """
    if context.get("supplemental_groups_policy") == "Strict":
        raise RuntimeFailed("Docker merges the groups of pods and images: supplementalGroupsPolicy must not be Strict")
    capabilities = context.get("capabilities", {})
    made: dict[str, Any] = {
        "Privileged": bool(context.get("privileged")),
        "ReadonlyRootfs": bool(context.get("readonly_rootfs")),
        "GroupAdd": [str(group) for group in context.get("supplemental_groups", ())],
        "CapAdd": list(capabilities.get("add_capabilities", ())),
        "CapDrop": list(capabilities.get("drop_capabilities", ())),
        "SecurityOpt": security_options(context),
    }
    return made


def protected_paths(context: Config) -> dict[str, list[str]]:
    """Return the part of ``HostConfig`` about a container's ``/proc``: none are protected unless CRI names them."""
    if context.get("privileged"):
        return {}
    fields = {"MaskedPaths": "masked_paths", "ReadonlyPaths": "readonly_paths"}
    return {name: list(context.get(field, ())) for name, field in fields.items()}


def security_options(context: Config) -> list[str]:
    """Return Docker's ``SecurityOpt``.

    Raises:
        RuntimeFailed: a profile that cannot be read.
    """
    options = [
        *_selinux(context.get("selinux_options", {})),
        *_seccomp(context.get("seccomp")),
        *_apparmor(context.get("apparmor", {}), str(context.get("apparmor_profile", ""))),
    ]
    if context.get("no_new_privs") and not context.get("privileged"):
        options.append("no-new-privileges")
    return options


def _selinux(options: Config) -> list[str]:
    fields = ("user", "role", "type", "level")
    return [f"label={field}:{options[field]}" for field in fields if options.get(field)]


def _seccomp(profile: Config | None) -> list[str]:
    """Return the option of a ``SecurityProfile``; a container without one is not confined, as CRI has it."""
    kind = "Unconfined" if profile is None else profile.get("profile_type", "RuntimeDefault")
    if kind == "RuntimeDefault":
        return []
    if profile is None or kind == "Unconfined":
        return ["seccomp=unconfined"]
    path = str(profile.get("localhost_ref", ""))
    if not path.startswith("/"):
        raise RuntimeFailed(f'seccomp profile path must be absolute, but got relative path "{path}"')
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RuntimeFailed(f'cannot load seccomp profile "{path}": {error}') from error
    return [f"seccomp={json.dumps(content, separators=(',', ':'))}"]


def _apparmor(profile: Config, older: str) -> list[str]:
    """Return the option of a ``SecurityProfile``, or of a profile's name as CRI had it first."""
    if profile:
        kind = profile.get("profile_type", "RuntimeDefault")
        older = {"Unconfined": "unconfined", "RuntimeDefault": ""}.get(kind, str(profile.get("localhost_ref", "")))
    name = older.removeprefix("localhost/")
    return [] if name in {"", "runtime/default"} else [f"apparmor={name}"]


def sandbox_namespaces(options: Config, network_mode: str) -> dict[str, str]:
    """Return the namespaces of a sandbox; `network_mode` is that of one with a network of its own."""
    made = {
        "NetworkMode": HOST if options.get("network") == "NODE" else network_mode,
        # Docker gives containers a private one, which others could not join.
        "IpcMode": HOST if options.get("ipc") == "NODE" else "shareable",
    }
    return made | ({"PidMode": HOST} if options.get("pid") == "NODE" else {})


def container_namespaces(options: Config, sandbox_id: str) -> dict[str, str]:
    """Return the namespaces of a container: those of its sandbox, the node's, its own or those of another one.

    Raises:
        RuntimeFailed: it should have a user namespace of its own.
    """
    sandbox = f"container:{sandbox_id}"
    made = {"NetworkMode": sandbox, "IpcMode": HOST if options.get("ipc") == "NODE" else sandbox}
    if options.get("network") == "NODE":
        made["UTSMode"] = HOST
    mode = options.get("pid", "POD")
    if mode == "NODE":
        made["PidMode"] = HOST
    elif mode == "TARGET":
        made["PidMode"] = f"container:{options.get('target_id', '')}"
    elif mode == "POD":
        made["PidMode"] = sandbox
    return made


def refuse_user_namespace(context: Config) -> None:
    """Refuse a user namespace of a pod's own: Docker has one for all containers or none.

    Raises:
        RuntimeFailed: the pod asks for one.
    """
    options = context.get("namespace_options", {}).get("userns_options", {})
    if options and options.get("mode", "POD") == "POD":
        raise RuntimeFailed("Docker has no user namespaces of single pods: hostUsers must not be false")
