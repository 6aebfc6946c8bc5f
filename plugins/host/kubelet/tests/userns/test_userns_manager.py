"""User namespaces of pods."""

import pytest
from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.userns.userns_manager import LENGTH, UserNamespaceManager, with_id_mappings

from hyperkube.hookspecs.runtime import RuntimeFailed


def manager(tmp_path, supports=True, most_pods=2):
    return UserNamespaceManager(KubeletDirectories(tmp_path), most_pods, lambda _handler: supports)


def pod(uid, **spec):
    return {"metadata": {"uid": uid}, "spec": {"hostUsers": False, **spec}}


def first(namespace):
    return namespace["uids"][0]["host_id"]


def test_each_pod_has_ids_of_its_own_which_outlive_the_kubelet(tmp_path):
    before = manager(tmp_path)
    found = [first(before.mappings(pod(uid), "")) for uid in ("a", "b", "a")]

    assert found == [LENGTH, 2 * LENGTH, LENGTH]
    assert first(manager(tmp_path).mappings(pod("b"), "")) == 2 * LENGTH


def test_the_ids_of_a_removed_pod_are_free_again(tmp_path):
    given = manager(tmp_path)
    given.mappings(pod("a"), "")
    given.mappings(pod("b"), "")
    with pytest.raises(RuntimeFailed, match="could not find an empty slot"):
        given.mappings(pod("c"), "")

    KubeletDirectories(tmp_path).remove_pod("a")

    assert first(given.mappings(pod("c"), "")) == LENGTH


def test_a_pod_of_the_nodes_users_has_no_mapping(tmp_path):
    assert manager(tmp_path).mappings({"metadata": {"uid": "a"}, "spec": {}}, "") is None


def test_a_handler_without_user_namespaces_is_told(tmp_path):
    with pytest.raises(RuntimeFailed, match="runtime does not support user namespaces"):
        manager(tmp_path, supports=False).mappings(pod("a"), "")
    assert manager(tmp_path, supports=None).mappings(pod("a"), "") is None


def test_mounts_of_the_node_are_mapped():
    ids = [{"host_id": LENGTH, "length": LENGTH}]

    assert with_id_mappings({"host_path": "/a"}, {"uids": ids, "gids": ids})["uidMappings"] == ids
    assert with_id_mappings({"image": {}}, {"uids": ids, "gids": ids}) == {"image": {}}
