"""Following flow schemas: what happens while the first lists are still being read."""

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


def test_it_rests_until_all_first_lists_are_there_and_misses_none():
    client = FakeClient(SystemClock())
    client.create(PRIORITY_LEVEL_CONFIGURATIONS, LEVEL)
    client.create(FLOW_SCHEMAS, SCHEMA)
    informers, control = InformerFactory(client), Control()
    levels, schemas = informers.informer(PRIORITY_LEVEL_CONFIGURATIONS), informers.informer(FLOW_SCHEMAS)
    flows = FlowConfiguration(
        control, EveryResource(), informers, client, list, SystemClock(), logging.getLogger("hyperkube.test")
    )

    flows.start()
    levels.refresh()
    assert not flows.synced()
    assert control.generation == 1
    schemas.refresh()

    assert eventually(flows.synced)
    flows.close()
    assert control.generation > 1
