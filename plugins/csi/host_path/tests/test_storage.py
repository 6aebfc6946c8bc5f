"""The controller service: what is on the disk, and that it is made and deleted whole."""

import shutil
from pathlib import Path
from typing import ClassVar

import pytest
from hyperkube_csi.host_path import HostPath
from hyperkube_lib.csi import CsiFailed
from hyperkube_testing.csi import CsiDriverContract

from hyperkube.plugin import PluginContext

MI = 1 << 20
MOUNT = {"access_mode": {"mode": "SINGLE_NODE_WRITER"}, "mount": {}}
BLOCK = {"access_mode": {"mode": "SINGLE_NODE_WRITER"}, "block": {}}


@pytest.fixture
def driver(tmp_path):
    return HostPath(PluginContext(name="csi-host-path", settings={"dir": str(tmp_path), "node_id": "n1"})).on_host


class TestContract(CsiDriverContract):
    """Of volumes that are folders."""


@pytest.mark.skipif(
    not Path("/dev/loop-control").exists() or not shutil.which("mkfs.ext4"), reason="needs loop devices"
)
class TestContractOfImages(CsiDriverContract):
    parameters: ClassVar = {"backing": "image"}


def make(driver, name="v", size=8 * MI, capability=MOUNT, **more):
    request = {"name": name, "capacity_range": {"required_bytes": size}, "volume_capabilities": [capability], **more}
    return driver.create_volume(request)["volume"]


def image(driver, name="v", size=8 * MI, **more):
    return make(driver, name, size, parameters={"backing": "image"}, **more)


def data(driver, name="v"):
    return driver.storage().volumes.data(name)


def test_without_a_folder_there_is_no_driver():
    driver = HostPath(PluginContext(name="csi-host-path"))

    assert not driver.is_configured()
    assert "on_host" not in vars(driver)


def test_the_same_request_makes_one_volume(driver):
    places = {"preferred": [{"segments": {"k": "n1"}}, {"segments": {"k": "n2"}}]}
    first = make(driver, accessibility_requirements=places)
    second = make(driver, accessibility_requirements=places)

    assert first == second
    assert first == {"volume_id": "v", "capacity_bytes": 8 * MI, "accessible_topology": [{"segments": {"k": "n1"}}]}
    assert [row["volume"]["volume_id"] for row in driver.list_volumes({})["entries"]] == ["v"]


def test_another_request_of_that_name_is_refused(driver):
    make(driver)

    with pytest.raises(CsiFailed, match="code = AlreadyExists"):
        make(driver, size=16 * MI)
    with pytest.raises(CsiFailed, match="code = AlreadyExists"):
        image(driver)


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"name": "v"}, "InvalidArgument"),
        ({"name": "../v", "volume_capabilities": [MOUNT]}, "InvalidArgument"),
        ({"name": "v", "volume_capabilities": [MOUNT], "parameters": {"backing": "tape"}}, "InvalidArgument"),
        ({"name": "v", "volume_capabilities": [MOUNT], "parameters": {"size": "1"}}, "InvalidArgument"),
        (
            {"name": "v", "volume_capabilities": [BLOCK], "capacity_range": {"required_bytes": 1 << 62}},
            "ResourceExhausted",
        ),
        (
            {"name": "v", "volume_capabilities": [MOUNT], "volume_content_source": {"volume": {"volume_id": "x"}}},
            "NotFound",
        ),
    ],
)
def test_what_cannot_be_made(driver, request_, code):
    with pytest.raises(CsiFailed, match=f"code = {code}"):
        driver.create_volume(request_)

    assert driver.list_volumes({})["entries"] == []


