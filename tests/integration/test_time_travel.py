"""What was is read from a running server: lists as they were, single objects by command, and why something cannot be."""

from __future__ import annotations

import orjson
import pytest
import yaml
from click.testing import CliRunner
from hyperkube_command.at import command
from hyperkube_testing.cluster.cluster import ControlPlane

from hyperkube.kinds.resources import CONFIG_MAPS, NAMESPACES
from hyperkube.machinery.errors import UsageError


@pytest.fixture(scope="module")
def cluster():
    with ControlPlane(controller_manager=None, scheduler=None) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def past(cluster):
    """Let ``a`` be written twice and deleted; return the revisions of the two writes and of ``b``'s creation."""
    client = cluster.client
    labelled = {"metadata": {"name": "a", "labels": {"app": "web"}}, "data": {"v": "1"}}
    first = client.create(CONFIG_MAPS, labelled, "default")
    second = client.patch(CONFIG_MAPS, "a", {"data": {"v": "2"}}, "default")
    client.create(NAMESPACES, {"metadata": {"name": "other"}})
    third = client.create(CONFIG_MAPS, {"metadata": {"name": "b"}}, "other")
    client.delete(CONFIG_MAPS, "a", "default")
    return [int(obj["metadata"]["resourceVersion"]) for obj in (first, second, third)]


def at(cluster, revision, *words):
    done = CliRunner().invoke(command, [str(revision), "get", *words, "--kubeconfig", str(cluster.kubeconfig)])
    if isinstance(done.exception, UsageError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def test_an_object_is_read_at_each_of_its_versions(cluster, past):
    first, second, _ = past

    then = [orjson.loads(at(cluster, revision, "configmap", "a", "-o", "json")) for revision in (first, second)]

    assert [obj["data"]["v"] for obj in then] == ["1", "2"]
    assert [obj["metadata"]["resourceVersion"] for obj in then] == [str(first), str(second)]
    assert (then[0]["apiVersion"], then[0]["kind"]) == ("v1", "ConfigMap")


def test_what_was_not_there_yet_is_not_found(cluster, past):
    with pytest.raises(UsageError, match=f"configmaps 'a' not found at revision {past[0] - 1}"):
        at(cluster, past[0] - 1, "configmaps", "a")


def test_lists_are_printed_as_tables_names_and_yaml(cluster, past):
    third = past[2]

    table = at(cluster, third, "configmaps", "-A").splitlines()
    names = at(cluster, third, "configmaps", "-l", "app=web", "-o", "name")
    document = yaml.safe_load(at(cluster, third, "configmaps", "-n", "other", "-o", "yaml"))

    assert table[0].split()[:2] == ["NAMESPACE", "NAME"]
    assert {("default", "a"), ("other", "b")} <= {tuple(line.split()[:2]) for line in table[1:]}
    assert names == "configmap/a\n"
    assert [item["metadata"]["name"] for item in document["items"]] == ["b"]


def test_cluster_scoped_objects_have_a_past_too(cluster, past):
    assert "other" not in at(cluster, past[1], "namespaces")
    assert "other" in at(cluster, past[2], "namespace")


def test_nothing_there_is_said(cluster, past):
    assert at(cluster, past[2], "secrets") == "No resources found\n"


def test_a_revision_of_the_future_is_refused(cluster, past):
    with pytest.raises(UsageError, match="Too large resource version"):
        at(cluster, past[2] + 100_000, "configmaps")


def test_an_unknown_resource_is_refused(cluster):
    with pytest.raises(UsageError, match="the server doesn't have a resource type 'wishes'"):
        at(cluster, 1, "wishes")


def test_a_compacted_revision_is_refused(past, cluster):
    with cluster.fork() as other:
        other._store.compact(past[1])

        with pytest.raises(UsageError, match=f"revision {past[0]} has been compacted: "):
            at(other, past[0], "configmaps")


def test_a_missing_kubeconfig_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("HYPERKUBE_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)

    done = CliRunner().invoke(command, ["1", "get", "pods"])

    assert isinstance(done.exception, UsageError)
    assert f"no local cluster in {str(tmp_path)!r}: give --kubeconfig" in str(done.exception)
