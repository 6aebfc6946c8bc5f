"""Volumes belong to the group of their pod."""

import os
import stat

import pytest
from hyperkube_host.kubelet.volumemanager.pod_volumes import PodVolume
from hyperkube_host.kubelet.volumemanager.volume_ownership import group_of_volume, set_volume_ownership

from hyperkube.hookspecs.volume import VolumeSpec

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")]
POD = {"spec": {"securityContext": {"fsGroup": 3000}}}


@pytest.fixture
def volume(tmp_path):
    folder = tmp_path / "volume"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "file").write_text("x")
    (folder / "sub" / "file").chmod(0o600)
    (tmp_path / "outside").write_text("x")
    (tmp_path / "outside").chmod(0o600)
    (folder / "way").symlink_to(tmp_path / "outside")
    return folder


def facts(path):
    found = path.lstat()
    return found.st_gid, stat.S_IMODE(found.st_mode)


def test_members_of_the_group_may_write(volume):
    set_volume_ownership(str(volume), 3000, read_only=False)

    assert facts(volume / "sub" / "file") == (3000, 0o660)
    assert facts(volume / "sub") == (3000, 0o2775)
    assert facts(volume)[0] == 3000


def test_members_may_only_read_what_follows_the_api(volume):
    set_volume_ownership(str(volume), 3000, read_only=True)

    assert facts(volume / "sub" / "file") == (3000, 0o640)


def test_a_link_is_given_and_not_what_it_leads_to(volume, tmp_path):
    set_volume_ownership(str(volume), 3000, read_only=False)

    assert facts(volume / "way")[0] == 3000
    assert facts(tmp_path / "outside") == (0, 0o600)


def test_a_volume_that_is_right_is_left_alone_where_the_pod_says_so(volume):
    set_volume_ownership(str(volume), 3000, read_only=False)
    (volume / "sub" / "file").chmod(0o600)

    set_volume_ownership(str(volume), 3000, read_only=False, on_root_mismatch=True)

    assert facts(volume / "sub" / "file") == (3000, 0o600)


@pytest.mark.parametrize(
    ("volume", "group"), [({"emptyDir": {}}, 3000), ({"secret": {}}, 3000), ({"hostPath": {"path": "/"}}, None)]
)
def test_what_is_the_nodes_own_is_not_given_away(volume, group):
    entry = PodVolume(
        name="v", plugin_name="x", plugin=object(), spec=VolumeSpec(volume={"name": "v", **volume}), unique_name="x/v"
    )

    assert group_of_volume(POD, entry) == group
    assert group_of_volume({"spec": {}}, entry) is None
