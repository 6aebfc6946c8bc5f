"""Keeps the routes to the pods of other nodes: watches the nodes, and changes what is to change."""

from __future__ import annotations

import json
import logging
import subprocess
import threading
from collections.abc import Sequence

from hyperkube_network.bridge.routes import (
    PROTOCOL,
    VXLAN,
    VXLAN_ID,
    VXLAN_OVERHEAD,
    VXLAN_PORT,
    Route,
    commands,
    hardware_address,
    internal_ips,
    wanted_routes,
)

from hyperkube.client.client import Client
from hyperkube.client.informer import Informer
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object

_TIMEOUT_SECONDS = 30.0


class NodeRoutes:
    """The routes of one node; what an earlier run left that is not wanted any more goes with the first change."""

    def __init__(self, client: Client, clock: Clock, name: str, logger: logging.Logger) -> None:
        """Watch nodes with `client`, for the node `name`."""
        self._name = name
        self._logger = logger
        self._lock = threading.Lock()
        self._routes: frozenset[Route] = frozenset()
        self._tunnel_of = ""
        self._informer = Informer(client, clock, NODES)
        self._informer.add_handler(lambda _node: self.sync(), self._changed, lambda _node: self.sync())
        self._informer.when_synced(self.sync)

    def start(self) -> None:
        """Begin to watch."""
        self._informer.start()

    def close(self) -> None:
        """Stop; the routes stay, as the pods do."""
        self._informer.stop()

    def _changed(self, old: Object, new: Object) -> None:
        if (old.get("spec"), internal_ips(old)) != (new.get("spec"), internal_ips(new)):
            self.sync()

    def sync(self) -> None:
        """Make the routes what the nodes ask for; nothing before all nodes are known."""
        if not self._informer.has_synced():
            return
        with self._lock:
            nodes = self._informer.list()
            after = wanted_routes(nodes, self._name, _on_link)
            own = next((internal_ips(node) for node in nodes if node["metadata"]["name"] == self._name), [])
            if any(route.tunnel for route in after):
                if not own:
                    return  # the node has no address yet; its own change brings this here again
                self._make_tunnel(own[0])
            if not self._routes:
                self._remove_left(after)
            done = set(self._routes & after)
            for line in commands(self._routes, after):
                self._run(line)
            done |= after
            self._routes = frozenset(done)

    def _make_tunnel(self, ip: str) -> None:
        """Make the device with the hardware address that the other nodes expect."""
        if self._tunnel_of == ip:
            return
        mac = hardware_address(ip)
        link = ["ip", "link", "add", VXLAN, "address", mac, "type", "vxlan", "id", str(VXLAN_ID), "local", ip]
        _quietly(["ip", "link", "del", VXLAN])
        self._run([*link, "dstport", str(VXLAN_PORT), "nolearning"])
        self._run(["ip", "link", "set", VXLAN, "mtu", str(_mtu_to(ip) - VXLAN_OVERHEAD), "up"])
        self._tunnel_of = ip
        self._routes = frozenset(route for route in self._routes if not route.tunnel)

    def _remove_left(self, after: frozenset[Route]) -> None:
        kept = {route.cidr for route in after}
        for family in ("-4", "-6"):
            for entry in _json(["ip", family, "-j", "route", "show", "proto", PROTOCOL]):
                if entry["dst"] not in kept:
                    self._run(["ip", family, "route", "del", entry["dst"], "proto", PROTOCOL])

    def _run(self, line: Sequence[str]) -> None:
        problem = _quietly(line)
        if problem:
            self._logger.warning("%s: %s", " ".join(line), problem)


def _on_link(address: str) -> bool:
    """Tell whether an address is on one of the node's links."""
    found = _json(["ip", "-j", "route", "get", address])
    return bool(found) and "gateway" not in found[0] and "via" not in found[0]


def _mtu_to(ip: str) -> int:
    """Return the MTU of the interface that has an address, 1500 if none has."""
    for link in _json(["ip", "-j", "addr"]):
        if any(entry.get("local") == ip for entry in link.get("addr_info", ())):
            return int(link["mtu"])
    return 1500


def _json(line: Sequence[str]) -> list[Object]:
    try:
        done = subprocess.run(line, capture_output=True, check=False, timeout=_TIMEOUT_SECONDS)
        found: list[Object] = json.loads(done.stdout or b"[]")
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return []
    return found


def _quietly(line: Sequence[str]) -> str:
    """Run a program; return what it complains about, or the empty string."""
    try:
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=_TIMEOUT_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return done.stderr.strip() or f"exit status {done.returncode}" if done.returncode else ""
