"""The mounts of a container's volumes."""

from pathlib import Path

import pytest
from hyperkube_host.kubelet.kuberuntime import mounts
from hyperkube_host.kubelet.kuberuntime.environment import ConfigFailed
from hyperkube_host.kubelet.kuberuntime.mounts import VolumeSources, mounts_of, read_only_volumes


def mount(tmp_path, **fields):
    container = {"name": "c", "volumeMounts": [{"name": "v", "mountPath": "/data", **fields}]}
    return mounts_of(container, VolumeSources({"v": str(tmp_path / "volume")}), {"WHO": "me"})


@pytest.fixture(autouse=True)
def volume(tmp_path):
    folder = tmp_path / "volume"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ""),
        ({"subPath": "a/b"}, "a/b"),
        ({"subPath": "a/../c"}, "c"),
        ({"subPathExpr": "of/$(WHO)"}, "of/me"),
    ],
)
def test_a_part_of_a_volume_is_made_when_it_is_missing(tmp_path, volume, fields, expected):
    (found,) = mount(tmp_path, **fields)

    assert found == {"container_path": "/data", "host_path": str(volume / expected).rstrip("/")}
    assert Path(found["host_path"]).is_dir()


@pytest.mark.parametrize("sub_path", ["..", "a/../../x", "way/x", "/../x"])
def test_a_part_cannot_lead_out_of_its_volume(tmp_path, volume, sub_path):
    (tmp_path / "outside").mkdir()
    (volume / "way").symlink_to(tmp_path / "outside")

    with pytest.raises(ConfigFailed, match="leads out of its volume"):
        mount(tmp_path, subPath=sub_path)

    assert list((tmp_path / "outside").iterdir()) == []


def test_a_link_that_appears_meanwhile_is_not_followed(tmp_path, volume, monkeypatch):
    outside = tmp_path / "outside"
    outside.mkdir()
    make = mounts._make_folders

    def swapped(root, names):
        (volume / "a").symlink_to(outside)
        make(root, names)

    monkeypatch.setattr(mounts, "_make_folders", swapped)

    with pytest.raises(ConfigFailed, match="could not be created"):
        mount(tmp_path, subPath="a/b")

    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("fields", [{"mountPath": "/da\0ta"}, {"subPath": "a\0b"}, {"subPathExpr": "$(WHO)\0"}])
def test_what_is_no_path_is_refused(tmp_path, fields):
    with pytest.raises(ConfigFailed, match="must not contain NUL"):
        mount(tmp_path, **fields)


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

    (found,) = mounts_of(container, VolumeSources({"v": str(tmp_path)}, read_only=names), {})

    assert found.get("readonly", False) is read_only


def test_an_image_is_mounted_by_the_runtime():
    image = {"image": "sha256:1", "user_specified_image": "data:1"}
    container = {"name": "c", "volumeMounts": [{"name": "v", "mountPath": "/data", "subPath": "part"}]}

    found = mounts_of(container, VolumeSources({}, {"v": image}), {})

    assert found == [{"container_path": "/data", "readonly": True, "image": image, "image_sub_path": "part"}]
