"""Warnings for pod templates."""

from hyperkube_api.core.pod_templates.strategy import PodTemplateStrategy

ALIASES = {"spec": {"hostAliases": [{"ip": "1.1.1.1"}, {"ip": "1.1.1.1"}]}}
DUPLICATE = 'spec.hostAliases[1].ip: duplicate ip "1.1.1.1"'


def test_a_pod_template_is_warned_of_what_it_says():
    assert PodTemplateStrategy().warnings(None, {"template": ALIASES}, None) == [f"template.{DUPLICATE}"]
