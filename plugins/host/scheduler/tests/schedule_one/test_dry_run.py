"""A trial tells what the first filter says once pods are gone, and leaves the table as it was."""

from random import Random

import pytest

pytest.importorskip("numpy")
pytest.importorskip("hyperkube_scheduler.default_provider")

from hyperkube_host.scheduler.framework.algorithm import Algorithm
from hyperkube_host.scheduler.framework.runtime import new_framework
from hyperkube_host.scheduler.schedule_one.dry_run import NodeTableDryRun
from hyperkube_scheduler.default_provider import PROVIDER
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.machinery.clock import FakeClock


def asking(name, cpu, memory, **meta):
    requests = {"cpu": cpu, "memory": memory}
    spec = {"containers": [{"name": "c", "resources": {"requests": requests}}]}
    return {"metadata": {"name": name, "namespace": "default", "uid": name, **meta}, "spec": spec}


@pytest.mark.parametrize(
    ("cpu", "memory", "expected"),
    [
        pytest.param("2", "2Gi", ["Insufficient cpu", "Insufficient memory"], id="it takes all that there is"),
        pytest.param("2", "0", ["Insufficient memory"], id="memory would still be short"),
        pytest.param("2", "1500Mi", [], id="it would fit"),
    ],
)
def test_why_not(cpu, memory, expected):
    client = FakeClient()
    informers = InformerFactory(client)
    informers.start()
    built = new_framework(PROVIDER, client=client, informers=informers, clock=FakeClock(), options={}, gates={})
    nodes = table({"name": "a", "cpu": "2", "memory": "2Gi"})
    stays, goes = asking("stays", "0", "1Gi" if expected else "0"), asking("goes", cpu, memory)
    for each in (stays, goes):
        nodes.put_pod(each, "a")
    new = pod_info(asking("new", "2", "2Gi"), nodes)
    dry_run = NodeTableDryRun(new, nodes, Algorithm(built.filters, built.scores, Random(1)))

    if len(expected) < 2:
        dry_run.remove(0, goes)

    assert (dry_run.fits(0), list(dry_run.why_not(0))) == (not expected, expected)
    dry_run.restore()
    assert len(nodes.pods(0)) == 2
    informers.stop()
