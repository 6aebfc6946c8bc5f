"""Lifecycle hooks: postStart right after the start of a container, preStop before it is stopped.

Source: kubernetes ``pkg/kubelet/lifecycle/handlers.go``.
"""

from __future__ import annotations

import threading

from hyperkube_host.kubelet.probe.exec_probe import run_command

from hyperkube.hookspecs.runtime import Runtime, RuntimeFailed
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object, name_of, namespace_of
from hyperkube.machinery.release import SHORT

AGENT = f"kube-lifecycle/{SHORT}"
_HTTP_SECONDS = 30.0


class HandlerRunner:
    """Runs lifecycle hooks."""

    def __init__(self, runtime: Runtime, clock: Clock) -> None:
        self._runtime = runtime
        self._clock = clock

    def post_start(self, pod: Object, container: Object, container_id: str, address: str) -> str:
        """Run the hook if there is one; return why it failed, or the empty string."""
        hook = (container.get("lifecycle") or {}).get("postStart")
        return self._run(pod, container, container_id, hook, address, None) if hook else ""

    def pre_stop(self, pod: Object, container: Object, container_id: str, address: str, grace: float) -> str:
        """Run the hook if there is one, for at most `grace` seconds; return why it failed, or the empty string."""
        hook = (container.get("lifecycle") or {}).get("preStop")
        return self._run(pod, container, container_id, hook, address, grace) if hook and grace > 0 else ""

    def _run(
        self, pod: Object, container: Object, container_id: str, hook: Object, address: str, limit: float | None
    ) -> str:
        from hyperkube_host.kubelet.probe.http_probe import RequestFailed, request_http

        where = f'Container "{container["name"]}" in Pod "{name_of(pod)}_{namespace_of(pod)}"'
        if "exec" in hook:
            command = hook["exec"].get("command") or []
            try:
                code, output = run_command(self._runtime, self._clock, container_id, command, limit)
            except RuntimeFailed as error:
                return f"Exec lifecycle hook ({command}) for {where} failed - error: {error}"
            if code == 0:
                return ""
            text = output.decode(errors="replace")
            why = "timed out" if code is None else f"command '{' '.join(command)}' exited with {code}: {text}"
            return f'Exec lifecycle hook ({command}) for {where} failed - error: {why}, message: "{text}"'
        if "httpGet" in hook:
            seconds = _HTTP_SECONDS if limit is None else limit
            try:
                request_http(hook["httpGet"], container, address, seconds, agent=AGENT)
            except (ValueError, RequestFailed) as error:
                return f"HTTP lifecycle hook ({hook['httpGet'].get('path', '/')}) for {where} failed - error: {error}"
            return ""  # any answer will do, whatever its status
        if "sleep" in hook:
            seconds = float(hook["sleep"]["seconds"])
            self._clock.wait(threading.Event(), seconds if limit is None else min(seconds, limit))
            return ""
        return f"Invalid handler: {sorted(hook)}"
