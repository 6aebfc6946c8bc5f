"""The Flask application: sign-in, what holds for every page, and the pages."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import flask
from hyperkube_lib.console import here
from hyperkube_lib.console.pages import access, nodes, objects, overview, pod, simulation, tables, timeline, writes
from hyperkube_lib.console.reader import Reader
from hyperkube_lib.console.table_view import tone

from hyperkube.client.client import Client
from hyperkube.client.discovery import ApiResource
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, HyperkubeError, UsageError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.times import TimeError, human_duration, parse_time

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

SELF_REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
PUBLIC = frozenset(("sign_in", "take_token", "welcome"))
"""Endpoints for those who have not signed in."""
_MOST_BODY = 4 << 20
_FIRST_PAGE = ("base.html", "macros.html", "overview.html")
"""Templates that are compiled at once: a browser that has signed in asks for them next."""
_FOLDER = Path(__file__).parent


def build_app(console: here.SignIn, clock: Clock) -> flask.Flask:
    """Return the application of one console."""
    app = flask.Flask("hyperkube-console", root_path=str(_FOLDER), static_folder=None)
    app.config.update(CONSOLE=console, CLOCK=clock, MAX_CONTENT_LENGTH=_MOST_BODY)
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.auto_reload = False
    app.before_request(_check)
    app.after_request(_uncached)
    app.context_processor(_shown_everywhere)
    app.url_defaults(_same_time)
    app.add_template_filter(_age, "age")
    app.add_template_filter(_group, "group")
    app.add_template_filter(plural_of, "plural")
    app.add_template_global(tone, "tone")
    app.register_error_handler(ApiError, _api_error)
    app.register_error_handler(UsageError, _usage_error)
    app.register_error_handler(OSError, _no_server)
    app.register_error_handler(404, lambda _error: (here.page("error.html", status=404, text="no such page"), 404))
    app.add_url_rule("/sign-in", "sign_in", _sign_in)
    app.add_url_rule("/sign-in", "take_token", _take_token, methods=["POST"])
    app.add_url_rule("/welcome", "welcome", lambda: here.page("welcome.html"))
    app.add_url_rule("/sign-out", "sign_out", _sign_out, methods=["POST"])
    for name in _FIRST_PAGE:
        app.jinja_env.get_template(name)
    for module in (access, nodes, objects, overview, pod, simulation, tables, timeline, writes):
        module.register(app)
    return app


def _check() -> ResponseReturnValue | None:
    """Let in who has signed in, and changes that come from the console's own pages."""
    console = here.console()
    found = console.sessions.find(flask.request.cookies.get(console.cookie_name(), ""), _machine_user())
    flask.g.session = found
    if flask.request.endpoint in PUBLIC:
        return None
    if found is None:
        return flask.redirect("/sign-in", 303) if not here.is_fragment() else ("signed out", 401)
    if flask.request.method not in {"GET", "HEAD"}:
        given = flask.request.form.get("csrf", "") or flask.request.headers.get("X-CSRF-Token", "")
        if not hmac.compare_digest(given.encode(), found.csrf.encode()):
            return here.page(
                "error.html", status=403, text="this form is too old: go back and load the page again"
            ), 403
    return None


def _machine_user() -> int | None:
    environ = flask.request.environ
    return here.console().machine_user((environ.get("REMOTE_ADDR", ""), int(environ.get("REMOTE_PORT") or 0)))


def _uncached(response: flask.Response) -> flask.Response:
    response.headers["Cache-Control"] = "no-store"
    return response


def _shown_everywhere() -> dict[str, Any]:
    """Return what the frame of every page shows."""
    found = flask.g.get("session")
    if found is None:
        return {"csrf": "", "user": "", "at": "", "path": flask.request.path}
    try:
        user = here.remembered("user", here.DISCOVERY_SECONDS, lambda: who_is(found.acting.client)["username"])
    except (HyperkubeError, OSError):
        user = ""
    return {"csrf": found.csrf, "user": user, "at": here.at(), "path": flask.request.path}


def _same_time(_endpoint: str, values: dict[str, Any]) -> None:
    """Let links stay at the revision that is looked at."""
    if flask.has_request_context() and here.at() and "at" not in values:
        values["at"] = here.at()


def who_is(client: Client) -> Mapping[str, Any]:
    """Return the user info that the API server has of a client.

    Raises:
        ApiError: it does not believe the client.
    """
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    found: Mapping[str, Any] = Reader(client).ask(SELF_REVIEW, review)["status"]["userInfo"]
    return found


def _sign_in() -> ResponseReturnValue:
    return here.page("sign_in.html", used="used" in flask.request.args, wrong="")


def _take_token() -> ResponseReturnValue:
    console, token = here.console(), flask.request.form.get("token", "").strip()
    try:
        acting = console.upstream.bearer(token)
        who_is(acting.client)
    except (HyperkubeError, OSError) as error:
        wrong = f"the API server does not take it: {error}"
        return here.page("sign_in.html", used=False, wrong=wrong), 401
    answer = flask.redirect("/", 303)
    answer.headers.add(*console.set_cookie(console.sessions.open(acting, _machine_user())))
    return answer


def _sign_out() -> ResponseReturnValue:
    console = here.console()
    console.sessions.close(here.session().key)
    answer = flask.redirect("/sign-in", 303)
    answer.delete_cookie(console.cookie_name(), path="/", httponly=True, samesite="Strict")
    return answer


def _api_error(error: ApiError) -> ResponseReturnValue:
    status = int(error.status().get("code") or 500)
    return here.page("error.html", status=status, text=error.message), status


def _usage_error(error: UsageError) -> ResponseReturnValue:
    return here.page("error.html", status=400, text=str(error)), 400


def _no_server(error: OSError) -> ResponseReturnValue:
    return here.page("error.html", status=502, text=f"the API server does not answer: {error}"), 502


def _age(moment: str | None) -> str:
    """Return how long ago a timestamp was, as kubectl says it."""
    if not moment:
        return "-"
    try:
        return human_duration(here.clock().now() - parse_time(moment.split(".")[0].rstrip("Z") + "Z"))
    except TimeError:
        return moment


def plural_of(resource: ApiResource) -> str:
    """Return how headings call a resource's objects: its kind, with the ending of its plural."""
    kind, plural = resource.kind, resource.gvr.resource
    if plural == kind.lower():
        return kind
    return f"{kind[:-1]}ies" if plural.endswith("ies") else kind + plural[len(kind) :]


def _group(gvr: GroupVersionResource) -> str:
    """Return how URLs call a resource's group."""
    return gvr.group or here.CORE
