"""Servers that are not the API server, with an HTTPS port, and an API server whom they ask about their clients."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hyperkube_lib.serving.certificates import issue, make_ca
from hyperkube_testing.peers.ports import free_port
from server_processes import BIN, ApiServer, Process, running

TOKENS = (
    "admin-token,admin,1,system:masters\nscrape-token,scraper,3\n"
    "kube-scheduler-token,system:kube-scheduler,2\n"
    "kube-controller-manager-token,system:kube-controller-manager,4\n"
)
READER = {
    "clusterroles": {"rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]},
    "clusterrolebindings": {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "scrape"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "scraper"}],
    },
}


@contextmanager
def asked_server(folder: Path) -> Iterator[ApiServer]:
    """Run an API server that knows an administrator (token and certificate), a scraper, and the components."""
    (folder / "tokens.csv").write_text(TOKENS)
    authority = make_ca("clients")
    authority.write(folder / "ca.crt", folder / "ca.key")
    issue(authority, "admin", organizations=["system:masters"]).write(folder / "admin.crt", folder / "admin.key")
    server = ApiServer(
        folder, "--storage-backend=memory", "--authorization-mode=RBAC", f"--token-auth-file={folder / 'tokens.csv'}",
        f"--client-ca-file={folder / 'ca.crt'}", secure=True,
    )  # fmt: skip
    server.administrator = (folder / "admin.crt", folder / "admin.key")
    with running(server):
        for resource, body in READER.items():
            path = f"/apis/rbac.authorization.k8s.io/v1/{resource}"
            assert server.post(path, {"metadata": {"name": "scrape"}, **body})[0] == 201
        yield server


class Component(Process):
    """A scheduler or controller manager with an HTTPS port, that asks `server` who its clients are."""

    def __init__(self, folder: Path, name: str, server: ApiServer, *flags: str) -> None:
        super().__init__(folder, name)
        self.name, self.port, self.flags = name, free_port(), flags
        self.kubeconfig = folder / "kubeconfig"
        cluster = {"server": f"https://127.0.0.1:{server.secure_port}", "insecure-skip-tls-verify": True}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": "u", "user": {"token": f"{name}-token"}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
        self.kubeconfig.write_text(json.dumps(document))

    def command(self) -> list[str]:
        """Return how it is started."""
        delegated = [f"--{word}-kubeconfig={self.kubeconfig}" for word in ("authentication", "authorization")]
        return [
            str(BIN / self.name), f"--kubeconfig={self.kubeconfig}", "--v=2", "--leader-elect=true",
            f"--secure-port={self.port}", "--bind-address=127.0.0.1", *delegated, *self.flags,
        ]  # fmt: skip

    def answers(self) -> bool:
        """Tell whether it is ready."""
        try:
            return self.get("/readyz")[0] == 200
        except OSError:
            return False

    def get(self, path: str, token: str = "", certificate: tuple[Path, Path] | None = None) -> tuple[int, str]:
        """Return status and text of an answer."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if certificate is not None:
            context.load_cert_chain(*certificate)
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=10, context=context)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()