def test_what_a_killed_process_left_is_not_taken_for_a_volume(driver, monkeypatch):
    monkeypatch.setattr("hyperkube_csi.host_path.storage._write", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        make(driver)
    monkeypatch.undo()
    before = driver.list_volumes({})["entries"]

    made = make(driver)
    driver.delete_volume({"volume_id": "v"})

    assert (before, made["volume_id"]) == ([], "v")
    assert [path for path in driver.storage()._root.rglob("*") if path.name != "lock" and path.is_file()] == []


def test_copies_have_what_the_original_had(driver):
    make(driver)
    (data(driver) / "folder").mkdir()
    (data(driver) / "folder" / "file").write_text("kept")
    (data(driver) / "link").symlink_to("folder/file")
    driver.create_snapshot({"name": "s", "source_volume_id": "v"})
    (data(driver) / "folder" / "file").write_text("changed")

    made = make(driver, "restored", volume_content_source={"snapshot": {"snapshot_id": "s"}})
    make(driver, "clone", volume_content_source={"volume": {"volume_id": "v"}})

    assert made["content_source"] == {"snapshot": {"snapshot_id": "s"}}
    assert (data(driver, "restored") / "link").read_text() == "kept"
    assert (data(driver, "clone") / "link").read_text() == "changed"


def test_a_copied_image_keeps_its_holes(driver):
    image(driver, size=64 * MI)
    with data(driver).open("r+b") as file:
        file.seek(40 * MI)
        file.write(b"kept")
    image(driver, "clone", 128 * MI, volume_content_source={"volume": {"volume_id": "v"}})

    copy = data(driver, "clone")
    with copy.open("rb") as file:
        file.seek(40 * MI)
        assert file.read(4) == b"kept"
    assert (copy.stat().st_size, copy.stat().st_blocks * 512 < 2 * MI) == (128 * MI, True)


def test_a_copy_is_as_large_as_the_original_and_of_its_backing(driver):
    make(driver)

    with pytest.raises(CsiFailed, match="code = OutOfRange"):
        make(driver, "small", MI, volume_content_source={"volume": {"volume_id": "v"}})
    with pytest.raises(CsiFailed, match="is of backing folder, not image"):
        image(driver, "other", volume_content_source={"volume": {"volume_id": "v"}})


def test_snapshots_outlive_their_volume_and_are_listed_in_pages(driver):
    make(driver)
    for name in ("a", "b", "c"):
        driver.create_snapshot({"name": name, "source_volume_id": "v"})
    driver.delete_volume({"volume_id": "v"})
    first = driver.list_snapshots({"max_entries": 2})
    second = driver.list_snapshots({"max_entries": 2, "starting_token": first["next_token"]})
    driver.delete_snapshot({"snapshot_id": "b"})

    assert [row["snapshot"]["snapshot_id"] for row in first["entries"] + second["entries"]] == ["a", "b", "c"]
    assert "next_token" not in second
    assert driver.list_snapshots({"snapshot_id": "b"})["entries"] == []
    assert first["entries"][0]["snapshot"]["ready_to_use"]


def test_one_node_has_a_volume_and_it_is_not_deleted_meanwhile(driver):
    make(driver)
    publish = {"volume_id": "v", "volume_capability": MOUNT}
    driver.controller_publish_volume({**publish, "node_id": "n1"})
    driver.controller_publish_volume({**publish, "node_id": "n1"})

    with pytest.raises(CsiFailed, match="volume v is attached to n1"):
        driver.controller_publish_volume({**publish, "node_id": "n2"})
    with pytest.raises(CsiFailed, match="volume v is attached to n1"):
        driver.delete_volume({"volume_id": "v"})
    assert driver.controller_get_volume({"volume_id": "v"})["status"] == {"published_node_ids": ["n1"]}
    driver.controller_unpublish_volume({"volume_id": "v", "node_id": "n1"})
    driver.delete_volume({"volume_id": "v"})
    driver.delete_volume({"volume_id": "v"})
    assert driver.list_volumes({})["entries"] == []


def test_an_image_grows_and_nothing_shrinks(driver):
    image(driver)
    grown = driver.controller_expand_volume({"volume_id": "v", "capacity_range": {"required_bytes": 32 * MI}})
    again = driver.controller_expand_volume({"volume_id": "v", "capacity_range": {"required_bytes": 16 * MI}})

    assert grown == again == {"capacity_bytes": 32 * MI, "node_expansion_required": True}
    assert data(driver).stat().st_size == 32 * MI


def test_the_driver_says_what_it_is(driver):
    info = driver.node_get_info({})

    assert info == {
        "node_id": "n1",
        "accessible_topology": {"segments": {"topology.host-path.csi.hyperkube.dev/node": "n1"}},
    }
    assert driver.get_plugin_info({})["name"] == "host-path.csi.hyperkube.dev"
    assert "CLONE_VOLUME" in driver.capabilities("Controller")
    assert driver.get_capacity({})["available_capacity"] > 0
    with pytest.raises(CsiFailed, match="code = Unimplemented desc = unknown method ControllerFly"):
        driver.call("Controller", "ControllerFly", {})


def test_nodes_that_see_one_folder_are_one_place(tmp_path):
    settings = {"dir": str(tmp_path), "node_id": "n1", "place": "shared"}

    info = HostPath(PluginContext(name="csi-host-path", settings=settings)).on_host.node_get_info({})

    assert info["node_id"] == "n1"
    assert list(info["accessible_topology"]["segments"].values()) == ["shared"]
