"""What `up` refuses before it touches anything."""

import pytest
from hyperkube_command.local_cluster.arguments import ClusterOptions
from hyperkube_command.local_cluster.up import _default_addons, validate
from hyperkube_lib.local_cluster.layout import Layout

from hyperkube.machinery.errors import UsageError


def _options(tmp_path, **words):
    return ClusterOptions(layout=Layout(tmp_path), **{"node_name": "here", **words})


@pytest.mark.parametrize(
    ("runtime", "uid", "expected"),
    [("process", 0, "enabled"), ("remote", 0, "enabled_with_containers"), ("remote", 5, "enabled")],
)
def test_clusters_have_other_addons_where_volumes_can_be_mounted_for_containers(
    tmp_path, monkeypatch, runtime, uid, expected
):
    monkeypatch.setattr("os.geteuid", lambda: uid)
    monkeypatch.setattr("hyperkube_command.local_cluster.up.default_names", lambda family, key: [family, key])

    assert _default_addons(_options(tmp_path, runtime=runtime)) == ("addon", expected)


def test_everyday_words_are_fine(tmp_path):
    validate(_options(tmp_path, service_range=""))
    validate(_options(tmp_path, service_range="10.0.0.0/24"))


def test_a_name_that_no_node_can_have(tmp_path):
    with pytest.raises(UsageError, match=r"'my_laptop' cannot be a node's name: .*choose another with --node-name"):
        validate(_options(tmp_path, node_name="my_laptop"))


def test_a_range_that_is_none(tmp_path):
    with pytest.raises(UsageError, match=r"--service-cluster-ip-range: .*10.0.0.0/33"):
        validate(_options(tmp_path, service_range="10.0.0.0/33"))
