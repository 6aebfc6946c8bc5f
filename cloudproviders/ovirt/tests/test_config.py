"""The file of ``--cloud-config`` as Kubernetes' provider reads it, and the engine's single sign-on."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from hyperkube_cloud.ovirt import OVirt
from hyperkube_cloud.ovirt.config import OVirtConfig, read_config
from hyperkube_cloud.ovirt.engine import Tokens
from hyperkube_lib.cloud_provider.rest import HttpSend
from hyperkube_testing.rest_cloud import JsonHandler, serving
from ovirt_engine import provider

from hyperkube.hookspecs.cloud import CloudUnavailable
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext

FULL = """
[connection]
uri = https://localhost:8443/ovirt-engine/api/
password = "secret-of-the-test"
ca-file = /etc/engine-ca.pem
[filters]
vms = tag=kubernetes
"""


def written(tmp_path, text):
    path = tmp_path / "cloud.conf"
    path.write_text(text)
    return str(path)


def test_it_is_read_and_shows_no_secret(tmp_path):
    config = read_config(written(tmp_path, FULL))

    assert (config.uri, config.username) == ("https://localhost:8443/ovirt-engine/api", "admin@internal")
    assert (config.vms, config.ca_file) == ("tag=kubernetes", "/etc/engine-ca.pem")
    assert "secret" not in repr(config)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"\[connection\] uri is missing"),
        ("[connection]\nuri = engine\n", "uri is no URL such as https://"),
        ("[connection]\nurl = x\n", "unknown key 'url'"),
        ("[conection]\n", r"unknown section \[conection\]"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_file(tmp_path, text, message):
    with pytest.raises(UsageError, match=f"--cloud-config=.*cloud.conf.*{message}"):
        read_config(written(tmp_path, text))


def test_without_a_file_there_is_no_engine():
    with pytest.raises(UsageError, match="--cloud-config is missing"):
        read_config("")


class SingleSignOn(JsonHandler):
    """An engine: gives a token to one password, and an empty list to the newest token."""

    def reply(self, body):
        if self.path.startswith("/ovirt-engine/api/vms"):
            self.server.seen.append(self.headers["Authorization"])
            is_known = self.headers["Authorization"] == f"Bearer token-{self.server.tokens}"
            self.send_response(200 if is_known else 401)
            self.send_header("Content-Length", "6")
            self.end_headers()
            self.wfile.write(b"<vms/>")
            return
        form = {key: value for key, (value,) in parse_qs(body.decode()).items()}
        assert self.path == "/ovirt-engine/sso/oauth/token"
        assert (form["grant_type"], form["scope"]) == ("password", "ovirt-app-api")
        if form["password"] != "secret-of-the-test":
            self.say(400, {"error_code": "access_denied", "error": "Cannot authenticate user: secret-of-another"})
            return
        self.server.tokens += 1
        self.say(200, {"access_token": f"token-{self.server.tokens}", "scope": form["scope"], "token_type": "bearer"})


@pytest.fixture
def engine():
    with serving(SingleSignOn) as server:
        server.tokens, server.seen = 0, []
        yield server


def uri(server):
    return f"http://127.0.0.1:{server.server_address[1]}/ovirt-engine/api"


def test_a_token_is_kept_until_the_engine_refuses_it(engine, tmp_path):
    text = f"[connection]\nuri = {uri(engine)}\npassword = secret-of-the-test\n"
    plugin = OVirt(PluginContext(name="ovirt", settings={"cloud_config": written(tmp_path, text)}))
    instances, node = provider(plugin).instances, {"metadata": {"name": "n"}}

    assert not instances.exists(node)
    assert not instances.exists(node)
    engine.tokens = 7
    assert not instances.exists(node)

    assert engine.seen == ["Bearer token-1", "Bearer token-1", "Bearer token-1", "Bearer token-8"]
    plugin.close()


def test_an_engine_that_refuses_the_user_is_told_without_a_secret(engine):
    send = HttpSend(lambda _renew: {})

    with pytest.raises(CloudUnavailable, match=r"^the engine gives no token: 400 access_denied$"):
        Tokens(send, OVirtConfig(uri=uri(engine), password="wrong-of-the-test")).headers(False)
    send.close()


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"<html>", b'{"access_token": 5}', b'{"access_token": "a\\nb"}', b"[" * 100_000]
)
def test_what_is_no_token_is_none(body):
    from hyperkube_testing.rest_cloud import answer

    with pytest.raises(CloudUnavailable, match=r"^the engine gives no token: 200$"):
        Tokens(lambda _request: answer(200, body), OVirtConfig(uri="https://engine.example/api")).headers(False)
