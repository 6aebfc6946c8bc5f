"""Real peers that tell identities: a front proxy before two API servers, and an OpenID issuer whose keys change."""

from __future__ import annotations

import http.client
import itertools
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hyperkube_authn.oidc import keys
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.certificates import issue, make_ca, self_signed
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.tls import TlsFiles
from hyperkube_testing.peers.openid_issuer import OpenIdIssuer
from hyperkube_testing.peers.peer import Peer

from hyperkube.machinery.clock import SystemClock
from hyperkube.storage.memory import MemoryStore

MAPS = "/api/v1/namespaces/default/configmaps"
WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


class Served:
    """An API server behind a TLS listener of its own."""

    def __init__(self, folder, name, store, **options):
        self.server = ApiServer(options={"authorization-mode": ["RBAC"], **options}, store=store)
        self.server.start()
        pair = self_signed(name, dns=["localhost"], ips=["127.0.0.1"])
        pair.write(folder / f"{name}.crt", folder / f"{name}.key")
        files = TlsFiles(
            cert_file=str(folder / f"{name}.crt"),
            key_file=str(folder / f"{name}.key"),
            client_ca_file=options.get("client-ca-file", ""),
            request_header_ca_file=options.get("requestheader-client-ca-file", ""),
        )
        self.edge = Edge(self.server.handler, host="127.0.0.1", tls=files)
        self.edge.start()
        self.ca_file = str(folder / f"{name}.crt")

    def ask(self, method, path, body=None, *, token="", cert=None, headers=None):
        """Return status and document of an answer."""
        context = ssl.create_default_context(cafile=self.ca_file)
        if cert is not None:
            context.load_cert_chain(*cert)
        connection = http.client.HTTPSConnection("127.0.0.1", self.edge.port, context=context, timeout=20)
        headers = {"Content-Type": "application/json", **(headers or {})}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()

    def who(self, **credentials):
        """Return the user that the server sees, or the status of its refusal."""
        status, found = self.ask("POST", WHO, {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"},
                                 **credentials)  # fmt: skip
        return found["status"]["userInfo"] if status == 201 else status

    def close(self):
        self.edge.close(0)
        self.server.close()


class FrontProxy:
    """Knows its users by a header of its own, and passes requests on to the servers in turn, with its certificate."""

    def __init__(self, servers, cert):
        turns = itertools.cycle(servers)
        self.passed = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(handler):  # noqa: N805  `self` is the proxy
                self._pass_on(handler, next(turns), cert)

            do_POST = do_GET  # noqa: N815  the name that the standard library looks for

            def log_message(handler, *_words):  # noqa: N805
                """Say nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def _pass_on(self, handler, server, cert):
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        user, groups = handler.headers["X-Badge"], handler.headers.get("X-Badge-Groups", "")
        headers = {"X-Remote-User": user, "X-Remote-Group": groups, "X-Remote-Extra-Scopes": "desk"}
        status, found = server.ask(
            handler.command, handler.path, json.loads(body) if body else None, cert=cert, headers=headers
        )
        self.passed.append(server)
        answer = json.dumps(found).encode()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(answer)))
        handler.end_headers()
        handler.wfile.write(answer)

    def ask(self, method, path, body=None, *, badge, groups=""):
        connection = http.client.HTTPConnection("127.0.0.1", self.http.server_address[1], timeout=30)
        headers = {"X-Badge": badge, "X-Badge-Groups": groups, "Content-Type": "application/json"}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def close(self):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture
def behind_a_proxy(tmp_path):
    """Yield two servers on one store, their front proxy, and certificates by name."""
    ca, people = make_ca("proxies"), make_ca("people")
    (tmp_path / "proxies.crt").write_bytes(ca.certificate)
    (tmp_path / "people.crt").write_bytes(people.certificate)
    certificates = {}
    for name, by in (("front-proxy", ca), ("other-proxy", ca), ("ann", people)):
        issue(by, name, client=True).write(tmp_path / f"{name}.crt", tmp_path / f"{name}.key")
        certificates[name] = (tmp_path / f"{name}.crt", tmp_path / f"{name}.key")
    options = {
        "requestheader-client-ca-file": str(tmp_path / "proxies.crt"),
        "requestheader-allowed-names": ["front-proxy"],
        "requestheader-username-headers": ["x-remote-user"],
        "requestheader-group-headers": ["x-remote-group"],
        "requestheader-extra-headers-prefix": ["x-remote-extra-"],
        "client-ca-file": str(tmp_path / "people.crt"),
    }
    store = MemoryStore()
    servers = [Served(tmp_path, name, store, **options) for name in ("one", "two")]
    proxy = FrontProxy(servers, certificates["front-proxy"])
    yield servers, proxy, certificates
    proxy.close()
    for server in servers:
        server.close()


def configmap(name):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def test_both_servers_believe_the_front_proxy_and_show_the_same_objects(behind_a_proxy):
    servers, proxy, _ = behind_a_proxy
    masters = {"badge": "root", "groups": "system:masters"}

    made = [proxy.ask("POST", MAPS, configmap(f"m{number}"), **masters)[0] for number in range(4)]
    listed = [proxy.ask("GET", MAPS, **masters)[1]["items"] for _ in range(2)]
    refused = [proxy.ask("GET", MAPS, badge="ann")[0] for _ in range(2)]
    _, review = proxy.ask(
        "POST", WHO, {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}, badge="ann"
    )

    assert made == [201] * 4
    assert [sorted(row["metadata"]["name"] for row in rows) for rows in listed] == [["m0", "m1", "m2", "m3"]] * 2
    assert refused == [403, 403]
    assert review["status"]["userInfo"]["username"] == "ann"
    assert review["status"]["userInfo"]["extra"] == {"scopes": ["desk"]}
    assert set(proxy.passed) == set(servers)


@pytest.mark.parametrize(
    ("cert", "expected"),
    [("front-proxy", "root"), ("other-proxy", 401), ("ann", "ann"), (None, 403)],
)
def test_only_the_allowed_proxys_certificate_makes_headers_count(behind_a_proxy, cert, expected):
    servers, _, certificates = behind_a_proxy
    headers = {"X-Remote-User": "root", "X-Remote-Group": "system:masters"}

    for server in servers:
        found = server.who(cert=certificates.get(cert), headers=headers)
        assert (found["username"] if isinstance(found, dict) else found) == expected


@pytest.fixture
def issuer(tmp_path):
    with Peer(tmp_path) as peer:
        yield OpenIdIssuer(peer, "/issuer", SystemClock()), peer


def test_an_issuers_keys_of_both_kinds_are_fetched_again_when_they_change(tmp_path, issuer, monkeypatch):
    monkeypatch.setattr(keys, "REFRESH_SECONDS", 0.0)
    issuer, peer = issuer
    config = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthenticationConfiguration",
        "jwt": [
            {
                "issuer": {
                    "url": issuer.url,
                    "audiences": ["kube"],
                    "certificateAuthority": peer.ca_file.read_text(),
                },
                "claimMappings": {
                    "username": {"expression": "'oidc:' + claims.sub"},
                    "groups": {"expression": "claims.roles.map(role, 'oidc:' + role)"},
                },
                "userValidationRules": [{"expression": "!user.username.endsWith(':root')", "message": "no root"}],
            }
        ],
    }
    (tmp_path / "authentication.json").write_text(json.dumps(config))
    served = Served(tmp_path, "oidc", MemoryStore(), **{"authentication-config": str(tmp_path / "authentication.json")})

    try:
        old = {name: issuer.token(name, roles=["dev"]) for name in ("r", "e")}
        for token in old.values():
            found = served.who(token=token)
            assert (found["username"], found["groups"]) == ("oidc:alice", ["oidc:dev", "system:authenticated"])
        assert served.ask("GET", MAPS, token=old["r"])[0] == 403
        assert served.who(token=issuer.token("r", sub="root", roles=[])) == 401

        issuer.rotate("second-r", "RS256")
        assert served.who(token=issuer.token("second-r", roles=["ops"]))["groups"][0] == "oidc:ops"
        issuer.rotate("second-e", "ES256")
        token = issuer.token("second-e", algorithm="ES256", roles=["ops"])
        assert served.who(token=token)["username"] == "oidc:alice"

        assert served.who(token=issuer.token("r", roles=["late"])) == 401
        assert served.who(token=issuer.token("e", roles=["late"])) == 401
    finally:
        served.close()
