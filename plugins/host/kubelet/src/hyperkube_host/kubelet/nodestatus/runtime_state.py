"""Whether the runtime and the pods' network are up, as of the last time the runtime was asked.

Source: kubernetes ``pkg/kubelet/runtime.go`` (runtimeState), ``pkg/kubelet/kubelet.go`` (updateRuntimeUp).
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from hyperkube.hookspecs.network import Network
from hyperkube.hookspecs.runtime import Runtime, RuntimeFailed, RuntimeStatus
from hyperkube.machinery.clock import Clock

DOWN_SECONDS = 30.0
"""The time without an answer after which the runtime counts as down."""


class RuntimeState:
    """Asks the runtime for its status, and remembers the answer for those who need it often."""

    def __init__(
        self,
        runtime: Runtime,
        network: Network | None,
        clock: Clock,
        pleg_unhealthy: Callable[[], str],
        shutdown: Callable[[], str] = lambda: "",
    ) -> None:
        """Take what is asked.

        `pleg_unhealthy` returns why relisting is not healthy, `shutdown` why the node stops working, or the empty
        string.
        """
        self._shutdown = shutdown
        self._runtime = runtime
        self._network = network
        self._clock = clock
        self._pleg_unhealthy = pleg_unhealthy
        self._status: RuntimeStatus | None = None
        self._answered_at: float | None = None
        self._logger = logging.getLogger("hyperkube.kubelet")

    def refresh(self) -> None:
        """Ask the runtime."""
        try:
            self._status = self._runtime.status()
        except RuntimeFailed as error:
            self._logger.warning("container runtime sanity check failed: %s", error)
            return
        if not self._status.runtime_problem:
            self._answered_at = self._clock.monotonic()

    @property
    def status(self) -> RuntimeStatus:
        """The last answer; the runtime is asked if there is none."""
        if self._status is None:
            self.refresh()
        return self._status or RuntimeStatus()

    def problems(self) -> list[str]:
        """Return why the node cannot run pods; empty when it can."""
        problems = []
        if self._answered_at is None:
            problems.append("container runtime status check may not have completed yet")
        elif self._clock.monotonic() - self._answered_at >= DOWN_SECONDS:
            problems.append("container runtime is down")
        unhealthy = self._pleg_unhealthy()
        if unhealthy:
            problems.append(f"PLEG is not healthy: {unhealthy}")
        if self._status is not None and self._status.runtime_problem:
            problems.append(f"container runtime not ready: {self._status.runtime_problem}")
        return [problem for problem in (*problems, self.network_problem(), self._shutdown()) if problem]

    def network_problem(self) -> str:
        """Return why pods get no network, or the empty string."""
        problem = self.status.network_problem or (self._network.status() if self._network is not None else "")
        return f"container runtime network not ready: {problem}" if problem else ""

    def supports_recursive_read_only(self, handler: str) -> bool:
        """Tell whether read-only mounts of a runtime handler can be so all the way down."""
        found = next((one for one in self.status.handlers if one.get("name", "") == handler), {})
        return bool((found.get("features") or {}).get("recursive_read_only_mounts"))
