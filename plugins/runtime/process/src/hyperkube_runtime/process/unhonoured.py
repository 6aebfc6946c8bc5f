"""Which fields of a pod have no effect in the process runtime on this machine: said once per pod, never in silence.

What a pod asks for to be confined by, and there is not, is refused instead: see `refusals`.
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperkube.kinds.pods import containers_with_paths, spec_of
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

_PROFILES = ("seccompProfile", "appArmorProfile")
_NEVER_SECURITY = ("seLinuxOptions", "procMount")
_NEVER_POD_SECURITY = ("seLinuxOptions", "sysctls", "fsGroup")
_NEVER_POD = ("resources",)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAbilities:
    """What this machine lets the runtime do.

    Attributes:
        is_root: whether it runs as root.
        private_views: whether containers get mounts of their own.
        cgroups: of ``cpu`` and ``memory``, those for which control groups can be made.
        host_ports: whether its network forwards ports of the node.
    """

    is_root: bool
    private_views: bool
    cgroups: frozenset[str]
    host_ports: bool = False


def unhonoured_fields(pod: Object, abilities: NodeAbilities) -> list[str]:
    """Return the paths of the fields that the pod sets and that have no effect."""
    return [*_pod_fields(spec_of(pod), abilities), *_container_fields(pod, abilities)]


def _pod_fields(spec: Object, abilities: NodeAbilities) -> Iterator[str]:
    security = spec.get("securityContext") or {}
    yield from (f"spec.{field}" for field in _NEVER_POD if spec.get(field))
    yield from _profiles(security, "spec.securityContext")
    never = _NEVER_POD_SECURITY if abilities.is_root else (*_NEVER_POD_SECURITY, "supplementalGroups")
    yield from (f"spec.securityContext.{field}" for field in never if security.get(field))
    if not abilities.private_views:
        yield from (f"spec.{field}" for field in ("hostAliases", "dnsConfig", "hostname") if spec.get(field))


def _container_fields(pod: Object, abilities: NodeAbilities) -> Iterator[str]:
    on_host = bool(spec_of(pod).get("hostNetwork"))
    for path, container in containers_with_paths(pod):
        yield from _limits(container, path, abilities)
        yield from _security(container.get("securityContext") or {}, f"{path}.securityContext", abilities)
        yield from _mounts(container, path, abilities)
        for index, port in enumerate(container.get("ports") or []):
            if port.get("hostPort") and not (on_host or abilities.host_ports):
                yield f"{path}.ports[{index}].hostPort"
        if (container.get("lifecycle") or {}).get("stopSignal", "SIGTERM") != "SIGTERM":
            yield f"{path}.lifecycle.stopSignal"
        yield from (f"{path}.{field}" for field in ("volumeDevices",) if container.get(field))


def _limits(container: Object, path: str, abilities: NodeAbilities) -> Iterator[str]:
    resources = container.get("resources") or {}
    honoured = {"memory", *abilities.cgroups}
    yield from (f"{path}.resources.limits[{name}]" for name in resources.get("limits") or {} if name not in honoured)
    if resources.get("claims"):
        yield f"{path}.resources.claims"


def _security(security: Object, path: str, abilities: NodeAbilities) -> Iterator[str]:
    yield from _profiles(security, path)
    yield from (f"{path}.{field}" for field in _NEVER_SECURITY if security.get(field, "Default") != "Default")
    if security.get("privileged") and not abilities.is_root:
        yield f"{path}.privileged"
    if (security.get("capabilities") or {}).get("add") and not abilities.is_root:
        yield f"{path}.capabilities.add"


def _profiles(security: Object, path: str) -> Iterator[str]:
    for field in _PROFILES:
        profile = security.get(field)
        if profile and profile.get("type") == "RuntimeDefault":  # Localhost is refused, see `refusals`
            yield f"{path}.{field}"


def _mounts(container: Object, path: str, abilities: NodeAbilities) -> Iterator[str]:
    mounts = container.get("volumeMounts") or []
    if mounts and not abilities.private_views:
        yield f"{path}.volumeMounts"  # they lie under $HYPERKUBE_ROOT only
        return
    for index, mount in enumerate(mounts):
        if mount.get("mountPropagation") == "Bidirectional":
            yield f"{path}.volumeMounts[{index}].mountPropagation"
        if mount.get("recursiveReadOnly", "Disabled") != "Disabled":
            yield f"{path}.volumeMounts[{index}].recursiveReadOnly"
