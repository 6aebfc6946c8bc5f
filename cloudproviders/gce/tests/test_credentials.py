"""Tokens come from the machine's metadata server, or from where the file says; none is told in an error."""

from __future__ import annotations

import pytest
from hyperkube_cloud.gce.config import GceConfig
from hyperkube_cloud.gce.credentials import Tokens
from hyperkube_testing.rest_cloud import JsonHandler, serving

from hyperkube.hookspecs.cloud import CloudUnavailable
from hyperkube.machinery.clock import SystemClock


class Machine(JsonHandler):
    """A metadata server, and a service of tokens under ``/other``."""

    asked: list[str] = []  # noqa: RUF012 - one for a test

    def reply(self, body):
        self.asked.append(self.path.partition("?")[0])
        if self.command == "POST":
            assert self.headers["Authorization"].startswith("Bearer secret-")
            self._say({"accessToken": f"other-{body.decode()}", "expireTime": "2099-01-01T00:00:00+00:00"})
        elif "/token" in self.path:
            self._say({"access_token": f"secret-{len(self.asked)}", "expires_in": 3600, "token_type": "Bearer"})
        else:
            self._say({"default": {"email": "me@shop", "scopes": [], "aliases": []}, "email": "me@shop", "scopes": []})

    def _say(self, content):
        self.say(200, content, Metadata_Flavor="Google")


@pytest.fixture
def machine(monkeypatch):
    from google.auth.compute_engine import _metadata

    Machine.asked = []
    with serving(Machine) as server:
        host = f"127.0.0.1:{server.server_address[1]}"
        for name in ("GCE_METADATA_HOST", "GCE_METADATA_IP"):
            monkeypatch.setenv(name, host)
        monkeypatch.setattr(_metadata, "_METADATA_ROOT", f"http://{host}/computeMetadata/v1/", raising=False)
        monkeypatch.setattr(_metadata, "_GCE_METADATA_HOST", host, raising=False)
        yield f"http://{host}"


def test_the_machines_account_gives_a_token_that_is_kept_until_it_is_refused(machine):
    tokens = Tokens(GceConfig(), SystemClock())

    first = tokens(False)
    assert tokens(False) == first
    assert first["Authorization"].startswith("Bearer secret-")
    assert tokens(True) != first


def test_another_service_gives_the_token_for_the_body_of_the_file(machine):
    tokens = Tokens(GceConfig(token_url=f"{machine}/other", token_body="body"), SystemClock())

    assert tokens(False) == {"Authorization": "Bearer other-body"}


def test_no_token_is_a_cloud_that_is_not_there(monkeypatch):
    from google.auth.compute_engine import _metadata

    monkeypatch.setattr(_metadata, "_METADATA_ROOT", "http://127.0.0.1:1/", raising=False)
    monkeypatch.setattr(_metadata, "_GCE_METADATA_HOST", "127.0.0.1:1", raising=False)
    monkeypatch.setattr("time.sleep", lambda _seconds: None)

    with pytest.raises(CloudUnavailable, match="no token for Google's API: "):
        Tokens(GceConfig(), SystemClock())(False)
