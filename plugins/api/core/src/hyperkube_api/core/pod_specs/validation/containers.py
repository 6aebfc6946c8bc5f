"""Containers of every sort.

Source: kubernetes pkg/apis/core/validation (validateContainers and around).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from hyperkube_api.core.amounts import requirements
from hyperkube_api.core.pod_specs.validation.environment import validate_env, validate_env_from
from hyperkube_api.core.pod_specs.validation.mounts import validate_devices, validate_mounts
from hyperkube_api.core.pod_specs.validation.probes import (
    validate_lifecycle,
    validate_readiness_probe,
    validate_restarting_probe,
)
from hyperkube_api.core.pod_specs.validation.security import validate_container_security
from hyperkube_api.core.volumes.validation.volumes import PULL_POLICIES
from hyperkube_api.meta.validation import by_rule, named

from hyperkube.machinery import names
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.field import (
    FieldError,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
    too_many,
)
from hyperkube.machinery.objects import Object

PROTOCOLS = ("SCTP", "TCP", "UDP")
MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_NOT_EPHEMERAL = (
    "ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe", "readinessProbe",
    "startupProbe", "lifecycle",
)  # fmt: skip
_SORTS = ("initContainers", "containers", "ephemeralContainers")
_ACTIONS = ("Restart", "RestartAllContainers")


@dataclass(frozen=True, slots=True)
class PodFacts:
    """What the checks of a container need to know about its pod."""

    volumes: dict[str, Object] = field(default_factory=dict)
    claims: frozenset[str] = frozenset()
    grace: int = 30
    os: Object | None = None
    restart_policy: str = "Always"
    host_users: bool = True
    privileged: bool = True


def all_containers(path: Path, spec: Object) -> Iterator[tuple[Path, Object]]:
    """Yield the containers of every sort of a specification, each with where it is."""
    for member in _SORTS:
        for index, container in enumerate(spec.get(member) or ()):
            yield path.child(member).index(index), container


def validate_containers(path: Path, containers: Sequence[Object] | None, facts: PodFacts) -> list[FieldError]:
    """Check the containers that make up a pod."""
    if not containers:
        return [required(path)]
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, container in enumerate(containers):
        at, name = path.index(index), container.get("name") or ""
        errors += _common(at, container, facts)
        if name in seen:
            errors.append(duplicate(at.child("name"), name))
        seen.add(name)
        errors += _long_running(at, container, facts)
        errors += _restart(at, container)
    return errors + _host_port_conflicts(path, containers)


def validate_init_containers(
    path: Path, containers: Sequence[Object] | None, regular: Sequence[Object], facts: PodFacts
) -> list[FieldError]:
    """Check the containers that run before the others, or beside them as sidecars."""
    errors: list[FieldError] = []
    seen = {container.get("name") or "" for container in regular} if containers else set[str]()
    for index, container in enumerate(containers or ()):
        at, name, policy = path.index(index), container.get("name") or "", container.get("restartPolicy")
        errors += _common(at, container, facts)
        errors += _init_restart(at, container)
        if name in seen:
            errors.append(duplicate(at.child("name"), name))
        elif name:
            seen.add(name)
        errors += _host_port_conflicts(path, [container])
        errors += _long_running(at, container, facts) if policy == "Always" else _one_step(at, container)
    return errors


def _one_step(at: Path, container: Object) -> list[FieldError]:
    """Check what a container cannot have that the others wait for."""
    text = "may not be set for init containers without restartPolicy=Always"
    errors = [
        forbidden(at.child(member), text)
        for member in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
        if container.get(member) is not None
    ]
    text = "must not be set to 'RestartContainer' for non-sidecar initContainers"
    for index, policy in enumerate(container.get("resizePolicy") or ()):
        if policy.get("restartPolicy") == "RestartContainer":
            where = at.child("resizePolicy").index(index).child("restartPolicy")
            errors.append(invalid(where, "RestartContainer", text))
    return errors


def validate_ephemeral_containers(
    path: Path, containers: Sequence[Object], others: Sequence[Object], facts: PodFacts
) -> list[FieldError]:
    """Check the containers that were added to debug."""
    errors: list[FieldError] = []
    known = {container.get("name") or "" for container in others}
    seen = set(known)
    for index, container in enumerate(containers):
        at, name = path.index(index), container.get("name") or ""
        errors += _common(at, container, facts)
        errors += padded_image(at, container)
        if name in seen:
            errors.append(duplicate(at.child("name"), name))
        seen.add(name)
        target = container.get("targetContainerName")
        if target and target not in known:
            errors.append(not_found(at.child("targetContainerName"), target))
        errors += _not_for_ephemeral(at, container)
    return errors


def padded_image(at: Path, container: Object) -> list[FieldError]:
    """Check that an image has no blanks around it: templates may have such, pods not."""
    image = container.get("image") or ""
    if image.strip() == image:
        return []
    return [invalid(at.child("image"), image, "must not have leading or trailing whitespace")]


def _not_for_ephemeral(at: Path, container: Object) -> list[FieldError]:
    text = "cannot be set for an Ephemeral Container"
    errors = [
        forbidden(at.child(member), text) for member in _NOT_EPHEMERAL if container.get(member) not in (None, {}, [])
    ]
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        where = at.child("volumeMounts").index(index)
        errors += [forbidden(where.child(member), text) for member in ("subPath", "subPathExpr") if mount.get(member)]
    return errors


def _long_running(at: Path, container: Object, facts: PodFacts) -> list[FieldError]:
    """Check what only containers have that stay: hooks and probes."""
    errors: list[FieldError] = []
    if container.get("lifecycle") is not None:
        errors += validate_lifecycle(at.child("lifecycle"), container["lifecycle"], facts.grace, facts.os)
    for member, check in _PROBES:
        if container.get(member) is not None:
            errors += check(at.child(member), container[member], facts.grace)
    return errors


def _common(at: Path, container: Object, facts: PodFacts) -> list[FieldError]:
    errors = named(at.child("name"), container.get("name"), names.dns1123_label)
    if not container.get("image"):
        errors.append(required(at.child("image")))
    policy = container.get("terminationMessagePolicy") or ""
    if policy not in MESSAGE_POLICIES:
        at_policy = at.child("terminationMessagePolicy")
        errors.append(not_supported(at_policy, policy, MESSAGE_POLICIES) if policy else required(at_policy))
    if container.get("ports"):
        errors += _ports(at.child("ports"), container["ports"])
    if container.get("env"):
        errors += validate_env(at.child("env"), container["env"])
    if container.get("envFrom"):
        errors += validate_env_from(at.child("envFrom"), container["envFrom"])
    if container.get("volumeMounts"):
        errors += validate_mounts(at.child("volumeMounts"), container, facts.volumes)
    if container.get("volumeDevices"):
        errors += validate_devices(at.child("volumeDevices"), container, facts.volumes)
    errors += _pull_policy(at.child("imagePullPolicy"), container.get("imagePullPolicy") or "")
    errors += requirements(at.child("resources"), container.get("resources"), facts.claims)
    if container.get("resizePolicy"):
        errors += _resize_policy(at.child("resizePolicy"), container["resizePolicy"], facts.restart_policy)
    context = container.get("securityContext")
    if context is not None:
        errors += validate_container_security(
            at.child("securityContext"), context, privileged=facts.privileged, host_users=facts.host_users
        )
    return errors


def _pull_policy(path: Path, policy: str) -> list[FieldError]:
    if not policy:
        return [required(path)]
    return [] if policy in PULL_POLICIES else [not_supported(path, policy, PULL_POLICIES)]


def _ports(path: Path, ports: Sequence[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, port in enumerate(ports):
        at, name = path.index(index), port.get("name") or ""
        if name:
            wrong = by_rule(at.child("name"), name, names.port_name)
            errors += wrong
            if not wrong and name in seen:
                errors.append(duplicate(at.child("name"), name))
            seen.add(name)
        number, host = port.get("containerPort") or 0, port.get("hostPort") or 0
        if not number:
            errors.append(required(at.child("containerPort")))
        else:
            errors += [invalid(at.child("containerPort"), number, text) for text in names.port_number(number)]
        if host:
            errors += [invalid(at.child("hostPort"), host, text) for text in names.port_number(host)]
        protocol = port.get("protocol") or ""
        if protocol not in PROTOCOLS:
            at_protocol = at.child("protocol")
            errors.append(not_supported(at_protocol, protocol, PROTOCOLS) if protocol else required(at_protocol))
    return errors


def validate_host_ports(path: Path, spec: Object, *, in_pod: bool) -> list[FieldError]:
    """Check that on the host's network a port is what it is on the host; templates may leave that open."""
    if not spec.get("hostNetwork"):
        return []
    text = "must match `containerPort` when `hostNetwork` is true"
    errors: list[FieldError] = []
    for index, container in enumerate(spec.get("containers") or ()):
        for number, port in enumerate(container.get("ports") or ()):
            host = port.get("hostPort") or 0
            if (in_pod or host) and host != (port.get("containerPort") or 0):
                at = path.child("containers").index(index).child("ports").index(number)
                errors.append(invalid(at.child("hostPort"), host, text))
    return errors


