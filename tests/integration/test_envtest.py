"""The API server as the test environment of controller-runtime starts it: its flags, its certificates, its first looks.

Then what kubebuilder's sample project asks of it.

Source: controller-runtime ``pkg/internal/testing/controlplane/{apiserver,auth,etcd,plane}.go``, ``process/process.go``,
``certs/tinyca.go``, ``pkg/envtest/{crd,webhook}.go``.
"""

from __future__ import annotations

import json
import re
import shutil
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import cronjob_tutorial as tutorial
from client_objects import GROUP, custom, definition, pod
from hyperkube_testing.peers.ports import free_port
from hyperkube_testing.peers.webhook_server import WebhookServer
from server_processes import BIN, Process, eventually, need_etcd, running

pytestmark = [pytest.mark.slow, pytest.mark.etcd]

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def openssl(*words, **more):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=60, **more)


def authority(folder, name):
    """Write the certificate of a new authority."""
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
            "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.crt")  # fmt: skip


def signed(folder, name, by, subject, names=""):
    """Write a certificate that an authority signed."""
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", subject,
            "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.csr")  # fmt: skip
    extensions = folder / f"{name}.ext"
    usage = "serverAuth" if names else "clientAuth"
    extensions.write_text(f"extendedKeyUsage={usage}\n" + (f"subjectAltName={names}\n" if names else ""))
    openssl("x509", "-req", "-days", "2", "-CA", folder / f"{by}.crt", "-CAkey", folder / f"{by}.key",
            "-CAcreateserial", "-extfile", extensions, "-in", folder / f"{name}.csr", "-out", folder / f"{name}.crt")  # fmt: skip


@cache
def help_of(program):
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout + done.stderr


def offered(assets, program, flag):
    """Tell whether a program's help has a flag, as the test environment looks it up."""
    return re.search(rf"^\s*--{flag}\b", help_of(assets / program), re.MULTILINE) is not None


class AssetsEtcd(Process):
    """The store of the folder, with the flags that the test environment passes."""

    def __init__(self, folder, assets):
        super().__init__(folder, "etcd")
        self.assets, self.data = assets, folder / "etcd-data"
        self.url, self.peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))

    def command(self):
        flags = [f"--advertise-client-urls={self.url}", f"--data-dir={self.data}",
                 f"--listen-client-urls={self.url}", f"--listen-peer-urls={self.peer}"]  # fmt: skip
        if offered(self.assets, "etcd", "unsafe-no-fsync"):
            flags.append("--unsafe-no-fsync=true")
        return [str(self.assets / "etcd"), *flags]

    def answers(self):
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=2) as answer:
                return answer.status == 200
        except OSError:
            return False


