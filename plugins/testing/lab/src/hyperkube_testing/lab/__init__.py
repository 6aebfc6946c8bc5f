"""A laboratory of nodes: machines made of namespaces, joined by a bridge, with containerd and images of their own.

::

    with Lab() as lab:
        node = lab.node("node-1")
        node.run("ctr", "--namespace", "k8s.io", "images", "ls")

Each place has its own network, mount, UTS, IPC and PID namespaces, and its own ``/run``, ``/etc``, ``/var/lib`` and
``/var/log``; nodes have cgroups of their own, too. Nothing outside them is touched, and nothing of them stays, however
the process that made them ends. It needs root.
"""

from hyperkube_testing.lab.lab import Lab
from hyperkube_testing.lab.node import Node
from hyperkube_testing.lab.place import Place
from hyperkube_testing.lab.program import Program
from hyperkube_testing.lab.registry import Registry
from hyperkube_testing.lab.requirements import missing_for_nodes, missing_for_places

__all__ = ["Lab", "Node", "Place", "Program", "Registry", "missing_for_nodes", "missing_for_places"]
