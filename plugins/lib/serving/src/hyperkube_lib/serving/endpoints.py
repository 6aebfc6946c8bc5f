"""The endpoints that every server has beside its own: health, metrics, version, configuration, profiles, the index.

Health is answered without Flask, as the first request to a starting server asks for it. The rest is a Flask
application that is built with the first request that needs it.
"""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from hyperkube_lib.serving.exchange import Answer, HttpRequest, Response
from hyperkube_lib.serving.health import HealthChecks
from hyperkube_lib.serving.wire import plain

from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from flask import Flask
    from hyperkube_lib.serving.bridge import WsgiBridge
    from prometheus_client import CollectorRegistry

FLASK_PATHS = ("/", "/configz", "/debug", "/metrics", "/version")


class ServerEndpoints:
    """One server's endpoints: a part of a larger `Handler`, or a whole one (a health port, the scheduler, the proxy).

    `answer` and `handle` are called on worker threads, after the server has authorized the request.
    """

    def __init__(
        self,
        *,
        logger: logging.Logger | None = None,
        clock: Clock | None = None,
        metrics: Callable[[], CollectorRegistry] | None = None,
        version: Mapping[str, str] | None = None,
        configz: Mapping[str, Object | Callable[[], Object]] | None = None,
        paths: Callable[[], Iterable[str]] | None = None,
        profiling: bool = True,
        set_verbosity: Callable[[int], None] | None = None,
    ) -> None:
        """Describe a server's endpoints; what is None is not offered.

        Args:
            logger: for failing checks.
            clock: for profiles.
            metrics: makes the server's registry when ``/metrics`` is first read: its library costs a start 0.1 s.
            version: what ``/version`` says.
            configz: names of ``/configz`` with their values, or what makes them.
            paths: the server's own paths, for the index at ``/``.
            profiling: offer ``/debug/pprof``.
            set_verbosity: takes what is PUT to ``/debug/flags/v``.
        """
        self.logger = logger or logging.getLogger("hyperkube.serving")
        self.clock = clock or SystemClock()
        self.metrics = metrics and functools.cache(metrics)
        self.version = version
        self.configz = dict(configz or {})
        self.profiling = profiling
        self.set_verbosity = set_verbosity
        self.healthz = HealthChecks("healthz", self.logger)
        self.livez = HealthChecks("livez", self.logger)
        self.readyz = HealthChecks("readyz", self.logger)
        self._paths = paths
        self._lock = threading.Lock()
        self._bridge: WsgiBridge | None = None

    def add_check(self, name: str, check: Callable[[], str], *, live: bool = False) -> None:
        """Add a check to ``/healthz`` and ``/readyz``, and with `live` to ``/livez``.

        Args:
            name: as it appears in the answers, e.g. ``poststarthook/rbac/bootstrap-roles``.
            check: returns why the server is not healthy, or the empty string.
            live: its failure calls for a restart.
        """
        self.healthz.add(name, check)
        self.readyz.add(name, check)
        if live:
            self.livez.add(name, check)

    def answer(self, request: HttpRequest) -> Response | None:
        """Answer a request to one of the endpoints; None means the path is none of them."""
        for checks in (self.healthz, self.livez, self.readyz):
            answer = checks.answer(request)
            if answer is not None:
                return answer
        first = "/" + request.path.strip("/").partition("/")[0]
        if first not in FLASK_PATHS:
            return None
        return self._flask().answer(request)

    def handle(self, request: HttpRequest) -> Answer:
        """Answer from the endpoints; there is nothing else."""
        return self.answer(request) or plain(404, "404 page not found")

    def hot(self, request: HttpRequest) -> Response | None:
        """Checks may block, so nothing is answered on the loop."""
        del request
        return None

    def is_long_running(self, request: HttpRequest) -> bool:
        """Only profiles take their time."""
        return request.path.startswith("/debug/pprof/")

    def paths(self) -> list[str]:
        """Return all paths of the server, sorted, for the index."""
        paths = set(self._paths() if self._paths is not None else ())
        for checks in (self.healthz, self.livez, self.readyz):
            paths.add(f"/{checks.name}")
            paths.update(f"/{checks.name}/{name}" for name in checks.names)
        offered = {"/metrics": self.metrics, "/version": self.version, "/configz": self.configz}
        paths.update(path for path, value in offered.items() if value)
        if self.profiling:
            paths.add("/debug/pprof")
        return sorted(paths)

    def configuration(self) -> Object:
        """Return what ``/configz`` says."""
        return {name: value() if callable(value) else value for name, value in self.configz.items()}

    def _flask(self) -> WsgiBridge:
        with self._lock:
            if self._bridge is None:
                from hyperkube_lib.serving.bridge import WsgiBridge

                self._bridge = WsgiBridge(build_app(self).wsgi_app)
            return self._bridge