def _host_port_conflicts(path: Path, containers: Sequence[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, container in enumerate(containers):
        for number, port in enumerate(container.get("ports") or ()):
            if not port.get("hostPort"):
                continue
            key = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if key in seen:
                errors.append(duplicate(path.index(index).child("ports").index(number).child("hostPort"), key))
            seen.add(key)
    return errors


def _resize_policy(path: Path, policies: Sequence[Object], pod_restart: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        at, resource, restart = path.index(index), policy.get("resourceName") or "", policy.get("restartPolicy") or ""
        if resource in seen:
            errors.append(duplicate(at, resource))
        seen.add(resource)
        if resource not in {"cpu", "memory"}:
            missing = required(path) if not resource else not_supported(path, resource, ("cpu", "memory"))
            errors.append(missing)
        if restart not in {"NotRequired", "RestartContainer"}:
            supported = ("NotRequired", "RestartContainer")
            errors.append(not_supported(path, restart, supported) if restart else required(path))
        if pod_restart == "Never" and restart != "NotRequired":
            errors.append(invalid(path, restart, "must be 'NotRequired' when `restartPolicy` is 'Never'"))
    return errors


def _restart(at: Path, container: Object) -> list[FieldError]:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or ()
    errors: list[FieldError] = []
    if policy is not None and policy not in {"Always", "Never", "OnFailure"}:
        errors.append(not_supported(at.child("restartPolicy"), policy, ("Always", "Never", "OnFailure")))
    if not rules:
        return errors
    where = at.child("restartPolicyRules")
    if policy is None:
        errors.append(required(at.child("restartPolicy"), "must specify restartPolicy when restart rules are used"))
    if len(rules) > 20:
        errors.append(too_many(where, len(rules), 20))
    for index, rule in enumerate(rules):
        errors += _restart_rule(where.index(index), rule)
    return errors


def _init_restart(at: Path, container: Object) -> list[FieldError]:
    """Check when a container runs again that others wait for; rules without a policy are not looked at further."""
    errors = _restart(at, container)
    return errors[:1] if container.get("restartPolicy") is None else errors


def _restart_rule(path: Path, rule: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if rule.get("action") not in _ACTIONS:
        errors.append(not_supported(path.child("action"), rule.get("action") or "", _ACTIONS))
    codes = rule.get("exitCodes")
    at = path.child("exitCodes")
    if codes is None:
        return [*errors, required(at, "must be specified")]
    if codes.get("operator") not in {"In", "NotIn"}:
        errors.append(not_supported(at.child("operator"), codes.get("operator") or "", ("In", "NotIn")))
    if len(codes.get("values") or ()) > 255:
        errors.append(too_many(at.child("values"), len(codes["values"]), 255))
    return errors


_PROBES = (
    ("livenessProbe", validate_restarting_probe),
    ("readinessProbe", validate_readiness_probe),
    ("startupProbe", validate_restarting_probe),
)
