import json
import logging

import pytest
from hyperkube_host.apiserver.options import StorageOptions, read
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_host.apiserver.storage.backend import load_storage
from hyperkube_host.apiserver.storage.storage_options import (
    HistorySizes,
    check_storage_versions,
    etcd_options,
    server_overrides,
    sizes_for,
    storage_versions,
)

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.groups import GroupResource, GroupVersion
from hyperkube.plugin import PluginContext

LOGGER = logging.getLogger("hyperkube.apiserver")


def context(_family, name, _table=None):
    return PluginContext(name=name)


def stored(values):
    return read(StorageOptions, values)


def test_a_resource_can_have_servers_of_its_own(caplog):
    options = stored({"etcd-servers-overrides": "/events#http://a;http://b,apps/deployments#http://c"})

    assert server_overrides(options, LOGGER) == {
        GroupResource("", "events"): ["http://a", "http://b"],
        GroupResource("apps", "deployments"): ["http://c"],
    }
    assert caplog.records == []


@pytest.mark.parametrize("entry", ["events#http://a", "/events", "/events#", "/#http://a", "/a/b#http://a", "/e#a#b"])
def test_a_malformed_override_is_logged_and_skipped(caplog, entry):
    options = stored({"etcd-servers-overrides": [entry, "/events#http://a"]})

    assert list(server_overrides(options, LOGGER)) == [GroupResource("", "events")]
    assert repr(entry) in caplog.text


def test_protobuf_is_not_written():
    with pytest.raises(UsageError) as caught:
        ApiServer(options={"storage-backend": "memory", "storage-media-type": "application/vnd.kubernetes.protobuf"})

    assert str(caught.value) == (
        "--storage-media-type='application/vnd.kubernetes.protobuf' is not written here, only 'application/json'"
        " (protobuf is read)"
    )


def test_history_has_a_size_by_resource():
    sizes = HistorySizes(
        stored({"default-watch-cache-size": 50, "watch-cache-sizes": ["pods#1000", "deployments.apps#7"]})
    )

    assert sizes.of(GroupResource("", "pods")).events == 1000
    assert sizes.of(GroupResource("apps", "deployments")).events == 7
    assert sizes.of(GroupResource("", "nodes")).events == 50
    with pytest.raises(UsageError, match="invalid value of --watch-cache-sizes: 'pods'"):
        HistorySizes(stored({"watch-cache-sizes": "pods"}))


def test_the_etcd_client_file_of_old_names_servers_and_certificates(tmp_path):
    path = tmp_path / "etcd.json"
    config = {"certFile": "c", "keyFile": "k", "caCertFile": ["a"]}
    path.write_text(json.dumps({"cluster": {"leader": "http://a", "machines": ["http://a"]}, "config": config}))

    assert etcd_options(stored({"etcd-config": str(path)})) == {
        "etcd-servers": ["http://a"],
        "etcd-cafile": "a",
        "etcd-certfile": "c",
        "etcd-keyfile": "k",
    }
    assert etcd_options(stored({"etcd-servers": ["http://b"]})) == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"etcd-config": "x", "etcd-servers": ["http://a"]}, "specify either --etcd-servers or --etcd-config"),
        ({"etcd-config": "/nowhere"}, "--etcd-config='/nowhere' cannot be read"),
        ({"etcd-quorum-read": False}, "--etcd-quorum-read=false is not supported"),
    ],
    ids=["both", "missing", "stale reads"],
)
def test_ways_to_etcd_that_cannot_be_gone_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        etcd_options(stored(options))


def test_an_etcd_client_file_without_machines_is_refused(tmp_path):
    path = tmp_path / "etcd.json"
    path.write_text("{}")

    with pytest.raises(UsageError, match=r"has no cluster\.machines"):
        etcd_options(stored({"etcd-config": str(path)}))


def test_storage_versions_may_name_the_group_they_are_moved_from():
    options = stored({"storage-versions": "autoscaling/v1,extensions=apps/v1", "storage-version": "v1"})

    assert storage_versions(options) == [("", "v1"), ("autoscaling", "v1"), ("apps", "v1")]


def test_a_storage_version_that_is_none_is_refused():
    with pytest.raises(UsageError, match="'a/b/c' is not group/version"):
        storage_versions(stored({"storage-versions": "a/b/c"}))


def test_a_store_that_no_other_server_reads_has_one_version():
    pytest.importorskip("hyperkube_storage.memory")

    with pytest.raises(UsageError, match="needs --storage-backend=etcd3"):
        ApiServer(options={"storage-versions": "apps/v1", "storage-backend": "memory"})


def test_a_plugin_of_several_names_is_loaded_by_its_own():
    pytest.importorskip("hyperkube_storage.etcd")

    loaded = [load_storage(name, context).names for name in ("etcd", "etcd2", "etcd3")]

    assert loaded == [("etcd",)] * 3


def test_a_storage_version_that_is_not_served_is_refused():
    with pytest.raises(UsageError, match=r"'extensions/v1beta1' is not served \(see --runtime-config\)"):
        check_storage_versions([GroupVersion("extensions", "v1beta1")], {("apps", "v1")})


def test_sizes_follow_the_memory_unless_they_are_named():
    sizes = HistorySizes(
        stored({"target-ram-mb": 12_000, "watch-cache-sizes": ["nodes#7"], "default-watch-cache-size": 50})
    )

    found = {name: sizes.of(GroupResource("", name)).events for name in ("pods", "services", "nodes", "secrets")}
    assert found == {"pods": 2000, "services": 1000, "nodes": 7, "secrets": 50}


def test_a_little_memory_gives_the_least_sizes():
    assert sizes_for(600) == {
        "replicationcontrollers": 100,
        "endpoints": 1000,
        "nodes": 1000,
        "pods": 1000,
        "services": 1000,
    }
    assert sizes_for(0) == {}
