"""What a kubelet may report of a pod.

Source: kubernetes pkg/apis/core/validation (ValidatePodStatusUpdate).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence

from hyperkube_api.core.pods.validation.updates import annotation_changes
from hyperkube_api.meta.validation import by_rule, ip_address

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, duplicate, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object

SYSTEM_CONDITIONS = frozenset({"PodScheduled", "Ready", "Initialized"})
HEALTH = ("Healthy", "Unhealthy", "Unknown")
_STATUS = ROOT.child("status")
_NOT_NEGATIVE = "must be a non-negative integer"
_SORTS = (("containers", "containerStatuses"), ("initContainers", "initContainerStatuses"))
_EPHEMERAL = "ephemeralContainerStatuses"
_OF_CONTAINERS = (*(statuses for _, statuses in _SORTS), _EPHEMERAL)
_NODE, _POD_IPS, _HOST_IPS, _CLAIMS, _EXTENDED = (
    _STATUS.child(name)
    for name in ("nominatedNodeName", "podIPs", "hostIPs", "resourceClaimStatuses", "extendedResourceClaimStatus")
)


def validate_pod_status_update(pod: Object, old: Object) -> list[FieldError]:
    """Check a write to ``/status``."""
    status, old_status = pod.get("status") or {}, old.get("status") or {}
    spec, old_spec = pod.get("spec") or {}, old.get("spec") or {}
    errors = annotation_changes(pod, old) + _conditions(status.get("conditions") or ())
    if spec.get("nodeName") != old_spec.get("nodeName"):
        errors.append(forbidden(_STATUS.child("nodeName"), "may not be changed directly"))
    errors += _nomination(status, old_status, old_spec)
    generation = status.get("observedGeneration") or 0
    if generation < 0:
        errors.append(invalid(_STATUS.child("observedGeneration"), generation, _NOT_NEGATIVE))
    if (status.get("qosClass") or "") != (old_status.get("qosClass") or ""):
        errors.append(invalid(_STATUS.child("qosClass"), status.get("qosClass") or "", "field is immutable"))
    of_containers = any(map(status.get, _OF_CONTAINERS))
    if of_containers:
        errors += _restarts(status, old_status, old_spec)
    if status.get("resourceClaimStatuses"):
        errors += _claims(_CLAIMS, status, spec)
    errors += _extended_claim(_EXTENDED, status, spec)
    errors += _addresses(_POD_IPS, _ips(status, "podIPs"), _ips(old_status, "podIPs"))
    errors += _host_addresses(status, old_status)
    if not of_containers:
        return errors
    errors += _users(status, (spec.get("os") or {}).get("name") or "linux")
    return errors + _devices(status, spec)


def _conditions(conditions: Sequence[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, condition in enumerate(conditions):
        generation, kind = condition.get("observedGeneration") or 0, condition.get("type") or ""
        if generation < 0:
            at = _STATUS.child("conditions").index(index).child("observedGeneration")
            errors.append(invalid(at, generation, _NOT_NEGATIVE))
        if kind not in SYSTEM_CONDITIONS and names.qualified_name(kind):
            at = _STATUS.child("conditions").index(index).child("Type")
            errors += by_rule(at, kind, names.qualified_name)
    return errors


def _nomination(status: Object, old: Object, spec: Object) -> list[FieldError]:
    """Check the node that is being cleared for a pod: one that has a node needs none."""
    node = status.get("nominatedNodeName") or ""
    if not node or node == (old.get("nominatedNodeName") or ""):
        return []
    errors = by_rule(_NODE, node, names.dns1123_subdomain)
    if spec.get("nodeName"):
        errors.append(forbidden(_NODE, "may not be set on pods that are already bound to a node"))
    return errors


def _restarts(status: Object, old: Object, spec: Object) -> list[FieldError]:
    """Check that containers which ended for good stay ended."""
    errors: list[FieldError] = []
    for member, statuses in _SORTS:
        revived = [*_revived(status, old, statuses)]
        if revived and not _all_may_restart(spec):
            containers = {item.get("name"): item for item in spec.get(member) or ()}
            for index, name, code in revived:
                container = containers.get(name)
                if container is None or not _restarts_after(container, spec, code):
                    errors.append(_stays_ended(statuses, index))
    return errors + [_stays_ended(_EPHEMERAL, index) for index, _, _ in _revived(status, old, _EPHEMERAL)]


def _stays_ended(member: str, index: int) -> FieldError:
    at = _STATUS.child(member).index(index).child("state")
    return forbidden(at, "may not be transitioned to non-terminated state")


def _revived(status: Object, old: Object, member: str) -> Iterator[tuple[int, str | None, int]]:
    """Yield index, name and exit code of the containers that had ended and now have not."""
    now: dict[str | None, Object] = {}
    for index, before in enumerate(old.get(member) or ()):
        ended, name = (before.get("state") or {}).get("terminated"), before.get("name")
        if ended is None:
            continue
        now = now or {item.get("name"): item for item in reversed(status.get(member) or ())}
        if name in now and (now[name].get("state") or {}).get("terminated") is None:
            yield index, name, ended.get("exitCode") or 0


def _all_may_restart(spec: Object) -> bool:
    return any(
        rule.get("action") == "RestartAllContainers"
        for member, _ in _SORTS
        for container in spec.get(member) or ()
        for rule in container.get("restartPolicyRules") or ()
    )


def _restarts_after(container: Object, spec: Object, code: int) -> bool:
    """Tell whether a container runs again after it ended with an exit code."""
    policy = container.get("restartPolicy")
    if policy is not None and any(_matches(rule, code) for rule in container.get("restartPolicyRules") or ()):
        return True
    policy = policy or spec.get("restartPolicy") or "Always"
    return policy != "Never" and (policy != "OnFailure" or code != 0)


def _matches(rule: Object, code: int) -> bool:
    codes = rule.get("exitCodes") or {}
    listed = code in (codes.get("values") or ())
    return bool(codes) and listed == (codes.get("operator") == "In")


def _claims(path: Path, status: Object, spec: Object) -> list[FieldError]:
    known = {claim.get("name") for claim in spec.get("resourceClaims") or ()}
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, item in enumerate(status.get("resourceClaimStatuses") or ()):
        at, name, claim = path.index(index).child("name"), item.get("name") or "", item.get("resourceClaimName")
        if name not in known:
            errors.append(invalid(at, name, "must match the name of an entry in `spec.resourceClaims`"))
        if name in seen:
            errors.append(duplicate(at, name))
        seen.add(name)
        if claim is not None:
            errors += by_rule(at, claim, names.dns1123_subdomain)
    return errors


def _extended_claim(path: Path, status: Object, spec: Object) -> list[FieldError]:
    """Check which devices were claimed for extended resources."""
    given = status.get("extendedResourceClaimStatus")
    if given is None:
        return []
    at, rows = path.child("requestMappings"), given.get("requestMappings") or []
    errors = [] if rows else [required(at, "at least one request mapping is required")]
    containers = {item.get("name"): item for member, _ in reversed(_SORTS) for item in spec.get(member) or ()}
    seen: set[tuple[str, ...]] = set()
    for index, row in enumerate(rows):
        container, resource, request = (row.get(f"{what}Name") or "" for what in ("container", "resource", "request"))
        where = at.index(index)
        if container not in containers:
            text = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
            errors.append(invalid(where.child("containerName"), container, text))
        elif resource not in ((containers[container].get("resources") or {}).get("requests") or {}):
            text = (
                "must match the extended resource name of an entry in spec.initContainers.resources.requests "
                "or spec.containers.resources.requests"
            )
            errors.append(invalid(where.child("resourceName"), resource, text))
        errors += by_rule(path.child("requestName"), request, names.dns1123_label)
        key = (container, resource, request)
        if key in seen:
            parts = zip(("containerName", "resourceName", "requestName"), key, strict=True)
            errors += [duplicate(where.child(member), value) for member, value in parts]
        seen.add(key)
    claim, at_claim = given.get("resourceClaimName") or "", path.child("resourceClaimName")
    return errors + (by_rule(at_claim, claim, names.dns1123_subdomain) if claim else [required(at_claim)])


def _host_addresses(status: Object, old: Object) -> list[FieldError]:
    path, addresses = _HOST_IPS, _ips(status, "hostIPs")
    if not addresses:
        return []
    errors = _addresses(path, addresses, _ips(old, "hostIPs"))
    if addresses[0] != (status.get("hostIP") or ""):
        errors.insert(0, invalid(path.index(0).child("ip"), addresses[0], "must be equal to `hostIP`"))
    return errors


def _ips(status: Object, member: str) -> list[str]:
    return [item.get("ip") or "" for item in status.get(member) or ()]


def _addresses(path: Path, addresses: Sequence[str], old: Sequence[str]) -> list[FieldError]:
    """Check addresses: those that were accepted stay so, and there is one of each family at most."""
    errors = [
        error
        for index, text in enumerate(addresses)
        if text not in old
        for error in ip_address(path.index(index), text)
    ]
    if len(addresses) > 1 and not errors and not _two_families(addresses):
        text = "may specify no more than one IP for each IP family"
        errors.append(invalid(path, [{"IP": address} for address in addresses], text))
    return errors


def _two_families(addresses: Sequence[str]) -> bool:
    return len(addresses) == 2 and len({ipaddress.ip_address(text).version for text in addresses}) == 2


def _users(status: Object, system: str) -> list[FieldError]:
    """Check as whom containers run."""
    errors: list[FieldError] = []
    for member in ("containerStatuses", "initContainerStatuses", _EPHEMERAL):
        for index, item in enumerate(status.get(member) or ()):
            user = (item.get("user") or {}).get("linux")
            if user is None:
                continue
            at = _STATUS.child(member).index(index).child("user", "linux")
            if system == "windows":
                errors.append(forbidden(at, "cannot be set for a windows pod"))
            elif system == "linux":
                errors += _user(at, user)
    return errors


def _user(path: Path, user: Object) -> list[FieldError]:
    rows = [(path.child(member), user.get(member) or 0) for member in ("uid", "gid")]
    groups = path.child("supplementalGroups")
    rows += [(groups.index(index), group) for index, group in enumerate(user.get("supplementalGroups") or ())]
    return [invalid(at, value, text) for at, value in rows for text in names.user_or_group_id(value)]


def _devices(status: Object, spec: Object) -> list[FieldError]:
    """Check how the devices of containers are."""
    errors: list[FieldError] = []
    for member, statuses in _SORTS:
        for index, item in enumerate(status.get(statuses) or ()):
            devices = item.get("allocatedResourcesStatus")
            if not devices:
                continue
            containers = {item.get("name"): item for item in spec.get(member) or ()}
            at = _STATUS.child(statuses).index(index).child("allocatedResourcesStatus")
            for number, given in enumerate(devices):
                errors += _device(at.index(number), given, containers.get(item.get("name")))
    text = "must not be specified in container status"
    return errors + [
        forbidden(_STATUS.child(_EPHEMERAL).index(index).child("allocatedResourcesStatus"), text)
        for index, item in enumerate(status.get(_EPHEMERAL) or ())
        if item.get("allocatedResourcesStatus")
    ]


def _device(path: Path, given: Object, container: Object | None) -> list[FieldError]:
    errors: list[FieldError] = []
    name = given.get("name") or ""
    if container is not None and not _asked_for(name, container.get("resources") or {}):
        text = "must match one of the container's resource requests"
        if name.startswith("claim:"):
            text = (
                "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' "
                "or 'claim:<claimName>' if request is empty"
            )
        errors.append(invalid(path.child("name"), name, text))
    seen: set[str] = set()
    for index, item in enumerate(given.get("resources") or ()):
        at, health, device = path.child("resources").index(index), item.get("health") or "", item.get("resourceID")
        if health not in HEALTH:
            errors.append(not_supported(at.child("health"), health, HEALTH))
        if device in seen:
            errors.append(duplicate(at.child("resourceID"), device))
        seen.add(device or "")
    return errors


def _asked_for(name: str, resources: Object) -> bool:
    if not name.startswith("claim:"):
        return name in (resources.get("requests") or {})
    claims = resources.get("claims") or ()
    return name in {f"claim:{'/'.join(filter(None, (item.get('name'), item.get('request'))))}" for item in claims}
