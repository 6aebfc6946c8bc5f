from hyperkube.kinds.templates import selector_of, template_of


def test_every_workload_has_its_template_at_its_place():
    template = {"spec": {"containers": []}}

    assert template_of({"kind": "Deployment", "spec": {"template": template}}) is template
    assert template_of({"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": template}}}}) is template
    assert template_of({"kind": "PodTemplate", "template": template}) is template
    assert template_of(template, "Pod") is template
    assert template_of({"kind": "Service", "spec": {}}) is None
    assert template_of({"kind": "ReplicationController", "spec": {}}) is None


def test_selectors_are_maps_or_objects():
    assert str(selector_of({"kind": "Service", "spec": {"selector": {"a": "b"}}})) == "a=b"
    assert str(selector_of({"kind": "Deployment", "spec": {"selector": {"matchLabels": {"a": "b"}}}})) == "a=b"
    assert selector_of({"spec": {}}).selects_nothing
