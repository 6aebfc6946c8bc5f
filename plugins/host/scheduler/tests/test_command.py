"""kube-scheduler --write-config-to: what the flags come down to, as a file that comes down to the same."""

import pytest

pytest.importorskip("hyperkube_scheduler.cluster_autoscaler_provider")

from hyperkube_host.scheduler.command import COMMAND

from hyperkube.machinery.codecs.yaml import loads
from hyperkube.machinery.errors import UsageError


def run(arguments):
    COMMAND.run(COMMAND.parse(arguments))


def test_a_provider_is_written_and_reads_as_itself(tmp_path):
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"

    run(["--algorithm-provider=ClusterAutoscalerProvider", f"--write-config-to={first}"])
    run([f"--config={first}", f"--write-config-to={second}"])

    written, _ = loads(first.read_bytes())
    names = [row["name"] for row in written["profiles"][0]["plugins"]["score"]["enabled"]]
    assert written["kind"] == "KubeSchedulerConfiguration"
    assert "NodeResourcesMostAllocated" in names
    assert second.read_bytes() == first.read_bytes()


def test_a_policy_is_written_as_todays_configuration(tmp_path):
    policy, written = tmp_path / "policy.json", tmp_path / "written.yaml"
    policy.write_text('{"kind": "Policy", "priorities": [{"name": "LeastRequestedPriority", "weight": 3}]}')

    run([f"--policy-config-file={policy}", f"--write-config-to={written}"])

    plugins = loads(written.read_bytes())[0]["profiles"][0]["plugins"]
    assert plugins["score"]["enabled"] == [{"name": "NodeResourcesLeastAllocated", "weight": 3}]


def test_a_folder_that_is_missing_is_one_line(tmp_path):
    with pytest.raises(UsageError, match=r"cannot write '.*/missing/file': No such file or directory"):
        run([f"--write-config-to={tmp_path}/missing/file"])
