import logging

import pytest

from hyperkube.apiserver.server import ApiServer
from hyperkube.apiserver.storage_options import HistorySizes, server_overrides
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.groups import GroupResource

LOGGER = logging.getLogger("hyperkube.apiserver")


def test_a_resource_can_have_servers_of_its_own(caplog):
    options = {"etcd-servers-overrides": "/events#http://a;http://b,apps/deployments#http://c"}

    assert server_overrides(options, LOGGER) == {
        GroupResource("", "events"): ["http://a", "http://b"],
        GroupResource("apps", "deployments"): ["http://c"],
    }
    assert caplog.records == []


@pytest.mark.parametrize("entry", ["events#http://a", "/events", "/events#", "/#http://a", "/a/b#http://a", "/e#a#b"])
def test_a_malformed_override_is_logged_and_skipped(caplog, entry):
    options = {"etcd-servers-overrides": [entry, "/events#http://a"]}

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
    sizes = HistorySizes({"default-watch-cache-size": 50, "watch-cache-sizes": ["pods#1000", "deployments.apps#7"]})

    assert sizes.of(GroupResource("", "pods")).events == 1000
    assert sizes.of(GroupResource("apps", "deployments")).events == 7
    assert sizes.of(GroupResource("", "nodes")).events == 50
    with pytest.raises(UsageError, match="invalid value of --watch-cache-sizes: 'pods'"):
        HistorySizes({"watch-cache-sizes": "pods"})