def build_app(endpoints: ServerEndpoints) -> Flask:
    """Return the Flask application with the endpoints that are offered."""
    import flask

    app = flask.Flask("hyperkube", static_folder=None)
    app.url_map.strict_slashes = False
    app.json.sort_keys = False  # type: ignore[attr-defined]  # of the default provider

    @app.get("/")
    def index() -> dict[str, list[str]]:
        return {"paths": endpoints.paths()}

    @app.errorhandler(404)
    def not_found(_error: Exception) -> tuple[str, int, dict[str, str]]:
        return "404 page not found\n", 404, {"Content-Type": "text/plain; charset=utf-8"}

    if endpoints.version is not None:
        app.add_url_rule("/version", "version", lambda: dict(endpoints.version or {}))
    if endpoints.configz:
        app.add_url_rule("/configz", "configz", endpoints.configuration)
    if endpoints.metrics is not None:
        made = endpoints.metrics
        app.add_url_rule("/metrics", "metrics", lambda: _metrics(made()))
    if endpoints.profiling:
        _add_profiling(app, endpoints.clock)
    if endpoints.set_verbosity is not None:
        methods = ["DELETE", "GET", "OPTIONS", "PATCH", "POST", "PUT"]
        rule = "/debug/flags/v"
        app.add_url_rule(
            rule, "verbosity", lambda: _verbosity(endpoints), methods=methods, provide_automatic_options=False
        )
    return app


def _metrics(registry: Any) -> Any:
    import flask
    from prometheus_client.exposition import choose_encoder

    encode, content_type = choose_encoder(flask.request.headers.get("Accept", ""))
    return flask.Response(encode(registry), content_type=content_type)


def _verbosity(endpoints: ServerEndpoints) -> tuple[str, int, dict[str, str]]:
    """Set the log level; source: kubernetes apiserver ``pkg/server/routes/flags.go``."""
    import flask

    plain_text = {"Content-Type": "text/plain"}
    if flask.request.method != "PUT":
        return "unsupported http method\n", 406, plain_text
    text = flask.request.get_data(as_text=True).strip()
    if not text.isdecimal() or endpoints.set_verbosity is None:
        return f"failed to set the log level: {text!r} is no number\n", 400, plain_text
    endpoints.set_verbosity(int(text))
    return f"successfully set klog.logging.verbosity to {text}\n", 200, plain_text


def _add_profiling(app: Flask, clock: Clock) -> None:
    import flask
    from hyperkube_lib.serving import profiling

    text = {"Content-Type": "text/plain; charset=utf-8"}

    @app.get("/debug/pprof", strict_slashes=True)
    def pprof_root() -> tuple[str, int, dict[str, str]]:
        html = {"Content-Type": "text/html; charset=utf-8", "Location": "/debug/pprof/"}
        return '<a href="/debug/pprof/">Found</a>.\n\n', 302, html

    @app.get("/debug/pprof/", strict_slashes=True)
    def pprof() -> tuple[str, dict[str, str]]:
        return (
            "goroutine: stacks of all threads, and tasks that wait\nprofile?seconds=N: collapsed stacks of N seconds\n",
            text,
        )

    @app.get("/debug/pprof/goroutine")
    def goroutine() -> tuple[str, dict[str, str]]:
        return f"{profiling.thread_stacks()}\n{profiling.pending_tasks()}", text

    @app.get("/debug/pprof/profile")
    def profile() -> Any:
        try:
            seconds = float(flask.request.args.get("seconds", "30"))
        except ValueError:
            return "seconds must be a number\n", 400, text
        return profiling.sample(seconds, clock), text
