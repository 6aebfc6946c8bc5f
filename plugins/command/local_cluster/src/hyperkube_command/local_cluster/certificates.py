"""The credentials of a local cluster: three authorities, a pair per component, a kubeconfig each.

The names are those of Kubernetes' local-up-cluster script. A stamp file remembers what was issued for which
addresses, so that a later start neither makes anything nor loads the cryptography library. What was issued to clients
is noted beside their authority, so that no server of this cluster has to load it to believe them.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from hyperkube_command.local_cluster.arguments import ANYWHERE, ClusterOptions
from hyperkube_lib.serving.serving_certificates import service_address

from hyperkube.client import kubeconfig
from hyperkube.machinery.clock import Clock, SystemClock

if TYPE_CHECKING:
    from hyperkube_lib.serving.certificates import KeyPair

CLIENTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "admin": ("system:admin", ("system:masters",)),
    "kube-apiserver": ("kube-apiserver", ("system:masters",)),
    "kube-controller-manager": ("system:kube-controller-manager", ()),
    "kube-scheduler": ("system:kube-scheduler", ()),
    "kube-proxy": ("system:kube-proxy", ()),
}
"""Component → the user and groups that its certificate names; the kubelet's depends on the node's name."""

RENEW_BEFORE = timedelta(days=30)


def write_credentials_apart(cluster: ClusterOptions) -> None:
    """Do what `write_credentials` does in a child that ends, where that may be."""
    if not _are_current(cluster, SystemClock()):
        from hyperkube_lib.serving.certificates_apart import in_a_child

        in_a_child(partial(write_credentials, cluster))


def write_credentials(cluster: ClusterOptions, clock: Clock | None = None) -> None:
    """Make what is missing, soon to expire, or for other names than asked for now; the authorities and keys stay."""
    clock = clock or SystemClock()
    if _are_current(cluster, clock):
        return
    _issue_all(cluster, clock)
    from hyperkube_lib.serving.certificates import LEAF_DAYS

    renew = clock.now() + timedelta(days=LEAF_DAYS) - RENEW_BEFORE
    _stamp(cluster).write_bytes(orjson.dumps({"inputs": _inputs(cluster), "renew": renew.isoformat()}))


def _are_current(cluster: ClusterOptions, clock: Clock) -> bool:
    stamp = _stamp(cluster)
    issued = orjson.loads(stamp.read_bytes()) if stamp.exists() else {}
    return bool(issued.get("inputs") == _inputs(cluster) and issued.get("renew", "") > clock.now().isoformat())


def _stamp(cluster: ClusterOptions) -> Path:
    return cluster.layout.pki / "issued.json"


def _inputs(cluster: ClusterOptions) -> dict[str, str]:
    return {
        "server": cluster.server,
        "node": cluster.node_name,
        "bind": cluster.bind_address,
        "services": cluster.service_range,
    }


def _issue_all(cluster: ClusterOptions, clock: Clock) -> None:
    from hyperkube_lib.client_certificates.noted import notes_of
    from hyperkube_lib.client_certificates.noting import note
    from hyperkube_lib.serving.certificates import issue, signing_key, write_private

    pki = cluster.layout.pki
    server_ca = _authority(pki, "server-ca", clock)
    client_ca = _authority(pki, "client-ca", clock)
    request_header_ca = _authority(pki, "request-header-ca", clock)
    addresses = ["127.0.0.1", "::1", service_address(cluster.service_range)]
    addresses += [cluster.bind_address] if cluster.bind_address not in ANYWHERE else []
    names = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
             "kubernetes.default.svc.cluster.local", cluster.node_name]  # fmt: skip
    unique = sorted(set(addresses))
    serving = issue(server_ca, "kube-apiserver", dns=names, ips=unique, server=True, clock=clock)
    _write_pair(pki, "serving-kube-apiserver", serving)
    kubelet = issue(
        server_ca, f"system:node:{cluster.node_name}", organizations=["system:nodes"],
        dns=[cluster.node_name, "localhost"], ips=unique, server=True, clock=clock,
    )  # fmt: skip
    _write_pair(pki, "serving-kubelet", kubelet)
    clients = {**CLIENTS, "kubelet": (f"system:node:{cluster.node_name}", ("system:nodes",))}
    certificates = []
    for name, (user, groups) in clients.items():
        pair = issue(client_ca, user, organizations=groups, client=True, clock=clock)
        _write_pair(pki, name, pair)
        _write_kubeconfig(cluster, name, pair, server_ca)
        certificates.append(pair.certificate)
    proxy = issue(request_header_ca, "system:auth-proxy", client=True, clock=clock)
    _write_pair(pki, "auth-proxy", proxy)
    for authority, clients_of in (("client-ca", certificates), ("request-header-ca", [proxy.certificate])):
        path = pki / f"{authority}.crt"
        write_private(notes_of(path), note(path, clients_of, clock.now()))
    if not (pki / "service-account.key").exists():
        write_private(pki / "service-account.key", signing_key()[0])


def _authority(pki: Path, name: str, clock: Clock) -> KeyPair:
    from hyperkube_lib.serving.certificates import KeyPair, make_ca

    cert, key = pki / f"{name}.crt", pki / f"{name}.key"
    if cert.exists() and key.exists():
        return KeyPair(cert.read_bytes(), key.read_bytes())
    pair = make_ca(name, clock=clock)
    _write_pair(pki, name, pair)
    return pair


def _write_pair(pki: Path, name: str, pair: KeyPair) -> None:
    from hyperkube_lib.serving.certificates import write_private, write_public

    write_private(pki / f"{name}.key", pair.key)
    write_public(pki / f"{name}.crt", pair.certificate)


def _write_kubeconfig(cluster: ClusterOptions, name: str, pair: KeyPair, ca: KeyPair) -> None:
    from base64 import b64encode

    user = {
        "client-certificate-data": b64encode(pair.certificate).decode(),
        "client-key-data": b64encode(pair.key).decode(),
    }
    entry = {"server": cluster.server, "certificate-authority-data": b64encode(ca.certificate).decode()}
    config = kubeconfig.put(kubeconfig.empty(), "clusters", "local", entry)
    config = kubeconfig.put(config, "users", name, user)
    config = kubeconfig.put(config, "contexts", "local", {"cluster": "local", "user": name})
    config = {**config, "current-context": "local"}
    kubeconfig.write(cluster.layout.kubeconfig(name), config)
    if name == "admin":
        kubeconfig.write(cluster.layout.admin_kubeconfig, config)
