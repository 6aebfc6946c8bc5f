"""A running cluster is saved and forked; the fork runs beside it, and what was saved comes back."""

from __future__ import annotations

import pytest
from local_cluster import HYPERKUBE, LocalCluster, run

from hyperkube.client.kubeconfig import client_from_kubeconfig
from hyperkube.kinds.resources import CONFIG_MAPS


@pytest.fixture
def clusters(scratch):
    """Two clusters that are not started yet; whatever the test does, nothing of them stays."""
    clusters = [LocalCluster(scratch / name) for name in ("seed", "fork")]
    yield clusters
    for cluster in clusters:
        cluster.end()


def hyperkube(*words, check=True):
    return run([HYPERKUBE, *words], check=check)


def create(cluster, name):
    client = client_from_kubeconfig(str(cluster.kubeconfig))
    made = client.create(CONFIG_MAPS, {"metadata": {"name": name}}, "default")
    client.close()
    return made["metadata"]["resourceVersion"]


def names(cluster):
    client = client_from_kubeconfig(str(cluster.kubeconfig))
    found = {item["metadata"]["name"] for item in client.list(CONFIG_MAPS, "default").items}
    client.close()
    return found - {"kube-root-ca.crt"}


def test_a_cluster_is_saved_forked_and_brought_back(clusters):
    seed, fork = clusters
    seed.start()
    revision = create(seed, "before")
    hyperkube("snapshot", "save", "before", "--data-dir", seed.root)
    create(seed, "between")

    hyperkube("snapshot", "fork", fork.root, "--data-dir", seed.root)
    changes = hyperkube("snapshot", "diff", "before", "--data-dir", seed.root, check=False)
    then = hyperkube("at", revision, "get", "configmaps", "-o", "name", "--kubeconfig", seed.kubeconfig).out
    fork.start()
    create(fork, "fork")
    create(seed, "seed")

    assert "+ /registry/configmaps/default/between" in changes.out.splitlines()
    assert changes.code == 1
    assert "configmap/before" in then.splitlines()
    assert "configmap/between" not in then.splitlines()
    assert names(fork) == {"before", "between", "fork"}
    assert names(seed) == {"before", "between", "seed"}

    seed.stop(within=60)
    hyperkube("snapshot", "restore", "before", "--force", "--data-dir", seed.root)
    assert hyperkube("snapshot", "diff", "before", "--data-dir", seed.root).out == ""
