"""``--runonce``: start the pods of this machine's files and addresses, see them run, and end without stopping them.

Source: kubernetes 1.20 ``pkg/kubelet/runonce.go``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube_host.kubelet.pod.pod_entry import PodEntry, PodState

from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import name_of
from hyperkube.plugin.flags import FlagValues

if TYPE_CHECKING:
    from hyperkube_host.kubelet.kubelet import Kubelet

RETRIES = 10
FIRST_DELAY_SECONDS = 1.0
WAIT_SECONDS = FIRST_DELAY_SECONDS * (2**RETRIES - 1)
"""How long pods may take: the sum of upstream's delays, each twice the one before."""
_POLL_SECONDS = 0.25
_EXCLUDED = ("api-servers", "kubeconfig", "master", "auth-path", "enable-server")


def only_local(values: FlagValues) -> FlagValues:
    """Return the values of a kubelet that has neither API server nor port.

    Raises:
        UsageError: one is asked for.
    """
    wanted = [f"--{name}" for name in _EXCLUDED if name in values.given and values[name]]
    if wanted:
        raise UsageError(f"--runonce starts local pods and ends, which excludes {', '.join(wanted)}")
    return values.with_values({"enable-server": False, "healthz-port": 0})


def is_running(entry: PodEntry) -> bool:
    """Tell whether all containers of a pod run, or it has ended as it should."""
    status = entry.view().get("status") or {}
    states = [one.get("state") or {} for one in status.get("containerStatuses") or ()]
    runs = len(states) == len(entry.pod["spec"]["containers"]) and all("running" in state for state in states)
    return runs or status.get("phase") == "Succeeded"


def problem(entry: PodEntry) -> str:
    """Return why a pod will never run; empty while it may."""
    status = entry.view().get("status") or {}
    if entry.state is PodState.REJECTED or status.get("phase") == "Failed":
        why = ": ".join(part for part in (status.get("reason", ""), status.get("message", "")) if part)
        return f"pod {name_of(entry.pod)!r} failed: {why or 'its containers ended'}"
    return ""


def run_once(kubelet: Kubelet, clock: Clock) -> list[str]:
    """Wait until all pods run; return their names.

    Raises:
        UsageError: some do not.
    """
    deadline = clock.monotonic() + WAIT_SECONDS
    while True:
        entries = kubelet.pods.entries()
        waiting = [entry for entry in entries if not is_running(entry)]
        problems = [text for entry in waiting if (text := problem(entry))]
        settled = kubelet.ready() and len(problems) == len(waiting)
        if not settled and clock.monotonic() < deadline:
            clock.sleep(_POLL_SECONDS)
            continue
        problems += [
            f"timeout error: pod {name_of(entry.pod)!r} containers not running after {RETRIES} retries"
            for entry in waiting
            if not problem(entry)
        ]
        if problems:
            raise UsageError(f"runonce failed: error running pods: {aggregate(problems)}")
        return sorted(name_of(entry.pod) for entry in entries)
