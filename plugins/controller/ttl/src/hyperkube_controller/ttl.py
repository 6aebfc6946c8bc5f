"""ttl: tells kubelets how long they may keep secrets and config maps, longer in larger clusters.

Source: kubernetes ``pkg/controller/ttl/ttl_controller.go``.
"""

from __future__ import annotations

from hyperkube.client.actions import Action, Patch, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.objects import Object, annotations_of, name_of
from hyperkube.plugin import Plugin

ANNOTATION = "node.alpha.kubernetes.io/ttl"
STEPS = ((0, 100, 0), (90, 500, 15), (450, 1000, 30), (900, 2000, 60), (1800, 10_000, 300), (9000, None, 600))
"""(nodes from which a step may be left downwards, nodes up to which it holds, seconds); they overlap on purpose."""


def seconds_for(nodes: int, step: int) -> int:
    """Return the step that a cluster of so many nodes is on, given the one it was on."""
    while step > 0 and nodes < STEPS[step][0]:
        step -= 1
    while (top := STEPS[step][1]) is not None and nodes > top:
        step += 1
    return step


def decide(node: Object, seconds: int) -> list[Action]:
    """Return the patch of a node that says something else."""
    if annotations_of(node).get(ANNOTATION) == str(seconds):
        return []
    return [Patch(NODES, name_of(node), {"metadata": {"annotations": {ANNOTATION: str(seconds)}}})]


class Ttl(Plugin):
    """Annotates nodes."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._step = 0
        self._nodes = self.informers.informer(NODES)
        self._loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        self._nodes.add_handler(self._counted, self._loop.enqueue_update, self._counted)
        return self._loop

    def _counted(self, node: Object) -> None:
        """Look at the node and, when the cluster has come to another step, at all."""
        step = seconds_for(len(self._nodes.list()), self._step)
        if step != self._step:
            self._step = step
            for other in self._nodes.list():
                self._loop.enqueue(other)
        self._loop.enqueue(node)

    def _sync(self, name: str) -> None:
        node = self._nodes.get("", name)
        if node is not None:
            perform(self.client, None, decide(node, STEPS[self._step][2]))