class KubeApiserver(Process):
    """The program under the name that the test environment looks for, with the flags that it passes."""

    def __init__(self, folder, etcd, assets, pki):
        super().__init__(folder, "kube-apiserver")
        self.folder, self.etcd, self.port, self.assets = folder / "pki", etcd, free_port(), assets
        self.url = f"https://127.0.0.1:{self.port}"
        shutil.copytree(pki, self.folder)

    def command(self):
        pki = self.folder
        return [
            str(self.assets / "kube-apiserver"), "--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true",
            "--disable-admission-plugins=ServiceAccount", f"--cert-dir={pki}", "--authorization-mode=RBAC",
            f"--secure-port={self.port}", "--bind-address=127.0.0.1", f"--service-account-issuer={self.url}/",
            f"--service-account-key-file={pki / 'sa-signer.crt'}",
            f"--service-account-signing-key-file={pki / 'sa-signer.key'}", f"--etcd-servers={self.etcd.url}",
            f"--client-ca-file={pki / 'client-cert-auth-ca.crt'}",
        ]  # fmt: skip

    def ask(self, method, path, body=None, user="admin"):
        """Return status and text of an answer, as the environment's client gets it."""
        context = ssl.create_default_context(cafile=str(self.folder / "serving-ca.crt"))
        if user:
            context.load_cert_chain(self.folder / f"{user}.crt", self.folder / f"{user}.key")
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + path, data=data, method=method, headers={"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=20, context=context) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def answers(self):
        try:
            return self.ask("GET", "/healthz", user="")[0] == 200
        except OSError:
            return False


@pytest.fixture(scope="module")
def pki(tmp_path_factory):
    """A folder with the certificates that the test environment provisions."""
    folder = tmp_path_factory.mktemp("pki")
    for name in ("serving-ca", "client-cert-auth-ca", "sa-signer"):
        authority(folder, name)
    signed(folder, "apiserver", "serving-ca", "/CN=localhost", "DNS:localhost,IP:127.0.0.1")
    signed(folder, "admin", "client-cert-auth-ca", "/O=system:masters/CN=admin")
    signed(folder, "viewer", "client-cert-auth-ca", "/CN=viewer")
    return folder


@pytest.fixture(scope="module", params=["etcd", "own etcd", "in memory"])
def server(request, tmp_path_factory, pki):
    """The programs of the folder that `hyperkube assets` makes."""
    if request.param == "etcd":
        need_etcd()
    folder = tmp_path_factory.mktemp("envtest")
    assets = folder / "assets"
    words = {"etcd": [], "own etcd": ["--own-etcd"], "in memory": ["--in-memory"]}[request.param]
    done = subprocess.run([BIN / "hyperkube", "assets", assets, *words], capture_output=True, text=True, check=True)
    assert done.stdout == f"export KUBEBUILDER_ASSETS={assets}\n"
    etcd = AssetsEtcd(folder, assets)
    with running(etcd, KubeApiserver(folder, etcd, assets, pki)) as (_, server):
        yield server


def test_its_flags_are_looked_up_in_the_help(server):
    for flag in ("etcd-servers", "service-account-signing-key-file", "authorization-mode"):
        assert offered(server.assets, "kube-apiserver", flag)
    assert not offered(server.assets, "kube-apiserver", "nosuch-flag")


def test_the_provisioned_administrator_may_do_everything_and_others_nothing(server):
    assert server.ask("GET", "/api/v1/namespaces/default")[0] == 200
    status, text = server.ask("GET", "/api/v1/secrets", user="viewer")
    assert (status, 'User \\"viewer\\" cannot list resource \\"secrets\\"' in text) == (403, True)


def test_definitions_are_installed_and_waited_for(server):
    assert server.ask("POST", CRDS, definition("Widget"))[0] == 201

    def listed():
        status, text = server.ask("GET", f"/apis/{GROUP}/v1")
        return status == 200 and "widgets" in {row["name"] for row in json.loads(text)["resources"]}

    eventually(listed)
    conditions = json.loads(server.ask("GET", f"{CRDS}/widgets.{GROUP}")[1])["status"]["conditions"]
    assert {(row["type"], row["status"]) for row in conditions} >= {("Established", "True"), ("NamesAccepted", "True")}
    status, text = server.ask("POST", f"/apis/{GROUP}/v1/namespaces/default/widgets", custom("Widget", "one"))
    assert status == 201, text


def test_pods_need_no_service_account_and_stay_as_they_are(server):
    status, text = server.ask("POST", "/api/v1/namespaces/default/pods", pod("still"))

    assert status == 201, text
    assert json.loads(text)["status"]["phase"] == "Pending"


def test_a_lease_is_taken_by_who_has_read_it(server):
    leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "leader"},
             "spec": {"holderIdentity": "a", "renewTime": "2026-01-02T03:04:05.000006Z"}}  # fmt: skip
    made = json.loads(server.ask("POST", leases, lease)[1])
    made["spec"]["holderIdentity"] = "b"

    assert server.ask("PUT", f"{leases}/leader", made)[0] == 200
    status, text = server.ask("PUT", f"{leases}/leader", made)

    assert (status, "the object has been modified" in text) == (409, True)


def test_delegated_authentication_finds_its_settings(server):
    path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"

    status, text = eventually(lambda: (found := server.ask("GET", path))[0] == 200 and found)

    assert status == 200
    assert "BEGIN CERTIFICATE" in json.loads(text)["data"]["client-ca-file"]


