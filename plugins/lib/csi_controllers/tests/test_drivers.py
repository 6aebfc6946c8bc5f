"""Which drivers are called, and from where they are known."""

import tempfile
import threading
from pathlib import Path

import pytest
from hyperkube_lib.csi import CsiFailed
from hyperkube_lib.csi.memory_driver import MemoryDriver
from hyperkube_lib.csi.server import CsiServer
from hyperkube_lib.csi_controllers import Driver, Drivers, DriverSettings

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import UsageError

NAME = "memory.csi.example.com"


def test_without_any_there_is_nothing_to_do():
    drivers = Drivers(DriverSettings(), {}, FakeClock())

    assert (drivers.are_none, drivers.may_come, drivers.get(NAME), drivers.names()) == (True, False, None, [])


def test_drivers_within_the_process_and_at_endpoints():
    settings = DriverSettings(csi_endpoint=("other.example.com=unix:///run/other.sock",))
    asked = []
    drivers = Drivers(
        settings, {NAME: MemoryDriver()}, FakeClock(), lambda where: asked.append(where) or MemoryDriver()
    )

    assert drivers.names() == [NAME, "other.example.com"]
    assert drivers.get(NAME).can() == {"CREATE_DELETE_VOLUME", "PUBLISH_UNPUBLISH_VOLUME", "EXPAND_VOLUME"}
    assert drivers.get("other.example.com") is drivers.get("other.example.com")
    assert asked == ["unix:///run/other.sock"]


@pytest.mark.parametrize("text", ["unix:///run/x.sock", "x=/run/x.sock", "=unix:///x"])
def test_an_endpoint_that_is_none(text):
    with pytest.raises(UsageError, match=r"--csi-endpoint: .* is not NAME=unix:///PATH"):
        Drivers(DriverSettings(csi_endpoint=(text,)), {}, FakeClock())


def test_what_a_driver_can_is_asked_again_after_it_was_away():
    memory = MemoryDriver()
    driver = Driver(NAME, memory)
    driver.can()
    driver.can()
    before = memory.calls.count("GetPluginCapabilities")
    memory.fail_before["DeleteVolume"] = "UNAVAILABLE"

    with pytest.raises(CsiFailed):
        driver.control("DeleteVolume", {"volume_id": "v", "secrets": {}})
    driver.can()

    assert (before, memory.calls.count("GetPluginCapabilities")) == (1, 2)
    assert memory.requests["DeleteVolume"] == {"volume_id": "v"}


@pytest.fixture
def short_path():
    """A folder whose path leaves room for a socket's name: the kernel takes 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="csi-") as folder:
        yield Path(folder)


def test_a_driver_of_the_node_introduces_itself(short_path):
    clock, registry = FakeClock(), short_path / "registry"
    drivers = Drivers(DriverSettings(csi_plugins_registry=str(registry)), {}, clock)
    assert drivers.get(NAME) is None
    server = CsiServer(MemoryDriver(), f"unix://{short_path / 'csi.sock'}", str(registry))
    server.start()
    try:
        assert drivers.get(NAME) is None, "the folder was looked into a moment ago"
        clock.advance(10)
        found = drivers.get(NAME)
        wanted = {"name": "a", "capacity_range": {"required_bytes": 5}, "volume_capabilities": [{"mount": {}}]}
        made = found.control("CreateVolume", wanted)

        assert made["volume"]["volume_id"] == "vol-a"
        assert drivers.names() == [NAME]
        with pytest.raises(CsiFailed, match=r"rpc error: code = NotFound desc = volume x does not exist"):
            found.control("ControllerPublishVolume", {"volume_id": "x", "node_id": "n"})
    finally:
        drivers.close()
        server.close()
    assert not list(registry.iterdir())


class Hanging(MemoryDriver):
    """A driver that does not answer before it is let."""

    def __init__(self):
        super().__init__()
        self.asked, self.let = threading.Event(), threading.Event()

    def call(self, service, method, request):
        self.asked.set()
        assert self.let.wait(60)
        return super().call(service, method, request)


def test_a_driver_that_hangs_keeps_no_other_waiting(short_path):
    hanging, registry, own = Hanging(), short_path / "registry", "own.example.com"
    drivers = Drivers(
        DriverSettings(csi_plugins_registry=str(registry)),
        {own: MemoryDriver()},
        FakeClock(),
        lambda _where: hanging,
    )
    server = CsiServer(MemoryDriver(), f"unix://{short_path / 'csi.sock'}", str(registry))
    server.start()
    looking = threading.Thread(target=drivers.get, args=(NAME,), daemon=True)
    looking.start()
    try:
        assert hanging.asked.wait(60)

        assert drivers.get(own) is not None
        assert drivers.names() == [own]
    finally:
        hanging.let.set()
        looking.join(60)
        server.close()
    assert drivers.get(NAME) is not None
    drivers.close()
