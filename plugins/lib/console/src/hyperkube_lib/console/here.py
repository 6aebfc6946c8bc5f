"""What every page needs of the request under way: who asks, what reads for them, and what they look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

import flask
from hyperkube_lib.console.reader import Reader, Table
from hyperkube_lib.console.sessions import Session, Sessions
from hyperkube_lib.console.upstream import Acting

from hyperkube.client.discovery import ApiResource, discover
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.groups import GroupVersionResource

Found = TypeVar("Found")
SHOWN_SECONDS = 2.0
"""For so long a page may show again what was read for the same user; a page that follows a watch reads anew."""
DISCOVERY_SECONDS = 60.0
CORE = "core"
"""How URLs call the group without a name."""


class Tokens(Protocol):
    """Makes users of bearer tokens."""

    def bearer(self, token: str) -> Acting:
        """Return the user whose token this is.

        Raises:
            UsageError: no header can carry it.
        """


class SignIn(Protocol):
    """What of the console pages need: who is signed in, and how one signs in."""

    @property
    def sessions(self) -> Sessions:
        """All sessions."""

    @property
    def upstream(self) -> Tokens:
        """The API server."""

    def cookie_name(self) -> str:
        """Return the name of the session's cookie."""

    def set_cookie(self, session: Session) -> tuple[str, str]:
        """Return the header that signs a browser in."""

    def machine_user(self, peer: tuple[str, int]) -> int | None:
        """Return the uid of who has connected from there, None where that cannot be told."""


def console() -> SignIn:
    """Return the console."""
    return cast("SignIn", flask.current_app.config["CONSOLE"])


def clock() -> Clock:
    """Return the clock."""
    return cast("Clock", flask.current_app.config["CLOCK"])


def session() -> Session:
    """Return who asks."""
    return cast("Session", flask.g.session)


def at() -> str:
    """Return the revision of the past that is looked at, empty for now."""
    given = flask.request.args.get("at", "")
    return given if given.isdecimal() else ""


def reader() -> Reader:
    """Return what reads for the user, at the time that is looked at."""
    return Reader(session().acting.client, at())


def remembered(key: object, seconds: float, read: Callable[[], Found]) -> Found:
    """Return what was read for this session, perhaps a moment ago."""
    rows, now = session().rows, clock().monotonic()
    known = rows.get(key)
    if known is not None and now - known[0] < seconds:
        return cast("Found", known[1])
    found = read()
    for old in [each for each, (when, _) in list(rows.items()) if now - when >= DISCOVERY_SECONDS]:
        rows.pop(old, None)
    rows[key] = (now, found)
    return found


def table(resource: ApiResource, namespace: str, *, fresh: bool = False) -> Table:
    """Return a resource's table."""
    asked = reader()
    key = ("table", resource.gvr, namespace, asked.at)
    return remembered(
        key,
        0.0 if fresh else SHOWN_SECONDS,
        lambda: asked.table(resource.gvr, namespace, namespaced=resource.namespaced),
    )


def resources() -> tuple[ApiResource, ...]:
    """Return what the server serves that can be listed."""
    found = remembered("discovery", DISCOVERY_SECONDS, lambda: discover(session().acting.client).resources)
    return tuple(each for each in found if "list" in each.verbs)


def resource_called(group: str, version: str, plural: str) -> ApiResource:
    """Return the resource that a URL names.

    Raises:
        NotFound: the server has none of that name.
    """
    name = "" if group == CORE else group
    for found in resources():
        if (found.gvr.group, found.gvr.version, found.gvr.resource) == (name, version, plural):
            return found
    raise NotFound(f"the server has no resource {plural!r} in {group}/{version}")


def resource_of(gvr: GroupVersionResource) -> ApiResource:
    """Return a resource that Kubernetes always has.

    Raises:
        NotFound: this server has not.
    """
    return resource_called(gvr.group or CORE, gvr.version, gvr.resource)


def namespace() -> str:
    """Return the namespace that lists are of, empty for all."""
    return flask.request.args.get("ns", "")


def is_fragment() -> bool:
    """Tell whether a script asks, to bring the page in front of it up to date."""
    return flask.request.headers.get("X-Fragment") == "1"


def page(template: str, **values: Any) -> str:
    """Return a page."""
    return flask.render_template(template, **values)
