"""Warnings for replication controllers."""

from hyperkube_api.core.replication_controllers.strategy import ReplicationControllerStrategy

ALIASES = {"spec": {"hostAliases": [{"ip": "1.1.1.1"}, {"ip": "1.1.1.1"}]}}
DUPLICATE = 'spec.hostAliases[1].ip: duplicate ip "1.1.1.1"'
DOTS = (
    "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "
    "a DNS label is recommended: [must not contain dots]"
)


def test_a_replication_controller_is_warned_of_its_name_once_and_of_its_template_when_it_changes():
    obj = {"metadata": {"name": "a.b", "generation": 1}, "spec": {"template": ALIASES}}
    changed = {**obj, "metadata": {"name": "a.b", "generation": 2}}
    strategy = ReplicationControllerStrategy()

    assert strategy.warnings(None, obj, None) == [DOTS, f"spec.template.{DUPLICATE}"]
    assert strategy.warnings(None, obj, obj) == []
    assert strategy.warnings(None, changed, obj) == [f"spec.template.{DUPLICATE}"]
