"""Lifecycle hooks: postStart right after the start of a container, preStop before it is stopped.

Source: kubernetes ``pkg/kubelet/lifecycle/handlers.go``.
"""

from __future__ import annotations

import threading

from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.probe.exec_probe import run_command

from hyperkube.hookspecs.runtime import ExecsSync, Runtime, RuntimeFailed
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object, name_of, namespace_of
from hyperkube.machinery.release import SHORT

AGENT = f"kube-lifecycle/{SHORT}"
_HTTP_SECONDS = 30.0


class HandlerRunner:
    """Runs lifecycle hooks."""

    def __init__(self, runtime: Runtime, clock: Clock, recorder: KubeletEventRecorder) -> None:
        self._runtime = runtime
        self._clock = clock
        self._recorder = recorder
        self._lock = threading.Lock()
        self.http_fallbacks = 0
        """How many hooks asked with HTTP what did not speak HTTPS."""

    def post_start(self, pod: Object, container: Object, container_id: str, address: str) -> str:
        """Run the hook if there is one; return why it failed, or the empty string."""
        hook = (container.get("lifecycle") or {}).get("postStart")
        return self._run(pod, container, container_id, hook, address, None) if hook else ""

    def pre_stop(self, pod: Object, container: Object, container_id: str, address: str, grace: float) -> str:
        """Run the hook, for at most `grace` seconds; return why it failed, or the empty string.

        A command that a runtime runs to its end may take longer: it ends with its container.
        """
        return self._run(pod, container, container_id, container["lifecycle"]["preStop"], address, grace)

    def _run(
        self, pod: Object, container: Object, container_id: str, hook: Object, address: str, limit: float | None
    ) -> str:
        where = f'Container "{container["name"]}" in Pod "{name_of(pod)}_{namespace_of(pod)}"'
        if "exec" in hook:
            command = hook["exec"].get("command") or []
            bound = None if isinstance(self._runtime, ExecsSync) else limit
            try:
                code, output = run_command(self._runtime, self._clock, container_id, command, bound)
            except RuntimeFailed as error:
                return f"Exec lifecycle hook ({command}) for {where} failed - error: {error}"
            if code == 0:
                return ""
            text = output.decode(errors="replace")
            why = "timed out" if code is None else f"command '{' '.join(command)}' exited with {code}: {text}"
            return f'Exec lifecycle hook ({command}) for {where} failed - error: {why}, message: "{text}"'
        if "httpGet" in hook:
            seconds = _HTTP_SECONDS if limit is None else limit
            problem = self._request(pod, container, hook["httpGet"], address, seconds)
            path = hook["httpGet"].get("path", "/")
            return f"HTTP lifecycle hook ({path}) for {where} failed - error: {problem}" if problem else ""
        if "sleep" in hook:
            seconds = float(hook["sleep"]["seconds"])
            self._clock.wait(threading.Event(), seconds if limit is None else min(seconds, limit))
            return ""
        return f"Invalid handler: {sorted(hook)}"

    def _request(self, pod: Object, container: Object, action: Object, address: str, seconds: float) -> str:
        """Send a request; return why there was no answer, or the empty string: any will do, whatever its status.

        Hooks with the scheme HTTPS were once sent with HTTP, so a server that does not speak TLS gets it that way.
        """
        from hyperkube_host.kubelet.probe.dial_errors import place
        from hyperkube_host.kubelet.probe.http_probe import RequestFailed, request_http
        from hyperkube_host.kubelet.probe.ports import port_number

        try:
            request_http(action, container, address, seconds, agent=AGENT)
        except ValueError as error:
            return str(error)
        except RequestFailed as error:
            if not error.is_scheme_mismatch:
                return str(error)
            headers = [one for one in action.get("httpHeaders") or () if one["name"].lower() != "authorization"]
            try:
                plain = {**action, "scheme": "HTTP", "httpHeaders": headers}
                request_http(plain, container, address, seconds, agent=AGENT)
            except RequestFailed:
                return str(error)
            where = place(action.get("host") or address, port_number(action["port"], container))
            text = f"request to HTTPS lifecycle hook {where} got HTTP response, retry with HTTP succeeded"
            self._recorder.pod_event(pod, "Warning", "LifecycleHTTPFallback", text)
            with self._lock:
                self.http_fallbacks += 1
        return ""
