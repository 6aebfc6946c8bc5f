"""The routes of the kubelet's API.

Source: kubernetes ``pkg/kubelet/server/server.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from hyperkube_host.kubelet.container.pod_status import get_pod_status
from hyperkube_host.kubelet.probe.exec_probe import run_command
from hyperkube_host.kubelet.server.auth import KubeletAuth
from hyperkube_host.kubelet.server.metrics_pages import METRICS_PATHS, MetricsPages
from hyperkube_host.kubelet.server.server_context import ServerContext
from hyperkube_host.kubelet.types.pod_spec import all_containers_of
from hyperkube_host.kubelet.types.pod_status import reported_container_statuses
from hyperkube_lib.serving.exchange import (
    Answer,
    ExecUpgrade,
    HttpRequest,
    PortForwardUpgrade,
    Response,
    StreamResponse,
)
from hyperkube_lib.serving.zpages import Zpages

from hyperkube.client.client import Client
from hyperkube.hookspecs.runtime import (
    ContainerNotFound,
    ContainerState,
    ContainerStatus,
    RuntimeFailed,
    StreamsByUrl,
)
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, BadRequest, InternalError, MethodNotAllowed, NotFound
from hyperkube.machinery.intstr import parse_int
from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of

if TYPE_CHECKING:
    from hyperkube_host.kubelet.logs.log_reader import LogOptions

PATHS = ("/configz", "/healthz", "/metrics", "/pods", "/runningpods", "/stats")
"""What ``/statusz`` lists."""
_LONG = ("/exec/", "/attach/", "/portForward/", "/containerLogs/", "/run/")
_RUN_SECONDS = 120.0
_READ, _WRITE, _STREAM = frozenset({"GET"}), frozenset({"POST"}), frozenset({"GET", "POST"})
_METHODS = {
    "pods": _READ, "runningpods": _READ, "stats": _READ, "logs": _READ, "containerLogs": _READ, "configz": _READ,
    "exec": _STREAM, "attach": _STREAM, "portForward": _STREAM, "run": _WRITE, "checkpoint": _WRITE,
}  # fmt: skip
"""With which methods routes answer; those that are not listed answer to all."""
Query = Mapping[str, Sequence[str]]


def _first(query: Query, *names: str) -> str:
    return next((query[name][0] for name in names if query.get(name)), "")


def _flag(query: Query, *names: str) -> bool:
    return _first(query, *names).lower() in {"1", "true", "t"}


def _text(body: str, kind: str = "text/plain; charset=utf-8", status: int = 200) -> Response:
    return Response(status=status, headers=[("Content-Type", kind)], body=body.encode())


def _json(body: Object) -> Response:
    return Response(headers=[("Content-Type", "application/json")], body=orjson.dumps(body))


class KubeletHandler:
    """Answers requests to the kubelet; see `hyperkube_lib.serving.exchange.Handler`."""

    def __init__(self, context: ServerContext, client: Client | None, clock: Clock) -> None:
        self._context = context
        options = context.options
        self._clock = clock
        self._runtime = context.runtime
        self._access = KubeletAuth(context.options, client, clock)
        self._metrics = MetricsPages(context, clock)
        self._logger = logging.getLogger("hyperkube.kubelet")
        self._zpages = Zpages("kubelet", clock, options.flagz, lambda: PATHS, options.server.gates)

    def hot(self, request: HttpRequest) -> Response | None:
        """Leave everything to `handle`."""
        return None

    def is_long_running(self, request: HttpRequest) -> bool:
        """Tell whether the request may stay open."""
        return request.path.startswith(_LONG)

    def handle(self, request: HttpRequest) -> Answer:
        """Answer one request; a refusal is its text, as the kubelet's clients expect."""
        try:
            self._access.check(request)
            return self._route(request)
        except ApiError as error:
            return _text(error.message, status=error.status_code)
        except ContainerNotFound as error:
            return _text(str(error), status=404)
        except RuntimeFailed as error:
            return _text(str(error), status=500)
        except Exception as error:
            self._logger.exception("%s %s failed", request.method, request.path)
            return _text(InternalError.because(error).message, status=500)

    def _route(self, request: HttpRequest) -> Answer:
        parts = [part for part in request.path.split("/") if part]
        head = parts[0] if parts else ""
        if request.method not in _METHODS.get(head, (request.method,)):
            raise MethodNotAllowed("405: Method Not Allowed")
        query = request.query()
        page = self._zpages.answer(request) or self.page(request.path.rstrip("/"))
        if page is not None:
            return page
        if head == "logs":
            from hyperkube_host.kubelet.server.node_logs import node_logs

            return node_logs(self._context.logs, parts[1:])
        if not self._context.options.server.debugging_handlers:
            raise MethodNotAllowed("Debug endpoints are disabled.")
        return self._debugging(head, parts, query)

    def _debugging(self, head: str, parts: Sequence[str], query: Query) -> Answer:
        """Answer a route about one pod, whose path begins with `head`."""
        from hyperkube_lib.serving.container_streams import serve_ports

        if head == "containerLogs" and len(parts) == 4:
            return self._container_logs(parts[1], parts[2], parts[3], query)
        if head in {"exec", "attach", "run"} and len(parts) in {4, 5}:
            return self._process(head, parts[1], parts[2], parts[-1], query)
        if head == "checkpoint" and len(parts) == 4:
            return self._checkpoint(parts[1], parts[2], parts[3], query)
        if head == "portForward" and len(parts) in {3, 4}:
            sandbox = get_pod_status(self._runtime, uid_of(self._pod(parts[1], parts[2]))).ready_sandbox
            if sandbox is None:
                raise NotFound(f"not able to find pod sandbox of {parts[2]!r}")
            if isinstance(self._runtime, StreamsByUrl):
                from hyperkube_host.kubelet.server.stream_urls import relay_to_url

                ports = [port for text in query.get("port", ()) if (port := parse_int(text)) is not None]
                return relay_to_url(self._runtime.port_forward_url(sandbox.id, ports))
            return PortForwardUpgrade(serve=serve_ports(self._runtime, sandbox.id))
        raise NotFound("404 page not found")

    def _checkpoint(self, namespace: str, pod_name: str, name: str, query: Query) -> Response:
        from hyperkube_host.kubelet.server.checkpoint import checkpoint_container, timeout_of

        pod, timeout = self._pod(namespace, pod_name), timeout_of(query)
        status = self._running(pod, name)
        root = self._context.options.pods.root
        return _json(checkpoint_container(self._runtime, root, self._clock, pod, name, status.id, timeout))

    def page(self, path: str) -> Response | None:
        """Answer a route without parameters, without authorization; None where there is none."""
        if path in {"/healthz", "/healthz/ping", "/healthz/syncloop", "/healthz/log"}:
            return _text("ok")
        if path == "/pods":
            return _json(_pod_list(entry.view() for entry in self._context.pods.entries()))
        if path == "/runningpods":
            running = (
                e.view() for e in self._context.pods.entries() if get_pod_status(self._runtime, uid_of(e.pod)).running()
            )
            return _json(_pod_list(running))
        if path in {"/stats", "/stats/summary"}:
            return _json(self._context.summary.summary())
        if path in METRICS_PATHS:
            return _text(self._metrics.page(path), "text/plain; version=0.0.4; charset=utf-8")
        if path == "/configz":
            from hyperkube_host.kubelet.server.configz import configuration

            return _json({"kubeletconfig": configuration(self._context.options)})
        return None

    def _pod(self, namespace: str, name: str) -> Object:
        for entry in self._context.pods.entries():
            if name_of(entry.pod) == name and namespace_of(entry.pod) == namespace:
                return entry.pod
        raise NotFound(f'pod "{name}" does not exist')

    def _container(self, pod: Object, name: str) -> Object:
        for container in all_containers_of(pod):
            if container["name"] == name:
                return container
        raise NotFound(f'container "{name}" not found in pod "{name_of(pod)}"')

    def _statuses(self, pod: Object, name: str) -> tuple[ContainerStatus, ...]:
        return get_pod_status(self._runtime, uid_of(pod)).containers.get(name, ())

    def _running(self, pod: Object, name: str) -> ContainerStatus:
        self._container(pod, name)
        found = self._statuses(pod, name)
        if not found or found[0].state != ContainerState.RUNNING:
            raise NotFound(f'container not found ("{name}")')
        return found[0]

    # logs

    def _container_logs(self, namespace: str, pod_name: str, name: str, query: Query) -> Answer:
        from hyperkube_host.kubelet.logs.log_reader import LogReader
        from hyperkube_host.kubelet.server.container_log import LogSource

        pod = self._pod(namespace, pod_name)
        self._container(pod, name)
        found = self._statuses(pod, name)
        if _flag(query, "previous"):
            if len(found) < 2:
                raise BadRequest(f'previous terminated container "{name}" in pod "{pod_name}" not found')
            status = found[1]
        elif found and found[0].state != ContainerState.CREATED:
            status = found[0]
        else:
            raise BadRequest(
                f'container "{name}" in pod "{pod_name}" is waiting to start: {self._waiting_reason(pod, name)}'
            )
        if not status.log_path:
            return _text(f"{name} is simulated: it has no output\n")
        options = log_options(query, self._clock.now())
        try:
            reader = LogReader(Path(status.log_path), options)
        except FileNotFoundError as error:
            raise NotFound(f"the log of container {name!r} is gone") from error
        source = LogSource(reader, self._clock, lambda: self._is_running(status.id), follow=options.follow)
        return StreamResponse(headers=[("Content-Type", "text/plain")], source=source)

    def _is_running(self, container_id: str) -> bool:
        try:
            return self._runtime.container(container_id).state == ContainerState.RUNNING
        except ContainerNotFound:
            return False

    def _waiting_reason(self, pod: Object, name: str) -> str:
        entry = self._context.pods.get(uid_of(pod))
        status = (entry.view().get("status") or {}) if entry is not None else {}
        for known in reported_container_statuses(status):
            if known["name"] == name and "waiting" in known["state"]:
                waiting: Object = known["state"]["waiting"]
                reason = str(waiting.get("reason", ""))
                failing = reason in {"ErrImagePull", "ImagePullBackOff"}
                return "trying and failing to pull image" if failing else reason
        return "ContainerCreating"

    # streams

    def _process(self, what: str, namespace: str, pod_name: str, name: str, query: Query) -> Answer:
        from hyperkube_lib.serving.container_streams import serve_process

        status = self._running(self._pod(namespace, pod_name), name)
        stdin, tty = _flag(query, "input", "stdin"), _flag(query, "tty")
        command = list(query.get("command", ()))
        if what == "run":
            return self._run(status, _first(query, "cmd").split() or command)
        if what == "exec" and not command:
            raise BadRequest("you must specify at least 1 of stdin, stdout, stderr, and a command")
        stdout, stderr = _flag(query, "output", "stdout"), _flag(query, "error", "stderr") and not tty
        if not (stdin or stdout or stderr):
            raise BadRequest("you must specify at least 1 of stdin, stdout, stderr")
        if isinstance(self._runtime, StreamsByUrl):
            from hyperkube_host.kubelet.server.stream_urls import relay_to_url

            streams = {"stdin": stdin, "stdout": stdout, "stderr": stderr, "tty": tty}
            if what == "exec":
                return relay_to_url(self._runtime.exec_url(status.id, command, **streams))
            return relay_to_url(self._runtime.attach_url(status.id, **streams))
        if what == "exec":
            serve = serve_process(lambda: self._runtime.exec(status.id, command, stdin=stdin, tty=tty), tells_exit=True)
        else:
            serve = serve_process(lambda: self._runtime.attach(status.id, stdin=stdin), tells_exit=False)
        return ExecUpgrade(serve=serve, tty=tty, stdin=stdin, stdout=stdout, stderr=stderr)

    def _run(self, status: ContainerStatus, command: Sequence[str]) -> Response:
        if not command:
            raise BadRequest("cmd is empty")
        code, output = run_command(self._runtime, self._clock, status.id, command, _RUN_SECONDS)
        text = output.decode(errors="replace")
        if code == 0:
            return _text(text)
        why = "timed out" if code is None else f"exited with {code}"
        return _text(f"command '{' '.join(command)}' {why}: {text}", status=500)


def log_options(query: Query, now: datetime) -> LogOptions:
    """Return what the query asks of a log.

    Raises:
        BadRequest: a value that cannot be.
    """
    from hyperkube_host.kubelet.logs.log_reader import LogOptions, parse_since, since_seconds

    try:
        tail, limit = _first(query, "tailLines", "tail"), _first(query, "limitBytes")
        seconds, time = _first(query, "sinceSeconds"), _first(query, "sinceTime")
        since = since_seconds(float(seconds), now) if seconds else parse_since(time) if time else None
        return LogOptions(
            follow=_flag(query, "follow"),
            timestamps=_flag(query, "timestamps"),
            tail_lines=int(tail) if tail and tail != "all" else None,
            since=since,
            limit_bytes=int(limit) if limit else None,
            stream={"Stdout": "stdout", "Stderr": "stderr"}.get(_first(query, "stream"), ""),
        )
    except ValueError as error:
        raise BadRequest(f"Unable to decode query: {error}") from error


def _pod_list(pods: Iterable[Object]) -> Object:
    return {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": list(pods)}
