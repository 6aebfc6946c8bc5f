"""Warnings for the containers of a pod: amounts, variables and ports.

Source: kubernetes pkg/api/pod/warnings.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperkube_api.core.amount_warnings import BYTE_RESOURCES, fraction_warnings
from hyperkube_api.core.pod_specs.annotations import APP_ARMOR, SECCOMP

from hyperkube.machinery.field import Path, quote
from hyperkube.machinery.objects import Object

_MEMBERS = ("initContainers", "containers", "ephemeralContainers")
_PORT_MEMBERS = (
    ("Name", "name", ""),
    ("HostPort", "hostPort", 0),
    ("ContainerPort", "containerPort", 0),
    ("Protocol", "protocol", ""),
    ("HostIP", "hostIP", ""),
)


def _containers(path: Path, spec: Object) -> Iterator[tuple[Path, Object]]:
    for member in _MEMBERS:
        for index, container in enumerate(spec.get(member) or ()):
            yield path.child(member).index(index), container


def container_warnings(root: Path, spec: Object, annotations: Mapping[str, str]) -> list[str]:
    """Return the warnings for each container by itself; `root` is empty for a pod, not for a template."""
    found: list[str] = []
    noted = root.child("metadata", "annotations")
    whole = (spec.get("securityContext") or {}).get("appArmorProfile")
    for path, container in _containers(root.child("spec"), spec):
        name, context = container.get("name") or "", container.get("securityContext") or {}
        if SECCOMP + name in annotations and not context.get("seccompProfile"):
            at = noted.key(SECCOMP + name)
            found.append(f'{at}: non-functional in v1.27+; use the "seccompProfile" field instead')
        if root and APP_ARMOR + name in annotations and not (whole or context.get("appArmorProfile")):
            at = noted.key(APP_ARMOR + name)
            found.append(f'{at}: deprecated since v1.30; use the "appArmorProfile" field instead')
        resources = container.get("resources") or {}
        for resource in BYTE_RESOURCES:
            for member in ("limits", "requests"):
                amount = (resources.get(member) or {}).get(resource)
                if amount is not None:
                    found += fraction_warnings(path.child("resources", member).key(resource), amount)
        if container.get("env"):
            found += _variables(path.child("env"), container["env"])
    return found


def _variables(path: Path, variables: list[Object]) -> list[str]:
    """Return the warnings for variables that hide what came before; one that adds to the old value is fine."""
    found: list[str] = []
    seen: set[str] = set()
    for index, variable in enumerate(variables):
        name, value = variable.get("name") or "", variable.get("value") or ""
        reference = f"$({name})"
        adds = variable.get("valueFrom") is None and reference in value and value != reference
        if name in seen and not adds:
            hides = f"hides previous definition of {quote(name)}"
            found.append(f"{path.index(index)}: {hides}, which may be dropped when using apply")
        seen.add(name)
    return found


def port_warnings(path: Path, spec: Object) -> list[str]:
    """Return the warnings for ports that collide, within one container or between two."""
    ports = [
        (at.child("ports").index(index), port)
        for at, container in _containers(path, spec)
        for index, port in enumerate(container.get("ports") or ())
    ]
    return _numbers(ports) + _names(ports)


def _numbers(ports: list[tuple[Path, Object]]) -> list[str]:
    found: list[str] = []
    known: dict[tuple[object, object], list[tuple[Path, Object]]] = {}
    for path, port in ports:
        if port.get("hostIP") and not port.get("hostPort"):
            shown = " ".join(f"{name}:{port.get(member) or empty}" for name, member, empty in _PORT_MEMBERS)
            found.append(f"{path}: hostIP set without hostPort: {{{shown}}}")
        others = known.setdefault((port.get("containerPort"), port.get("protocol")), [])
        for at, other in others:
            clash = _clash(port, other)
            if clash:
                found.append(f"{path}: {clash} port definition with {at}")
        others.append((path, port))
    return found


def _clash(port: Object, other: Object) -> str:
    """Return how bad it is that two definitions are of one port and protocol; empty if it is not."""
    host, at = port.get("hostIP") or "", port.get("hostPort") or 0
    other_host, other_at = other.get("hostIP") or "", other.get("hostPort") or 0
    if (host, at) == (other_host, other_at):
        return "duplicate"
    if not at or not other_at:
        return "overlapping"
    return "dangerously ambiguous" if at == other_at and bool(host) != bool(other_host) else ""


def _names(ports: list[tuple[Path, Object]]) -> list[str]:
    found: list[str] = []
    known: dict[str, Path] = {}
    for path, port in ports:
        name = port.get("name")
        if not name:
            continue
        first = known.setdefault(name, path)
        if first is not path:
            winner = f"services and probes that select ports by name will use {first}"
            found.append(f"{path}: duplicate port name {quote(name)} with {first}, {winner}")
    return found
