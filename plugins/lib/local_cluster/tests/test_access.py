"""A subcommand asks the cluster of its flags, else that of $KUBECONFIG, else the local one."""

import pytest
from hyperkube_lib.local_cluster.access import cluster_client

from hyperkube.client.kubeconfig import empty, put, write
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import UsageError


def kubeconfig(path, port):
    """Write a kubeconfig of a server at a port where none is."""
    config = put(empty(), "clusters", "a", {"server": f"http://127.0.0.1:{port}"})
    config = put(config, "contexts", "a", {"cluster": "a"})
    write(path, {**config, "current-context": "a"})
    return path


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write one kubeconfig for each way to choose a cluster; ports 1 to 4 have no server."""
    monkeypatch.setenv("HYPERKUBE_DATA_DIR", str(tmp_path / "usual"))
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'missing'}:{kubeconfig(tmp_path / 'named', 3)}")
    kubeconfig(tmp_path / "usual" / "admin.kubeconfig", 1)
    kubeconfig(tmp_path / "other" / "admin.kubeconfig", 2)
    kubeconfig(tmp_path / "given", 4)
    return tmp_path


def failure(client):
    with pytest.raises(ConnectionError) as error:
        client.get(PODS, "a", "default")
    return str(error.value)


def test_the_flags_come_first(files):
    assert failure(cluster_client(files / "given", files / "other")) == "127.0.0.1:4: Connection refused"
    assert failure(cluster_client(None, files / "other")) == "127.0.0.1:2: Connection refused"


def test_then_the_environment(files):
    assert failure(cluster_client(None, None)) == "127.0.0.1:3: Connection refused"


def test_then_the_local_cluster(files, monkeypatch):
    monkeypatch.delenv("KUBECONFIG")

    assert failure(cluster_client(None, None)) == "127.0.0.1:1: Connection refused"


def test_what_is_missing_is_named(files, monkeypatch):
    with pytest.raises(UsageError, match=r"no local cluster in '.*/nowhere': give --kubeconfig or --data-dir, or set"):
        cluster_client(None, files / "nowhere")
    with pytest.raises(UsageError, match=r"cannot read kubeconfig '.*/absent'"):
        cluster_client(files / "absent", None)
    monkeypatch.setenv("KUBECONFIG", "/nowhere")
    with pytest.raises(UsageError, match=r"no file of \$KUBECONFIG exists: '/nowhere'"):
        cluster_client(None, None)
