"""The back-off of containers that crash again and again.

Sources: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_manager.go`` (doBackOff), ``pkg/kubelet/kubelet.go``
(newCrashLoopBackOff), ``pkg/kubelet/apis/config/validation/validation.go``.
"""

from __future__ import annotations

from typing import NamedTuple

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues

MAX_GATE = "KubeletCrashLoopBackOffMax"
REDUCED_GATE = "ReduceDefaultCrashLoopBackOffDecay"
MAX_FLAG = "max-container-restart-period"


class RestartDelays(NamedTuple):
    """The seconds before the second restart, and the most before any."""

    initial: float = 10.0
    longest: float = 300.0


_REDUCED = RestartDelays(1.0, 60.0)


def read_restart_delays(values: FlagValues) -> RestartDelays:
    """Return the delays that the values of flags make.

    Raises:
        UsageError: the longest is out of bounds, or its feature gate is off.
    """
    gates, longest, is_given = values["feature-gates"], values[MAX_FLAG], MAX_FLAG in values.given
    usual = _REDUCED if gates.get(REDUCED_GATE, False) else RestartDelays()
    if not is_given:
        return usual
    name = "CrashLoopBackOff.MaxContainerRestartPeriod"
    if not gates.get(MAX_GATE, True):
        raise UsageError(f"invalid configuration: FeatureGate {MAX_GATE} not enabled, {name} must not be set")
    if not 1.0 <= longest <= 300.0:
        text = f"{name} (got: {longest:g} seconds) must be set between 1s and 300s"
        raise UsageError(f"invalid configuration: {text}")
    return RestartDelays(min(usual.initial, longest), longest)


class _Delay(NamedTuple):
    """The delay in force and when it was set, in seconds since the epoch."""

    seconds: float
    updated: float


class RestartBackoff:
    """The restart delays of one pod's containers, by key; used by the pod's worker only.

    A key is a container's name and the hash of its spec: a container that was changed starts without delay.
    """

    def __init__(self, delays: RestartDelays = RestartDelays()) -> None:  # noqa: B008  a value that cannot change
        self._bounds = delays
        self._delays: dict[str, _Delay] = {}

    def remaining(self, key: str, finished_at: float, now: float) -> float:
        """Return the seconds that a crashed container must still wait; 0 means that it is started now.

        Each start doubles the delay of the next one, usually from 10 s up to 5 min. The delay starts anew when the
        container ran for more than twice the longest since the delay was set.
        """
        delay = self._delays.get(key)
        if delay is not None and finished_at - delay.updated > 2 * self._bounds.longest:
            delay = None
        if delay is not None and now - finished_at < delay.seconds:
            return delay.seconds - (now - finished_at)
        seconds = self._bounds.initial if delay is None else min(self._bounds.longest, delay.seconds * 2)
        self._delays[key] = _Delay(seconds, now)
        return 0.0

    def delay(self, key: str) -> float:
        """Return the delay in force for a container that crashed before, in seconds."""
        return self._delays[key].seconds
