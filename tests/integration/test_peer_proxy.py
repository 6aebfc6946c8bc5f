"""Two API servers of one cluster that do not serve the same: each answers for both."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from hyperkube_lib.serving.certificates import issue, make_ca, write_public

sys.path.insert(0, str(Path(__file__).parent))

from server_processes import ApiServer, Etcd, eventually, need_etcd, running

pytestmark = [
    pytest.mark.etcd,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="a second host name needs root"),
]
WHOLE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
TEMPLATE = {"spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}}


class OnItsOwnHost(ApiServer):
    """A server whose host has the server's name: an API server's identity is that of its host."""

    def command(self):
        script = f'hostname {self.log.stem} && exec "$@"'
        return ["unshare", "--uts", "sh", "-c", script, "sh", *super().command()]


def certificates(folder):
    serving, fronts = make_ca("servers"), make_ca("front-proxies")
    write_public(folder / "servers.crt", serving.certificate)
    write_public(folder / "fronts.crt", fronts.certificate)
    names = {"dns": ["kubernetes.default.svc"], "ips": ["127.0.0.1"]}
    issue(serving, "kube-apiserver", server=True, **names).write(folder / "server.crt", folder / "server.key")
    issue(fronts, "front-proxy", client=True).write(folder / "front.crt", folder / "front.key")
    return (
        f"--tls-cert-file={folder / 'server.crt'}", f"--tls-private-key-file={folder / 'server.key'}",
        f"--peer-ca-file={folder / 'servers.crt'}", f"--requestheader-client-ca-file={folder / 'fronts.crt'}",
        "--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
        f"--proxy-client-cert-file={folder / 'front.crt'}", f"--proxy-client-key-file={folder / 'front.key'}",
    )  # fmt: skip


def groups(server, accept=WHOLE):
    status, document = server.request("GET", "/apis", Accept=accept)
    assert status == 200
    return {item["metadata"]["name"]: [each["version"] for each in item["versions"]] for item in document["items"]}


def test_a_server_answers_for_what_only_the_other_serves(tmp_path):
    need_etcd()
    with running(Etcd(tmp_path)) as (etcd,):
        flags = (f"--etcd-servers={etcd.url}", "--authorization-mode=RBAC", *certificates(tmp_path))
        old = OnItsOwnHost(tmp_path, *flags, "--runtime-config=batch/v1=false", name="old", secure=True)
        new = OnItsOwnHost(tmp_path, *flags, name="new", secure=True)
        with running(old, new):
            eventually(lambda: "batch" in groups(old), 60)
            made = old.post(JOBS, {"metadata": {"name": "j"}, "spec": {"template": TEMPLATE}})
            listed = old.get(JOBS)["items"]
            alone = old.request("GET", JOBS, x_kubernetes_peer_proxied="true")
            own = groups(old, f"{WHOLE};profile=nopeer")
            nowhere = old.request("GET", "/apis/batch/v1/nothings")
            leases = new.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases")["items"]
            leases = [lease for lease in leases if lease["metadata"]["name"].startswith("apiserver-")]
            counted = old.request("GET", "/metrics")[1]
            forbidden = old.request("GET", JOBS, Impersonate_User="mallory")

    assert (made[0], made[1]["kind"]) == (201, "Job")
    assert [job["metadata"]["name"] for job in listed] == ["j"]
    assert (alone[0], nowhere[0], forbidden[0]) == (404, 404, 403)
    assert "batch" not in own
    labels = 'group="batch",version="v1",resource="jobs"'
    assert f'apiserver_rerouted_request_total{{code="201",{labels}}} 1\n' in counted
    assert f'apiserver_rerouted_request_total{{code="200",{labels}}} 1\n' in counted
    assert {lease["metadata"]["labels"]["kubernetes.io/hostname"] for lease in leases} == {"old", "new"}
    assert all(lease["spec"]["leaseDurationSeconds"] == 3600 for lease in leases)
