"""What a provider proves itself with is told nowhere: not in Events, not in the log, not at /configz, /flagz or /metrics.

Each provider, with its own way to its cloud, meets a cloud over a real connection that refuses the login, or whatever
is asked after it.
"""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace
from urllib.parse import parse_qs

import pytest
from hyperkube_host.cloud_controller_manager.command import COMMAND
from hyperkube_host.cloud_controller_manager.manager import MANAGER
from hyperkube_lib.controller_manager.command import handler, start
from hyperkube_lib.controller_manager.options import ManagerOptions
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_testing.rest_cloud import JsonHandler, serving, shape

from hyperkube.client.fake import FakeClient
from hyperkube.client.request_counts import RequestCounts
from hyperkube.command.lifecycle import Lifecycle
from hyperkube.kinds.resources import CONFIG_MAPS, EVENTS, NODES, SERVICES
from hyperkube.machinery.clock import SystemClock
from hyperkube.testing.waiting import eventually

MARK = "of-the-test"
"""Is in all that is secret, and in nothing else."""
SECRET, TOKEN = f"secret-{MARK}", f"token-{MARK}"
LOGIN = "https://login.microsoftonline.com"
AWS_REFUSAL = (
    "<Response><Errors><Error><Code>AuthFailure</Code><Message>no</Message></Error></Errors>"
    "<RequestID>1</RequestID></Response>"
)
SOAP = "http://schemas.xmlsoap.org/soap/envelope/"
MANAGERS = "".join(
    f'<{name} type="{kind}">{kind}</{name}>'
    for name, kind in (
        ("rootFolder", "Folder"), ("propertyCollector", "PropertyCollector"), ("sessionManager", "SessionManager"),
        ("searchIndex", "SearchIndex"),
    )
)  # fmt: skip


class Refusing(JsonHandler):
    """A cloud's login and its API; `server.refuses` tells whether the login is refused, with what was sent in its text."""

    def reply(self, body):
        self.server.asked.append((self.path, str(self.headers), body.decode()))
        if self.path.startswith(("/v3/", "/tenant/", "/common/", "/computeMetadata/", "/token")):
            self._log_in(body.decode())
        elif "Action=" in body.decode():
            self._say_xml(403, AWS_REFUSAL)
        elif self.path == "/sdk":
            self._say_soap(body.decode())
        elif self.path == "/client/api":
            name = f"{parse_qs(body.decode())['command'][0].lower()}response"
            code = 401 if self.server.refuses else 531
            told = f"wrong: {body.decode()}" if self.server.refuses else "no"
            self.say(code, {name: {"uuidList": [], "errorcode": code, "cserrorcode": 9999, "errortext": told}})
        elif self.path.startswith("/ovirt-engine/sso/"):
            refused = {"error_code": "access_denied", "error": f"wrong: {body.decode()}"}
            self.say(400, refused) if self.server.refuses else self.say(200, {"access_token": TOKEN})
        else:
            errors = [{"reason": "forbidden", "message": "no"}]
            told = {"code": "AuthorizationFailed", "message": "no", "errors": errors}
            self.say(403, {"error": told, "faultcode": "Client", "faultstring": "no"})

    def _log_in(self, body):
        if self.server.refuses and self.command == "POST":
            text = f"AADSTS7000215: wrong: {body}"
            told = {"error": "invalid_client", "error_description": text}  # OAuth's words, else Keystone's
            self.say(401, told if self.path.startswith("/tenant/") else {"error": {"code": 401, "message": text}})
        else:
            self.say(200, self._login(), X_Subject_Token=TOKEN, Metadata_Flavor="Google")

    def _login(self):
        base = f"http://{self.headers['Host']}"
        if self.path.startswith("/v3/"):
            rows = [{"interface": "public", "region": "one", "region_id": "one", "url": f"{base}/api"}]
            catalog = [
                {"type": kind, "endpoints": rows} for kind in ("compute", "network", "load-balancer", "volumev3")
            ]
            user = {"id": "u", "name": "u", "domain": {"id": "d", "name": "d"}}
            return {
                "token": {
                    "expires_at": "2099-01-01T00:00:00.000000Z", "issued_at": "2020-01-01T00:00:00.000000Z",
                    "methods": ["password"], "catalog": catalog, "user": user,
                }
            }  # fmt: skip
        if self.path.endswith("/openid-configuration"):
            paths = {name: f"{LOGIN}/tenant/oauth2/v2.0/{name}" for name in ("authorize", "token")}
            return {
                "issuer": f"{LOGIN}/tenant/v2.0", "authorization_endpoint": paths["authorize"],
                "token_endpoint": paths["token"],
            }  # fmt: skip
        if self.path.startswith("/common/"):
            return {
                "tenant_discovery_endpoint": f"{LOGIN}/tenant/v2.0/.well-known/openid-configuration",
                "metadata": [],
            }
        account = {"email": "me@shop", "scopes": [], "aliases": []}
        return {
            "access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600, "accessToken": TOKEN,
            "expireTime": "2099-01-01T00:00:00+00:00", "default": account, **account,
        }  # fmt: skip

    def _say_soap(self, body):
        if "<RetrieveServiceContent" in body:
            self._say_answer("RetrieveServiceContent", f"<returnval>{MANAGERS}</returnval>")
        elif "<Login" in body and not self.server.refuses:
            self._say_answer("Login", "", Set_Cookie=f'vmware_soap_session="{TOKEN}"; Path=/; HttpOnly')
        else:
            kind = "InvalidLogin" if "<Login" in body else "NoPermission"
            text = f"wrong: {body}".replace("<", "&lt;")
            told = f'<faultstring>{text}</faultstring><detail><{kind}Fault xmlns="urn:vim25"/></detail>'
            self._say_enveloped(500, f"<soapenv:Fault>{told}</soapenv:Fault>")

    def _say_answer(self, method, content, **headers):
        self._say_enveloped(200, f'<{method}Response xmlns="urn:vim25">{content}</{method}Response>', **headers)

    def _say_enveloped(self, status, content, **headers):
        body = f"<soapenv:Body>{content}</soapenv:Body>"
        self._say_xml(status, f'<soapenv:Envelope xmlns:soapenv="{SOAP}">{body}</soapenv:Envelope>', **headers)

    def _say_xml(self, status, text, **headers):
        body = text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": "text/xml", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def aws(url, patch):
    """Return the provider's configuration; its secret is in the environment."""
    pytest.importorskip("boto3")
    for name, value in {"ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": SECRET, "EC2_METADATA_DISABLED": "true"}.items():
        patch.setenv(f"AWS_{name}", value)
    patch.delenv("AWS_PROFILE", raising=False)
    services = ("ec2", "elasticloadbalancing")
    overrides = [f'[ServiceOverride "{row}"]\nService = {service}\nURL = {url}' for row, service in enumerate(services)]
    return "\n".join(["[Global]\nZone = us-east-1a\nVPC = vpc-1\nKubernetesClusterID = c", *overrides])


