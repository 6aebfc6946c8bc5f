"""A console in front of the in-memory twin of the API server, asked without sockets."""

import orjson
import pytest
from hyperkube_lib.console.application import SELF_REVIEW, build_app
from hyperkube_lib.console.sessions import Sessions

from hyperkube.client.client import RawResponse
from hyperkube.client.fake import FakeClient
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import UsageError

OK = 200


def answer(body, status=OK):
    return RawResponse(status, {}, orjson.dumps(body))


def discovery(*rows):
    """Rows are group, version, plural, kind, namespaced."""
    groups = {}
    for group, version, plural, kind, namespaced in rows:
        entry = {"resource": plural, "responseKind": {"kind": kind}, "verbs": ["list", "get", "watch"]}
        groups.setdefault(group, {}).setdefault(version, []).append(
            {**entry, "scope": "Namespaced" if namespaced else "Cluster"}
        )
    return {
        "kind": "APIGroupDiscoveryList",
        "items": [
            {
                "metadata": {"name": group},
                "versions": [{"version": version, "resources": rows} for version, rows in versions.items()],
            }
            for group, versions in groups.items()
        ],
    }


def table(columns, *rows, namespace="", more=""):
    """Return a table whose rows say their namespace, where one is given; `more` says that there are others."""
    definitions = [{"name": name, "priority": 0, "format": "name" if name == "Name" else ""} for name in columns]
    return {
        "kind": "Table",
        "metadata": {"resourceVersion": "7", "continue": more},
        "columnDefinitions": definitions,
        "rows": [{"cells": list(row), "object": {"metadata": {"namespace": namespace}}} for row in rows],
    }


class Acting:
    """A user of the twin."""

    def __init__(self, client):
        self.client = client

    def relay(self, path, security_headers):
        raise AssertionError(path)

    def config(self):
        return {}


class Tokens:
    """The upstream, which knows one token."""

    def __init__(self, client):
        self._client = client

    def owner(self):
        return Acting(self._client)

    def bearer(self, token):
        if token != "good":
            raise UsageError("unknown token")
        return Acting(self._client)


class StubConsole:
    def __init__(self, client, clock):
        self.sessions = Sessions(clock)
        self.users = {}
        self.upstream = Tokens(client)

    def cookie_name(self):
        return "console"

    def machine_user(self, peer):
        return self.users.get(peer)

    def set_cookie(self, session):
        return "Set-Cookie", f"console={session.key}; Path=/; HttpOnly; SameSite=Strict"


class Browser:
    """Flask's test client, signed in as the owner."""

    def __init__(self):
        self.clock = FakeClock()
        self.twin = FakeClient(self.clock)
        self.console = StubConsole(self.twin, self.clock)
        self.client = build_app(self.console, self.clock).test_client()
        self.session = self.console.sessions.open(Acting(self.twin), None)
        self.client.set_cookie("console", self.session.key)
        self.says("/api", discovery(("", "v1", "pods", "Pod", True), ("", "v1", "nodes", "Node", False),
                                    ("", "v1", "namespaces", "Namespace", False),
                                    ("", "v1", "events", "Event", True)))  # fmt: skip
        self.says("/apis", discovery(("apps", "v1", "deployments", "Deployment", True)))
        self.says(SELF_REVIEW, {"status": {"userInfo": {"username": "ada"}}}, method="POST")

    def says(self, path, body, status=OK, method="GET"):
        """Have the API server answer raw requests."""
        self.twin.answer(method, path, lambda _body: answer(body, status))

    def prints(self, path, columns, *rows, **more):
        """Have the API server print a table."""
        self.says(path, table(columns, *rows, **more))

    def get(self, path, **more):
        return self.client.get(path, **more)

    def post(self, path, **form):
        return self.client.post(path, data={"csrf": self.session.csrf, **form})


@pytest.fixture
def browser():
    return Browser()
