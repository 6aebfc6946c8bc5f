"""The checks that the restricted standard adds: what is good practice today must be said in the pod."""

from __future__ import annotations

from collections.abc import Callable

from hyperkube_admission.pod_security import baseline
from hyperkube_admission.pod_security.findings import (
    Check,
    Finding,
    containers_where,
    context_of,
    has_own_users,
    is_windows,
    name_in,
    named,
    plural,
    quoted,
    setters,
    within,
)

from hyperkube.kinds.pods import containers, spec_of
from hyperkube.machinery.objects import Object

_VOLUME_SOURCES = frozenset(
    {
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    }
)


def unless(is_exempt: Callable[[Object], bool], check: Check) -> Check:
    """Return the check, passing every pod for which that holds."""

    def checked(pod: Object) -> Finding | None:
        return None if is_exempt(pod) else check(pod)

    return checked


def privilege_escalation(pod: Object) -> Finding | None:
    """A process never gets more rights than its parent."""
    bad = containers_where(pod, lambda container: context_of(container).get("allowPrivilegeEscalation") is not False)
    if not bad:
        return None
    return Finding(
        "allowPrivilegeEscalation != false", f"{named(bad)} must set securityContext.allowPrivilegeEscalation=false"
    )


def capabilities(pod: Object) -> Finding | None:
    """All capabilities are dropped; only the binding of low ports may come back."""
    reason = "unrestricted capabilities"
    keeping = containers_where(
        pod, lambda container: "ALL" not in (within(context_of(container), "capabilities", "drop") or ())
    )
    details = [f'{named(keeping)} must set securityContext.capabilities.drop=["ALL"]'] if keeping else []
    adding = baseline.added_capabilities(pod, frozenset({"NET_BIND_SERVICE"}), reason)
    if adding is not None:
        details.append(adding.detail)
    return Finding(reason, "; ".join(details)) if details else None


def volumes(pod: Object) -> Finding | None:
    """Only volumes that the cluster itself fills or gives out."""
    bad, kinds = [], set()
    for volume in spec_of(pod).get("volumes") or ():
        sources = {name for name, value in volume.items() if name != "name" and value is not None}
        if sources & _VOLUME_SOURCES:
            continue
        bad.append(name_in(volume))
        kinds.add(min(sources, default="unknown"))
    if not bad:
        return None
    uses = "uses" if len(bad) == 1 else "use"
    return Finding(
        "restricted volume types",
        f"{plural('volume', len(bad))} {quoted(bad)} {uses} restricted {plural('volume type', len(kinds))} "
        f"{quoted(sorted(kinds))}",
    )


def run_as_non_root(pod: Object) -> Finding | None:
    """No container runs as root, and a security context says so."""
    reason = "runAsNonRoot != true"
    who = setters(pod, lambda context: context.get("runAsNonRoot") is False)
    if who:
        return Finding(reason, f"{' and '.join(who)} must not set securityContext.runAsNonRoot=false")
    if context_of(spec_of(pod)).get("runAsNonRoot"):
        return None
    silent = containers_where(pod, lambda container: context_of(container).get("runAsNonRoot") is None)
    return Finding(reason, f"pod or {named(silent)} must set securityContext.runAsNonRoot=true") if silent else None


def run_as_user(pod: Object) -> Finding | None:
    """No container has the user id of root."""
    who = setters(pod, lambda context: context.get("runAsUser") == 0)
    return Finding("runAsUser=0", f"{' and '.join(who)} must not set runAsUser=0") if who else None


def seccomp(pod: Object) -> Finding | None:
    """Seccomp is on, and a security context says so."""
    found = baseline.seccomp(pod)
    if found is not None:
        return found
    if context_of(spec_of(pod)).get("seccompProfile") is not None:
        return None
    silent = [name_in(part) for part in containers(pod) if context_of(part).get("seccompProfile") is None]
    if not silent:
        return None
    return Finding(
        "seccompProfile",
        f'pod or {named(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"',
    )


run_as_non_root_unless_own_users = unless(has_own_users, run_as_non_root)
run_as_user_unless_own_users = unless(has_own_users, run_as_user)
privilege_escalation_unless_windows = unless(is_windows, privilege_escalation)
capabilities_unless_windows = unless(is_windows, capabilities)
seccomp_unless_windows = unless(is_windows, seccomp)
