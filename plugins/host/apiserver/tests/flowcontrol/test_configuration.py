"""The thread that follows flow schemas: what it does while the first lists are still being read."""

import logging

from hyperkube_host.apiserver.flowcontrol.configuration import FlowConfiguration

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import FLOW_SCHEMAS, PRIORITY_LEVEL_CONFIGURATIONS
from hyperkube.machinery.clock import SystemClock
from hyperkube.testing.waiting import eventually

LEVEL = {"kind": "PriorityLevelConfiguration", "metadata": {"name": "l"}, "spec": {"type": "Exempt"}}
SCHEMA = {
    "kind": "FlowSchema", "metadata": {"name": "s"},
    "spec": {"priorityLevelConfiguration": {"name": "l"}, "matchingPrecedence": 1},
}  # fmt: skip


class Control:
    generation = 1

    def configure(self, schemas, levels):
        self.generation += 1


class EveryResource:
    def find(self, resource):
        return resource


class Steps(SystemClock):
    """Makes one call at the beginning of each wait, and notes whether there was then something to wake for."""

    def __init__(self, *calls):
        super().__init__()
        self.calls = [*calls]
        self.rung = []

    def wait(self, event, timeout):
        self.rung.append(event.is_set())
        if self.calls:
            self.calls.pop(0)()
        return super().wait(event, timeout)


def test_it_rests_until_all_first_lists_are_there_and_misses_none():
    client = FakeClient(SystemClock())
    client.create(PRIORITY_LEVEL_CONFIGURATIONS, LEVEL)
    client.create(FLOW_SCHEMAS, SCHEMA)
    informers = InformerFactory(client)
    levels, schemas = informers.informer(PRIORITY_LEVEL_CONFIGURATIONS), informers.informer(FLOW_SCHEMAS)
    clock = Steps(levels.refresh, schemas.refresh)
    flows = FlowConfiguration(
        Control(), EveryResource(), informers, client, list, clock, logging.getLogger("hyperkube.test")
    )

    flows.start()

    assert eventually(flows.synced)
    flows.close()
    assert clock.rung[:2] == [False, False]
