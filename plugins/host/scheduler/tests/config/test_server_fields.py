"""The fields of a KubeSchedulerConfiguration that speak of the server act, are named in the log, or are refused."""

from __future__ import annotations

import pytest
from hyperkube_host.scheduler.command import COMMAND
from hyperkube_host.scheduler.config.server_fields import with_server_fields

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues

FILE = """
kind: KubeSchedulerConfiguration
apiVersion: kubescheduler.config.k8s.io/v1
profiles: [{schedulerName: mine}]
podMaxBackoffSeconds: 20
leaderElection: {leaderElect: false, leaseDuration: 30s, resourceName: mine, resourceNamespace: system}
clientConnection: {kubeconfig: /etc/scheduler.conf, qps: 70, burst: 90}
enableProfiling: false
"""


def read(tmp_path, text, **given):
    file = tmp_path / "scheduler.yaml"
    file.write_text(text)
    flags = {name.replace("_", "-"): value for name, value in given.items()}
    return with_server_fields(str(file), COMMAND.all_flags(), FlagValues.of(COMMAND.all_flags(), flags))


def test_they_are_flags_by_other_names(tmp_path, caplog):
    found = read(tmp_path, FILE)

    assert caplog.records == []
    assert (found["leader-elect"], found["leader-elect-lease-duration"]) == (False, 30.0)
    assert (found["leader-elect-resource-name"], found["leader-elect-resource-namespace"]) == ("mine", "system")
    assert (found["kubeconfig"], found["kube-api-qps"], found["kube-api-burst"]) == ("/etc/scheduler.conf", 70.0, 90)
    assert found["profiling"] is False


def test_a_flag_counts_more(tmp_path):
    assert read(tmp_path, FILE, leader_elect=True)["leader-elect"] is True


def test_one_without_effect_is_named(tmp_path, caplog):
    read(tmp_path, "parallelism: 8\npercentageOfNodesToScore: 50\nclientConnection: {contentType: x}\n")

    named = [record.getMessage().partition("field ")[2].partition(" ")[0] for record in caplog.records]
    assert named == ["parallelism", "percentageOfNodesToScore", "clientConnection.contentType"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("leaderElekshun: {}\n", 'strict decoding error: unknown field "leaderElekshun"'),
        ("leaderElection: {leaderElekt: true}\n", 'unknown field "leaderElection.leaderElekt"'),
        ("clientConnection: {qps: many}\n", "invalid argument 'many' for --config: clientConnection.qps"),
    ],
)
def test_what_cannot_be_is_one_line(tmp_path, text, says):
    with pytest.raises(UsageError, match=says):
        read(tmp_path, text)
