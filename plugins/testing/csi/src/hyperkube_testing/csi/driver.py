# ruff: noqa: D102 - tests, whose names are their docstrings
"""The contract, in three parts as the specification's services; those of a call that a driver has not are skipped."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from hyperkube_lib.csi import CONTROLLER, IDENTITY, NODE, CsiCalls
from hyperkube_testing.csi.calls import CALLS, NODE_CALLS, USE, Asked

from hyperkube.machinery.names import dns1123_subdomain
from hyperkube.testing.harness import SkipTest

MI = 1 << 20
UNKNOWN = "no-such-volume"
_LONGEST_NAME, _LONGEST_ID = 63, 256


class CsiDriverContract:
    """The promises of a CSI driver, as tests.

    A subclass gives the driver as pytest fixture ``driver``, with fixtures of its own for what that needs. Whatever the
    tests make they delete again.

    Attributes:
        parameters: of the class of the volumes that are made.
        size: of these volumes, in bytes.
        mounts: whether its node service mounts, which takes root: where there is none, those tests are skipped.
    """

    parameters: ClassVar[Mapping[str, str]] = {}
    size: ClassVar[int] = 8 * MI
    mounts: ClassVar[bool] = True

    def asked(self, driver: CsiCalls) -> Asked:
        """Return the driver with the ways to ask it."""
        return Asked(driver, self.parameters, self.size)

    def maker(self, driver: CsiCalls) -> Asked:
        """Return it if it makes volumes, or skip the test."""
        asked = self.asked(driver)
        asked.needs("CREATE_DELETE_VOLUME")
        return asked

    # the identity service

    def test_its_name_is_a_domain_name(self, driver: CsiCalls) -> None:
        name = driver.call(IDENTITY, "GetPluginInfo", {})["name"]

        assert dns1123_subdomain(name.lower()) == []
        assert len(name) <= _LONGEST_NAME

    def test_it_is_ready(self, driver: CsiCalls) -> None:
        assert (driver.call(IDENTITY, "Probe", {}).get("ready") or {}).get("value", True) is True

    def test_what_it_can_do_is_known(self, driver: CsiCalls) -> None:
        asked = self.asked(driver)

        assert asked.can <= CALLS.keys()
        assert asked.node_can <= NODE_CALLS.keys()
        assert asked.has_controller or not asked.can

    # the controller service

    def test_the_same_request_makes_one_volume(self, driver: CsiCalls) -> None:
        asked = self.maker(driver)

        first, again = asked.create("twice"), asked.create("twice")

        assert first == again
        assert first["capacity_bytes"] >= self.size
        asked.delete(first["volume_id"])

    def test_two_names_are_two_volumes(self, driver: CsiCalls) -> None:
        asked = self.maker(driver)

        found = [asked.create(name)["volume_id"] for name in ("one", "two")]

        assert found[0] != found[1]
        for each in found:
            asked.delete(each)

    def test_a_larger_one_of_the_same_name_is_refused(self, driver: CsiCalls) -> None:
        asked = self.maker(driver)
        made = asked.create("grown")

        wanted = {"required_bytes": made["capacity_bytes"] * 2}
        asked.refuses(
            "ALREADY_EXISTS", CONTROLLER, "CreateVolume",
            name="grown", capacity_range=wanted, volume_capabilities=[USE], parameters=dict(self.parameters),
        )  # fmt: skip
        asked.delete(made["volume_id"])

    def test_a_request_without_name_or_use_is_refused(self, driver: CsiCalls) -> None:
        asked, parameters = self.maker(driver), dict(self.parameters)

        asked.refuses("INVALID_ARGUMENT", CONTROLLER, "CreateVolume", volume_capabilities=[USE], parameters=parameters)
        asked.refuses("INVALID_ARGUMENT", CONTROLLER, "CreateVolume", name="useless", parameters=parameters)

    def test_a_volume_may_be_deleted_twice_and_made_anew(self, driver: CsiCalls) -> None:
        asked = self.maker(driver)

        for _ in range(2):
            made = asked.create("again")
            asked.delete(made["volume_id"])
            asked.delete(made["volume_id"])
        asked.delete(UNKNOWN)
        asked.refuses("INVALID_ARGUMENT", CONTROLLER, "DeleteVolume")

    def test_it_lists_what_there_is(self, driver: CsiCalls) -> None:
        asked = self.maker(driver)
        asked.needs("LIST_VOLUMES")
        made = asked.create("listed")["volume_id"]

        assert made in asked.ids()
        asked.delete(made)
        assert made not in asked.ids()

    def test_it_tells_what_is_free(self, driver: CsiCalls) -> None:
        asked = self.asked(driver)
        asked.needs("GET_CAPACITY")

        assert asked.control("GetCapacity", parameters=dict(self.parameters))["available_capacity"] >= 0

    def test_attaching_and_detaching_may_be_repeated(self, driver: CsiCalls) -> None:
        asked = self.maker(driver)
        asked.needs("PUBLISH_UNPUBLISH_VOLUME")
        made, node = asked.create("attached")["volume_id"], asked.node("NodeGetInfo")["node_id"]

        request = {"volume_id": made, "node_id": node, "volume_capability": USE}
        first, again = (asked.control("ControllerPublishVolume", **request) for _ in range(2))
        for _ in range(2):
            asked.control("ControllerUnpublishVolume", volume_id=made, node_id=node)

        assert first == again
        asked.delete(made)
        asked.control("ControllerUnpublishVolume", volume_id=made, node_id=node)
        asked.refuses("NOT_FOUND", CONTROLLER, "ControllerPublishVolume", **{**request, "volume_id": UNKNOWN})

    def test_a_volume_grows_and_never_shrinks(self, driver: CsiCalls) -> None:
        asked = self.maker(driver)
        asked.needs("EXPAND_VOLUME")
        made, wanted = asked.create("growing")["volume_id"], {"required_bytes": 2 * self.size}

        sizes = [
            asked.control("ControllerExpandVolume", volume_id=made, capacity_range=room, volume_capability=USE)
            for room in (wanted, wanted, {"required_bytes": self.size})
        ]

        assert all(found["capacity_bytes"] >= 2 * self.size for found in sizes)
        asked.delete(made)
        asked.refuses("NOT_FOUND", CONTROLLER, "ControllerExpandVolume", volume_id=UNKNOWN, capacity_range=wanted)

    def test_no_unknown_volume_is_modified(self, driver: CsiCalls) -> None:
        asked = self.asked(driver)
        asked.needs("MODIFY_VOLUME")

        asked.refuses("NOT_FOUND", CONTROLLER, "ControllerModifyVolume", volume_id=UNKNOWN)

    def test_a_snapshot_is_made_and_deleted_once(self, driver: CsiCalls) -> None:
        asked = self.maker(driver)
        asked.needs("CREATE_DELETE_SNAPSHOT")
        made, other = (asked.create(name)["volume_id"] for name in ("origin", "other"))

        first, again = (asked.control("CreateSnapshot", name="s", source_volume_id=made)["snapshot"] for _ in range(2))
        snapshot = first["snapshot_id"]
        asked.refuses("ALREADY_EXISTS", CONTROLLER, "CreateSnapshot", name="s", source_volume_id=other)
        filled = asked.create("filled", volume_content_source={"snapshot": {"snapshot_id": snapshot}})
        for each in (filled["volume_id"], made, other):
            asked.delete(each)
        for _ in range(2):
            asked.control("DeleteSnapshot", snapshot_id=snapshot)

        assert (first["snapshot_id"], first["source_volume_id"]) == (again["snapshot_id"], made)
        assert filled["content_source"] == {"snapshot": {"snapshot_id": snapshot}}

    def test_a_volume_is_made_of_another(self, driver: CsiCalls) -> None:
        asked = self.maker(driver)
        asked.needs("CLONE_VOLUME")
        made = asked.create("cloned")["volume_id"]
        source = {"volume": {"volume_id": made}}

        copy = asked.create("copy", volume_content_source=source)

        assert copy["volume_id"] != made
        assert copy["content_source"] == source
        for each in (copy["volume_id"], made):
            asked.delete(each)

    # the node service

    def test_it_tells_what_the_node_is_called(self, driver: CsiCalls) -> None:
        asked = self.asked(driver)
        info = asked.node("NodeGetInfo")

        assert 0 < len(info["node_id"]) <= _LONGEST_ID
        has_places = "VOLUME_ACCESSIBILITY_CONSTRAINTS" in asked.services
        assert has_places == bool((info.get("accessible_topology") or {}).get("segments"))

    def test_each_step_on_a_node_may_be_repeated(self, driver: CsiCalls, tmp_path: Path) -> None:
        """From nothing to a file that a pod wrote, and back; the next pod finds the file."""
        asked = self._on_a_node(driver)
        made = asked.create("used")["volume_id"]

        (self._up(asked, made, tmp_path / "first") / "file").write_text("kept", encoding="utf-8")
        self._down(asked, made, tmp_path / "first")
        kept = (self._up(asked, made, tmp_path / "next") / "file").read_text(encoding="utf-8")
        self._down(asked, made, tmp_path / "next")

        assert kept == "kept"
        asked.delete(made)

    def test_it_tells_how_full_a_volume_is(self, driver: CsiCalls, tmp_path: Path) -> None:
        asked = self._on_a_node(driver)
        if "GET_VOLUME_STATS" not in asked.node_can:
            raise SkipTest("the node service is not of GET_VOLUME_STATS")
        made = asked.create("measured")["volume_id"]
        place = self._up(asked, made, tmp_path)

        usage = asked.node("NodeGetVolumeStats", volume_id=made, volume_path=str(place))["usage"]
        asked.refuses("NOT_FOUND", NODE, "NodeGetVolumeStats", volume_id=made, volume_path=str(tmp_path / "no"))
        self._down(asked, made, tmp_path)

        assert "BYTES" in {row["unit"] for row in usage}
        asked.delete(made)

    def test_what_is_not_there_is_not_published_but_may_be_taken_away(self, driver: CsiCalls, tmp_path: Path) -> None:
        asked = self._on_a_node(driver)
        places = {"target_path": str(tmp_path / "target"), "staging_target_path": str(tmp_path)}

        asked.node("NodeUnpublishVolume", volume_id=UNKNOWN, target_path=places["target_path"])
        asked.refuses("NOT_FOUND", NODE, "NodePublishVolume", volume_id=UNKNOWN, volume_capability=USE, **places)

    def _on_a_node(self, driver: CsiCalls) -> Asked:
        if self.mounts and os.geteuid() != 0:
            raise SkipTest("mounting takes root")
        return self.maker(driver)

    def _up(self, asked: Asked, volume: str, folder: Path) -> Path:
        """Attach, stage and publish a volume, each twice; return where the pod finds it."""
        staging, target = folder / "staging", folder / "target"
        staging.mkdir(parents=True, exist_ok=True)
        request = {"volume_id": volume, "volume_capability": USE}
        context = {}
        if "PUBLISH_UNPUBLISH_VOLUME" in asked.can:
            node = asked.node("NodeGetInfo")["node_id"]
            answer = asked.control("ControllerPublishVolume", node_id=node, **request)
            context = {"publish_context": answer.get("publish_context") or {}}
        if "STAGE_UNSTAGE_VOLUME" in asked.node_can:
            context["staging_target_path"] = str(staging)
            for _ in range(2):
                asked.node("NodeStageVolume", **request, **context)
        for _ in range(2):
            asked.node("NodePublishVolume", target_path=str(target), **request, **context)
        return target

    def _down(self, asked: Asked, volume: str, folder: Path) -> None:
        """Undo it, each step twice."""
        for _ in range(2):
            asked.node("NodeUnpublishVolume", volume_id=volume, target_path=str(folder / "target"))
        if "STAGE_UNSTAGE_VOLUME" in asked.node_can:
            for _ in range(2):
                asked.node("NodeUnstageVolume", volume_id=volume, staging_target_path=str(folder / "staging"))
        if "PUBLISH_UNPUBLISH_VOLUME" in asked.can:
            node = asked.node("NodeGetInfo")["node_id"]
            asked.control("ControllerUnpublishVolume", volume_id=volume, node_id=node)
