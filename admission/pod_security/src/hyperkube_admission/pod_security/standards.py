"""The pod security standards: which checks a level has in which version.

Source: kubernetes ``staging/src/k8s.io/pod-security-admission/policy``, also for the versions.
"""

from __future__ import annotations

from functools import lru_cache, partial

from hyperkube_admission.pod_security import baseline, restricted
from hyperkube_admission.pod_security.findings import Check, Finding
from hyperkube_admission.pod_security.policies import LevelVersion

from hyperkube.machinery.objects import Object

Row = tuple[str, dict[int, Check]]
"""(name of the check, first minor version → check)"""

_BASELINE: tuple[Row, ...] = (
    ("appArmorProfile", {0: baseline.app_armor}),
    ("capabilities_baseline", {0: baseline.capabilities}),
    ("hostNamespaces", {0: baseline.host_namespaces}),
    ("hostPathVolumes", {0: baseline.host_path_volumes}),
    ("hostPorts", {0: baseline.host_ports}),
    ("hostProbesAndHostLifecycle", {34: baseline.host_probes}),
    ("privileged", {0: baseline.privileged}),
    ("procMount", {0: baseline.proc_mount, 35: baseline.proc_mount_unless_own_users}),
    ("seLinuxOptions", {0: baseline.selinux, 31: baseline.selinux_with_engine}),
    ("seccompProfile_baseline", {0: baseline.seccomp_annotations, 19: baseline.seccomp}),
    ("sysctls", {since: partial(baseline.sysctls, minor=since) for since in (0, 27, 29, 32)}),
    ("windowsHostProcess", {0: baseline.windows_host_process}),
)

_RESTRICTED: tuple[Row, ...] = (
    (
        "allowPrivilegeEscalation",
        {8: restricted.privilege_escalation, 25: restricted.privilege_escalation_unless_windows},
    ),
    ("capabilities_restricted", {22: restricted.capabilities, 25: restricted.capabilities_unless_windows}),
    ("procMount_restricted", {35: baseline.proc_mount}),
    ("restrictedVolumes", {0: restricted.volumes}),
    ("runAsNonRoot", {0: restricted.run_as_non_root, 35: restricted.run_as_non_root_unless_own_users}),
    ("runAsUser", {23: restricted.run_as_user, 35: restricted.run_as_user_unless_own_users}),
    ("seccompProfile_restricted", {19: restricted.seccomp, 25: restricted.seccomp_unless_windows}),
)

_COVERED = {
    "capabilities_restricted": "capabilities_baseline",
    "procMount_restricted": "procMount",
    "restrictedVolumes": "hostPathVolumes",
    "seccompProfile_restricted": "seccompProfile_baseline",
}
"""A restricted check → the baseline check that says nothing new beside it."""


def _of_version(rows: tuple[Row, ...], minor: int) -> dict[str, Check]:
    found = {}
    for name, versions in rows:
        since = max((first for first in versions if first <= minor), default=None)
        if since is not None:
            found[name] = versions[since]
    return found


@lru_cache(maxsize=64)
def checks_of(policy: LevelVersion) -> tuple[Check, ...]:
    """Return the checks of a level in a version: those of baseline, then those that restricted adds."""
    if policy.level == "privileged":
        return ()
    checks = _of_version(_BASELINE, policy.version.minor)
    if policy.level == "restricted":
        strict = _of_version(_RESTRICTED, policy.version.minor)
        for name in strict:
            checks.pop(_COVERED.get(name, ""), None)
        checks |= strict
    return tuple(checks.values())


def findings_of(pod: Object, policy: LevelVersion) -> list[Finding]:
    """Return all that a pod, or a pod template, breaks of a policy."""
    return [found for check in checks_of(policy) if (found := check(pod)) is not None]