def azure(url, patch):
    """Return the same, and lead the login to the one that is played."""
    pytest.importorskip("azure.identity")
    from requests.adapters import HTTPAdapter

    send = HTTPAdapter.send

    def redirected(self, request, **words):
        request.url = request.url.replace(LOGIN, url)
        return send(self, request, **words)

    patch.setattr(HTTPAdapter, "send", redirected)
    return json.dumps(
        {
            "tenantId": "tenant", "subscriptionId": "sub", "resourceGroup": "shop", "location": "westeurope",
            "aadClientId": "app", "aadClientSecret": SECRET, "resourceManagerEndpoint": url,
        }
    )  # fmt: skip


def gce(url, patch):
    """Return the same; the machine's own token is shown to a service of tokens, with a secret of the file."""
    metadata = pytest.importorskip("google.auth.compute_engine._metadata")
    host = url.removeprefix("http://")
    patch.setenv("GCE_METADATA_HOST", host)
    patch.setattr(metadata, "_METADATA_ROOT", f"{url}/computeMetadata/v1/", raising=False)
    patch.setattr(metadata, "_GCE_METADATA_HOST", host, raising=False)
    lines = {
        "token-url": f"{url}/token", "token-body": SECRET, "project-id": "shop", "local-zone": "us-central1-a",
        "network-name": "default", "api-endpoint": f"{url}/api/", "node-tags": "node",
    }  # fmt: skip
    return "\n".join(["[Global]", *(f"{key} = {value}" for key, value in lines.items())])


def openstack(url, patch):
    """Return the same."""
    pytest.importorskip("keystoneauth1")
    lines = {
        "auth-url": f"{url}/v3", "username": "occm", "password": SECRET, "tenant-name": "shop",
        "domain-name": "Default", "region": "one",
    }  # fmt: skip
    return "\n".join(["[Global]", *(f"{key} = {value}" for key, value in lines.items())])


def cloudstack(url, patch):
    """Return the same."""
    pytest.importorskip("cs")
    lines = {"api-url": f"{url}/client/api", "api-key": f"key-{MARK}", "secret-key": SECRET}
    return "\n".join(["[Global]", *(f"{key} = {value}" for key, value in lines.items())])


def ovirt(url, patch):
    """Return the same."""
    return f"[connection]\nuri = {url}/ovirt-engine/api\npassword = {SECRET}\n"


def vsphere(url, patch):
    """Return the same."""
    pytest.importorskip("pyVmomi")
    lines = {"user": "administrator@vsphere.local", "password": SECRET, "server": url}
    return "\n".join(["[Global]", *(f"{key} = {value}" for key, value in lines.items())])


