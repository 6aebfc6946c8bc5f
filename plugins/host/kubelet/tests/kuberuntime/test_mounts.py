"""The mounts of a container's volumes."""

import re

import pytest
from hyperkube_host.kubelet.kuberuntime.environment import ConfigFailed
from hyperkube_host.kubelet.kuberuntime.mounts import VolumeSources, mounts_of, read_only_volumes
from hyperkube_host.kubelet.volumemanager.sub_paths import SubPath, SubPathFailed


class Asked:
    """Notes the parts of volumes that are asked for."""

    def __init__(self):
        self.asked = []

    def prepare(self, wanted):
        self.asked.append(wanted)
        if wanted.path == "broken":
            raise SubPathFailed("failed to prepare it")
        return f"/ready/{wanted.index}"


def mount(asked=None, **fields):
    container = {"name": "c", "volumeMounts": [{"name": "v", "mountPath": "/data", **fields}]}
    volumes = VolumeSources(paths={"v": "/volume"}, sub_paths=asked or Asked(), pod_uid="u")
    return mounts_of(container, volumes, {"WHO": "me", "NONE": ""})


@pytest.mark.parametrize(
    ("fields", "path"),
    [({"subPath": "a/b"}, "a/b"), ({"subPathExpr": "of/$(WHO)-$$(WHO)"}, "of/me-$(WHO)")],
    ids=["plain", "expression"],
)
def test_a_part_of_a_volume_is_made_ready_before_the_runtime_is_told(fields, path):
    asked = Asked()

    assert mount(asked, **fields) == [{"container_path": "/data", "host_path": "/ready/0"}]
    assert asked.asked == [SubPath(pod_uid="u", container="c", index=0, volume="v", root="/volume", path=path)]


def test_the_whole_of_a_volume_is_its_own_path():
    assert mount() == [{"container_path": "/data", "host_path": "/volume"}]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"subPath": "/a"}, "error SubPath `/a` must not be an absolute path"),
        ({"subPath": "a/../b"}, "unable to provision SubPath `a/../b`: must not contain '..'"),
        ({"subPathExpr": "$(WHO)/$(B)/$(A)/$(NONE)"}, "missing value for A, B, NONE"),
        ({"subPath": "broken"}, "failed to prepare it"),
    ],
)
def test_what_is_no_part_of_a_volume_is_refused(fields, text):
    with pytest.raises(ConfigFailed, match=f"^{re.escape(text)}$"):
        mount(**fields)


@pytest.mark.parametrize("fields", [{"mountPath": "/da\0ta"}, {"subPath": "a\0b"}, {"subPathExpr": "$(WHO)\0"}])
def test_what_is_no_path_is_refused(fields):
    with pytest.raises(ConfigFailed, match="must not contain NUL"):
        mount(**fields)


@pytest.mark.parametrize(
    ("volume", "read_only"),
    [
        ({"configMap": {"name": "a"}}, True),
        ({"secret": {"secretName": "a"}}, True),
        ({"persistentVolumeClaim": {"claimName": "a", "readOnly": True}}, True),
        ({"persistentVolumeClaim": {"claimName": "a"}}, False),
        ({"emptyDir": {}}, False),
    ],
)
def test_what_follows_objects_of_the_api_is_not_written_to(tmp_path, volume, read_only):
    names = read_only_volumes({"spec": {"volumes": [{"name": "v", **volume}]}})
    container = {"name": "c", "volumeMounts": [{"name": "v", "mountPath": "/data"}]}

    (found,) = mounts_of(container, VolumeSources(paths={"v": str(tmp_path)}, sub_paths=Asked(), read_only=names), {})

    assert found.get("readonly", False) is read_only


def test_an_image_is_mounted_by_the_runtime():
    image = {"image": "sha256:1", "user_specified_image": "data:1"}
    container = {"name": "c", "volumeMounts": [{"name": "v", "mountPath": "/data", "subPath": "part"}]}

    found = mounts_of(container, VolumeSources(paths={}, sub_paths=Asked(), images={"v": image}), {})

    assert found == [{"container_path": "/data", "readonly": True, "image": image, "image_sub_path": "part"}]


def test_the_first_mount_of_a_volume_is_labelled_by_the_runtime():
    entries = [{"name": name, "mountPath": f"/{index}"} for index, name in enumerate(["v", "v", "w"])]
    volumes = VolumeSources(paths={"v": "/v", "w": "/w"}, sub_paths=Asked(), relabelled={"v"})

    found = mounts_of({"name": "c", "volumeMounts": entries}, volumes, {})

    assert [mount.get("selinux_relabel", False) for mount in found] == [True, False, False]
