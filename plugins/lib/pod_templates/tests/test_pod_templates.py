"""Pod templates are found where each kind of workload keeps them."""

from hyperkube_lib.pod_templates import template_of


def test_every_workload_has_its_template_at_its_place():
    template = {"spec": {"containers": []}}

    assert template_of({"kind": "Deployment", "spec": {"template": template}}) is template
    assert template_of({"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": template}}}}) is template
    assert template_of({"kind": "PodTemplate", "template": template}) is template
    assert template_of(template, "Pod") is template
    assert template_of({"kind": "Service", "spec": {}}) is None
    assert template_of({"kind": "ReplicationController", "spec": {}}) is None
