"""The root-ca-cert-publisher controller: the CA in every namespace, as the file has it.

The tables have the cases of kubernetes ``rootcacertpublisher``'s ``publisher_test.go`` and ``metrics_test.go``.
"""

import pytest
from hyperkube_controller.root_ca_cert_publisher import PublisherMetrics, RootCaCertPublisher

from hyperkube.client.kubeconfig import empty, write
from hyperkube.kinds.resources import CONFIG_MAPS, NAMESPACES
from hyperkube.machinery.errors import ApiError, NotFound, UsageError
from hyperkube.testing.controller_rig import ControllerRig

NAMESPACE = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "d"}}


@pytest.fixture
def rig(tmp_path):
    file = tmp_path / "ca.crt"
    file.write_text("PEM")
    rig = ControllerRig(RootCaCertPublisher, settings={"root_ca_file": str(file)})
    rig.client.seed(NAMESPACES, NAMESPACE)
    rig.settle()
    return rig


def test_each_namespace_has_the_certificate(rig):
    (config_map,) = rig.client.objects(CONFIG_MAPS)

    assert config_map["metadata"]["name"] == "kube-root-ca.crt"
    assert config_map["data"] == {"ca.crt": "PEM"}


NAME = "kube-root-ca.crt"


def seed_other(rig):
    rig.client.seed(CONFIG_MAPS, {"kind": "ConfigMap", "metadata": {"name": "other", "namespace": "d"}})


def end_namespace(rig):
    meta = {"name": "ending", "deletionTimestamp": "2030-01-01T00:00:00Z", "finalizers": ["x/y"]}
    rig.client.seed(NAMESPACES, {"kind": "Namespace", "metadata": meta, "status": {"phase": "Terminating"}})


CHANGES = {
    "a namespace comes": (
        lambda rig: rig.client.seed(NAMESPACES, {"kind": "Namespace", "metadata": {"name": "new"}}),
        [("create", f"new/{NAME}")],
    ),
    "another config map goes": (lambda rig: rig.client.delete(CONFIG_MAPS, "other", "d"), []),
    "the config map goes": (lambda rig: rig.client.delete(CONFIG_MAPS, NAME, "d"), [("create", f"d/{NAME}")]),
    "a key is added": (
        lambda rig: rig.client.patch(CONFIG_MAPS, NAME, {"data": {"test": "test"}}, "d"),
        [("update", f"d/{NAME}")],
    ),
    "the certificate is changed": (
        lambda rig: rig.client.patch(CONFIG_MAPS, NAME, {"data": {"ca.crt": "abc"}}, "d"),
        [("update", f"d/{NAME}")],
    ),
    "the description goes": (
        lambda rig: rig.client.patch(CONFIG_MAPS, NAME, {"metadata": {"annotations": None}}, "d"),
        [("update", f"d/{NAME}")],
    ),
    "another config map is changed": (
        lambda rig: rig.client.patch(CONFIG_MAPS, "other", {"data": {"aa": "bb"}}, "d"),
        [],
    ),
    "a namespace ends": (end_namespace, []),
}


@pytest.mark.parametrize(("change", "expected"), CHANGES.values(), ids=CHANGES)
def test_what_a_change_makes_it_write(rig, change, expected):
    seed_other(rig)
    rig.settle()
    change(rig)
    before = len(rig.client.actions)
    rig.settle()

    assert [(verb, path) for verb, _, path in rig.client.actions[before:]] == expected
    assert rig.client.get(CONFIG_MAPS, NAME, "d")["data"] == {"ca.crt": "PEM"}


@pytest.mark.parametrize(
    ("error", "code"),
    [(None, "200"), (NotFound("test-configmap"), "404"), (ApiError("no code"), "500"), (OSError("test"), "500")],
    ids=["none", "of the server", "without a code", "another"],
)
def test_syncs_are_counted_by_how_they_ended(error, code):
    metrics = PublisherMetrics()
    metrics.synced(0.5, error)

    counts = {
        (each.name, each.labels["code"]): each.value
        for family in metrics.collect()
        for each in family.samples
        if each.name.endswith(("_total", "_count", "_sum"))
    }
    assert counts == {
        ("root_ca_cert_publisher_sync_total", code): 1,
        ("root_ca_cert_publisher_sync_duration_seconds_count", code): 1,
        ("root_ca_cert_publisher_sync_duration_seconds_sum", code): 0.5,
    }


def test_a_sync_that_the_server_refuses_is_counted_and_tried_again(rig):
    rig.client.fail_next("create", "configmaps", NotFound("no such namespace"))
    rig.client.delete(CONFIG_MAPS, NAME, "d")
    rig.settle()

    families = rig.plugins[0]._metrics.collect()
    totals = {
        each.labels["code"]: each.value for one in families for each in one.samples if each.name.endswith("total")
    }
    assert totals["404"] == 1
    assert rig.client.get(CONFIG_MAPS, NAME, "d")["data"] == {"ca.crt": "PEM"}


def test_a_changed_or_deleted_config_map_is_put_right(rig):
    rig.client.patch(CONFIG_MAPS, "kube-root-ca.crt", {"data": {"ca.crt": "evil"}}, "d")
    rig.settle()
    assert rig.client.objects(CONFIG_MAPS)[0]["data"] == {"ca.crt": "PEM"}

    rig.client.delete(CONFIG_MAPS, "kube-root-ca.crt", "d")
    rig.settle()
    assert rig.client.objects(CONFIG_MAPS)[0]["data"] == {"ca.crt": "PEM"}


def test_without_a_file_there_is_nothing_to_publish():
    rig = ControllerRig(RootCaCertPublisher)
    rig.client.seed(NAMESPACES, NAMESPACE)

    rig.settle()

    assert rig.client.objects(CONFIG_MAPS) == []


def test_a_missing_file_is_the_users_mistake():
    with pytest.raises(UsageError, match="--root-ca-file"):
        ControllerRig(RootCaCertPublisher, settings={"root_ca_file": "/no/such/file"})


@pytest.mark.parametrize(
    ("cluster", "published"),
    [
        pytest.param({"certificate-authority": "own.crt"}, "OWN", id="a-file"),
        pytest.param({"certificate-authority-data": "T1dO"}, "OWN", id="data"),
        pytest.param({"insecure-skip-tls-verify": True}, "", id="none"),
    ],
)
def test_without_the_flag_it_is_the_authority_of_the_managers_own_kubeconfig(tmp_path, cluster, published):
    (tmp_path / "own.crt").write_text("OWN")
    file = tmp_path / "kubeconfig"
    write(file, {**empty(), "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1", **cluster}}]})
    rig = ControllerRig(RootCaCertPublisher, settings={"kubeconfig": str(file)})
    rig.client.seed(NAMESPACES, NAMESPACE)

    rig.settle()

    assert rig.client.objects(CONFIG_MAPS)[0]["data"] == {"ca.crt": published}


def test_over_plain_http_there_is_no_authority_but_pods_find_the_config_map():
    rig = ControllerRig(RootCaCertPublisher, settings={"master": "127.0.0.1:8080"})
    rig.client.seed(NAMESPACES, NAMESPACE)

    rig.settle()

    assert rig.client.objects(CONFIG_MAPS)[0]["data"] == {"ca.crt": ""}
