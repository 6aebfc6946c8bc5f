"""The storage class of a local cluster."""

import pytest
from hyperkube_command.local_cluster import storage_class
from hyperkube_command.local_cluster.storage_class import ensure_storage_class

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import STORAGE_CLASSES


@pytest.fixture(autouse=True)
def _installed(monkeypatch):
    monkeypatch.setattr(storage_class, "installed", lambda _family: {"hyperkube.dev/local-path": None})


def test_a_new_cluster_gets_a_default_class():
    client = FakeClient()

    assert ensure_storage_class(client)
    (made,) = client.objects(STORAGE_CLASSES)
    assert made["provisioner"] == "hyperkube.dev/local-path"
    assert made["metadata"]["annotations"] == {"storageclass.kubernetes.io/is-default-class": "true"}


def test_one_that_is_there_stays_as_it_is():
    client = FakeClient()
    own = {"metadata": {"name": "local-path", "annotations": {}}, "provisioner": "example.com/other"}
    client.seed(STORAGE_CLASSES, own)

    assert not ensure_storage_class(client)
    assert client.objects(STORAGE_CLASSES)[0]["provisioner"] == "example.com/other"


def test_without_its_provisioner_there_is_none(monkeypatch):
    monkeypatch.setattr(storage_class, "installed", lambda _family: {})
    client = FakeClient()

    assert not ensure_storage_class(client)
    assert client.objects(STORAGE_CLASSES) == []