class Listener(logging.Handler):
    """Keeps what is logged, tracebacks too."""

    def __init__(self):
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record):
        self.lines.append(self.format(record))


@pytest.fixture
def listener():
    """Return what is logged by all, the libraries too, at the level of servers that tell most."""
    made, root = Listener(), logging.getLogger()
    before = root.level
    root.setLevel(logging.INFO)
    root.addHandler(made)
    yield made
    root.removeHandler(made)
    root.setLevel(before)


def node():
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "n1", "uid": "n1", "labels": {"topology.kubernetes.io/zone": "us-central1-a"}},
        "spec": {"taints": [{"key": "node.cloudprovider.kubernetes.io/uninitialized", "effect": "NoSchedule"}]},
        "status": {
            "addresses": [{"type": "InternalIP", "address": "10.0.0.9"}],
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }  # fmt: skip


WITHOUT_BALANCERS = ("the vCenter refuses", "FindBy", "the engine gives no token", "GET vms")


def has_failed(client, listener):
    """Tell whether a manager has told of a failure: in an event of the Service, or of a cloud without balancers, in the log."""
    events = [row for row in client.objects(EVENTS) if row["reason"] == "SyncLoadBalancerFailed"]
    return events or any(words in line for line in listener.lines for words in WITHOUT_BALANCERS)


@pytest.fixture
def world(listener, monkeypatch, tmp_path):
    """Return a function that runs a manager with a provider until it has told of a failure, and what was told."""

    def run(configure, *, refuses):
        client = FakeClient(SystemClock())
        uid = {"metadata": {"name": "ingress-uid", "namespace": "kube-system"}, "data": {"uid": "0123456789abcdef"}}
        client.seed(CONFIG_MAPS, uid)
        client.seed(NODES, node())
        client.seed(SERVICES, shape("web"))
        file = tmp_path / "cloud.conf"
        with serving(Refusing) as server, Lifecycle() as life:
            server.asked, server.refuses = [], refuses
            file.write_text(configure(f"http://127.0.0.1:{server.server_address[1]}", monkeypatch))
            options = ManagerOptions.of(
                MANAGER, COMMAND.parse([f"--cloud-provider={configure.__name__}", f"--cloud-config={file}"])
            )
            manager = start(life, options, lambda _user: client)
            served = handler(manager, options, RequestCounts())
            eventually(lambda: has_failed(client, listener), 30)
            pages = {
                path: served.handle(HttpRequest(method="GET", path=path, query_string="")).body.decode()
                for path in ("/configz", "/flagz", "/statusz", "/metrics")
            }
        return SimpleNamespace(
            events=json.dumps(client.objects(EVENTS)),
            log="\n".join(listener.lines),
            asked=json.dumps(server.asked),
            **{path.removeprefix("/"): body for path, body in pages.items()},
        )

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("provider", "refuses", "shows"),
    [
        pytest.param(aws, False, "AWS4-HMAC-SHA256 Credential=key/", id="aws"),
        pytest.param(azure, True, SECRET, id="azure, at the login"),
        pytest.param(azure, False, f"Bearer {TOKEN}", id="azure"),
        pytest.param(gce, True, SECRET, id="gce, at the login"),
        pytest.param(gce, False, f"Bearer {TOKEN}", id="gce"),
        pytest.param(openstack, True, SECRET, id="openstack, at the login"),
        pytest.param(openstack, False, f"X-Auth-Token: {TOKEN}", id="openstack"),
        pytest.param(cloudstack, True, f"apiKey=key-{MARK}", id="cloudstack, at the login"),
        pytest.param(cloudstack, False, f"apiKey=key-{MARK}", id="cloudstack"),
        pytest.param(ovirt, True, SECRET, id="ovirt, at the login"),
        pytest.param(ovirt, False, f"Bearer {TOKEN}", id="ovirt"),
        pytest.param(vsphere, True, SECRET, id="vsphere, at the login"),
        pytest.param(vsphere, False, f'vmware_soap_session=\\"{TOKEN}\\"', id="vsphere"),
    ],
)
def test_a_credential_is_shown_to_the_cloud_alone(world, provider, refuses, shows):
    told = world(provider, refuses=refuses)

    assert shows in told.asked
    has_balancers = provider not in {ovirt, vsphere}
    assert ("SyncLoadBalancerFailed" in told.events) == has_balancers
    assert ("failed to get instance metadata for node n1" in told.log) or has_balancers
    assert ("AADSTS7000215" in told.events) == (provider is azure and refuses)
    assert "cloud.conf" in told.configz
    assert "cloud-config=" in told.flagz
    assert {name: text for name, text in vars(told).items() if MARK in text and name != "asked"} == {}
