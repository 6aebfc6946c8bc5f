"""`Lab`: the nodes and the other places of one test run, and the network between them."""

from __future__ import annotations

import contextlib
import itertools
import os
from typing import Self

from hyperkube_testing.lab import network
from hyperkube_testing.lab.docker_node import DockerNode
from hyperkube_testing.lab.node import Node
from hyperkube_testing.lab.place import Place
from hyperkube_testing.lab.registry import Registry

_FIRST_NODE, _FIRST_PLACE = 11, 100
_numbers = itertools.count(1)


class Lab:
    """Places that are made when they are first asked for; a context manager.

    Args:
        disk: the size of each node's disk, which is memory.

    Attributes:
        lan: the router of the link all places are on.
    """

    def __init__(self, *, disk: str = "2g") -> None:
        self._disk = disk
        self._cgroup = f"hyperkube-lab-{os.getpid()}-{next(_numbers)}"
        self._places: dict[str, Place] = {}
        self._node_numbers = itertools.count(1)
        self._place_numbers = itertools.count(_FIRST_PLACE)
        self._open = contextlib.ExitStack()
        self.lan = self._open.enter_context(Place("lan"))
        network.lay_lan(self.lan)

    @property
    def nodes(self) -> list[Node | DockerNode]:
        """The nodes there are so far."""
        return [place for place in self._places.values() if isinstance(place, Node | DockerNode)]

    def node(self, name: str = "node-1", *, disk: str = "") -> Node:
        """Return the node of this name, with containerd running; pods of all nodes reach one another.

        Args:
            name: its host name.
            disk: the size of its disk, the laboratory's unless given; of the first call.
        """
        found = self._places.get(name) or self._join(name, Node, disk)
        assert isinstance(found, Node), f"{name!r} is no node"
        return found

    def docker_node(self, name: str = "docker-1", *, disk: str = "") -> DockerNode:
        """Return the node of this name, with Docker running; see `node`."""
        found = self._places.get(name) or self._join(name, DockerNode, disk)
        assert isinstance(found, DockerNode), f"{name!r} is no node with Docker"
        return found

    def _join(self, name: str, kind: type[Node | DockerNode], disk: str) -> Node | DockerNode:
        number = next(self._node_numbers)
        made = kind(name, number, cgroup=f"{self._cgroup}-{name}", disk=disk or self._disk)
        self._keep(name, made)
        network.join_lan(self.lan, made, _FIRST_NODE - 1 + number)
        network.route_pods(self.lan, made, number)
        for other in self.nodes:
            if other is not made:
                network.route_pods(other, made, number)
                network.route_pods(made, other, other.number)
        return made

    def place(self, name: str, *, cgroups: bool = False, disk: str = "256m") -> Place:
        """Return the place of this name on the nodes' link: a client, a server of the cluster, a registry.

        Args:
            name: its host name.
            cgroups: whether it has cgroups of its own; of the first call.
            disk: the size of its disk; of the first call.
        """
        if name not in self._places:
            made = Place(name, cgroup=f"{self._cgroup}-{name}" if cgroups else "", disk=disk)
            self._keep(name, made)
            network.join_lan(self.lan, made, next(self._place_numbers))
        return self._places[name]

    @property
    def outside(self) -> Place:
        """The place behind the router, 203.0.113.10: not a part of the cluster, and not on its link."""
        if "outside" not in self._places:
            self._keep("outside", Place("outside"))
            network.join_outside(self.lan, self._places["outside"])
        return self._places["outside"]

    def registry(self) -> Registry:
        """Return the registry, ``registry`` on the nodes' link, which asks for a password."""
        return Registry(self.place("registry"))

    def _keep(self, name: str, place: Place) -> None:
        self._places[name] = self._open.enter_context(place)

    def close(self) -> None:
        """Remove everything; idempotent."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