@pytest.fixture(scope="module")
def cronjobs(server):
    """Where the tutorial's objects are, with its definition and its webhooks installed as the environment does it.

    The bundle of the webhooks is the certificate that they show, and not its authority's.
    """
    schemas = json.loads(server.ask("GET", "/openapi/v3/apis/batch/v1")[1])["components"]["schemas"]
    status, text = server.ask("POST", CRDS, tutorial.definition(schemas))
    assert status == 201, text
    eventually(lambda: server.ask("GET", f"/apis/{tutorial.GROUP}/v1")[0] == 200)
    with WebhookServer(tutorial.admitted) as hooks:
        registered = "/apis/admissionregistration.k8s.io/v1"
        for each in tutorial.webhooks(f"https://127.0.0.1:{hooks.port}", hooks.own_certificate):
            place = f"{registered}/{each['kind'].lower()}s"
            assert server.ask("GET", f"{place}/{each['metadata']['name']}")[0] == 404
            status, text = server.ask("POST", place, each)
            assert status == 201, text
            assert server.ask("GET", f"{place}/{each['metadata']['name']}")[0] == 200
        yield f"/apis/{tutorial.GROUP}/v1/namespaces/default/cronjobs"
        for each in tutorial.webhooks("https://127.0.0.1:1", hooks.own_certificate):
            server.ask("DELETE", f"{registered}/{each['kind'].lower()}s/{each['metadata']['name']}")


def test_the_webhooks_of_a_project_default_and_refuse(server, cronjobs):
    status, text = eventually(
        lambda: (found := server.ask("POST", cronjobs, tutorial.cronjob("defaulted")))[0] and found
    )
    assert status == 201, text
    assert json.loads(text)["spec"]["concurrencyPolicy"] == "Allow"

    status, text = server.ask("POST", cronjobs, tutorial.cronjob("never", schedule="whenever"))

    assert status == 403
    denied = "admission webhook \"vcronjob-v1.kb.io\" denied the request: spec.schedule: Invalid value: 'whenever'"
    assert json.loads(text)["message"] == denied


def test_the_status_of_the_sample_follows_its_job(server, cronjobs):
    made = json.loads(server.ask("POST", cronjobs, tutorial.cronjob("test-cronjob"))[1])
    assert made["spec"]["schedule"] == "1 * * * *"
    assert "status" not in made

    status, text = server.ask("POST", "/apis/batch/v1/namespaces/default/jobs", tutorial.job("test-job", made))
    assert status == 201, text
    found = json.loads(text)
    assert "active" not in found["status"], "a status is not created"
    found["status"]["active"] = 2
    status, text = server.ask("PUT", "/apis/batch/v1/namespaces/default/jobs/test-job/status", found)
    assert (status, json.loads(text)["status"]["active"]) == (200, 2), text
    reference = {"kind": "Job", "namespace": "default", "name": "test-job", "apiVersion": "batch/v1",
                 "uid": found["metadata"]["uid"], "resourceVersion": found["metadata"]["resourceVersion"]}  # fmt: skip
    made["status"] = {"active": [reference]}
    status, text = server.ask("PUT", f"{cronjobs}/test-cronjob/status", made)

    assert status == 200, text
    after = json.loads(server.ask("GET", f"{cronjobs}/test-cronjob")[1])
    assert [each["name"] for each in after["status"]["active"]] == ["test-job"]
    assert after["metadata"]["generation"] == 1
    status, text = server.ask("PUT", f"{cronjobs}/test-cronjob/status", made)
    assert (status, "the object has been modified" in text) == (409, True)
    made["metadata"]["resourceVersion"], made["spec"]["suspend"] = after["metadata"]["resourceVersion"], True
    made["spec"]["failedJobsHistoryLimit"] = -1
    status, text = server.ask("PUT", f"{cronjobs}/test-cronjob", made)
    assert (status, "should be greater than or equal to 0" in text) == (422, True), text
    assert server.ask("DELETE", f"{cronjobs}/test-cronjob")[0] == 200
    assert server.ask("GET", f"{cronjobs}/test-cronjob")[0] == 404


def test_a_user_is_added_while_it_runs_and_uses_kubectl(server, tmp_path):
    signed(server.folder, "default", "client-cert-auth-ca", "/O=system:masters/CN=default")
    pki = server.folder
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "envtest",
        "clusters": [{"name": "envtest", "cluster": {"server": f"{server.url}/",
                      "certificate-authority": str(pki / "serving-ca.crt")}}],
        "users": [{"name": "envtest", "user": {"client-certificate": str(pki / "default.crt"),
                                               "client-key": str(pki / "default.key")}}],
        "contexts": [{"name": "envtest", "context": {"cluster": "envtest", "user": "envtest"}}],
    }  # fmt: skip
    (tmp_path / "kubecfg").write_text(json.dumps(config))
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("there is no kubectl")

    words = [kubectl, f"--kubeconfig={tmp_path / 'kubecfg'}", "--cache-dir", tmp_path, "auth", "whoami", "-o", "json"]
    said = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout

    assert json.loads(said)["status"]["userInfo"]["username"] == "default"
