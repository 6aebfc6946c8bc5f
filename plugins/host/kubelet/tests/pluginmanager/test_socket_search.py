"""Drivers of volumes on nodes without a plugin manager that runs."""

import socket

import pytest
from hyperkube_host.kubelet.pluginmanager.driver_handler import DriverHandler
from hyperkube_host.kubelet.pluginmanager.plugin_manager import PluginRefused
from hyperkube_host.kubelet.pluginmanager.socket_search import SocketSearch

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.clock import SystemClock


class Kind:
    """Takes drivers, but not those of version 0."""

    driver_type = "CSIPlugin"

    def __init__(self):
        self.known = []

    def validate_driver(self, name, endpoint, versions):
        if versions == ("0",):
            raise VolumeFailed(f"{name} at {endpoint} is too old")

    def register_driver(self, name, endpoint, versions, node_name):
        self.known.append((name, endpoint, versions, node_name))

    def deregister_driver(self, name, endpoint):
        self.known = [one for one in self.known if one[:2] != (name, endpoint)]


def test_without_sockets_there_is_no_plugin_manager(tmp_path):
    search = SocketSearch(tmp_path / "registry", [Kind()], "n", SystemClock())
    search.run()
    (tmp_path / "registry").mkdir()
    search.run()
    idle = search._manager
    with socket.socket(socket.AF_UNIX) as driver:
        driver.bind(str(tmp_path / "registry" / "d.sock"))
        search.run()
        found = search._manager
        search.close()

    assert idle is None
    assert found is not None


def test_a_driver_is_handed_to_its_kind_with_the_nodes_name():
    kind = Kind()
    handler = DriverHandler(kind, "n")

    handler.validate("d", "/sock", ("1.0.0",))
    handler.register("d", "/sock", ("1.0.0",))
    registered = list(kind.known)
    handler.deregister("d", "/sock")

    assert registered == [("d", "/sock", ("1.0.0",), "n")]
    assert kind.known == []
    with pytest.raises(PluginRefused, match="d at /sock is too old"):
        handler.validate("d", "/sock", ("0",))
