"""The validation of ResourceClaimTemplates."""

from hyperkube_api.resource.resource_claim_templates import validate_template_update
from hyperkube_api.resource.resource_claims.defaults import default_claim_spec

from hyperkube.machinery.objects import copy_object

CLASS = {"deviceClassName": "c"}


def messages(errors):
    """Return each error as a short row: where, what kind, and the detail or the value."""
    return [f"{error.path} {error.reason.removeprefix('FieldValue')} {error.detail or error.value}" for error in errors]


def a_claim(*requests, **devices):
    spec = {"devices": {"requests": list(requests) or [{"name": "r", "exactly": CLASS}], **devices}}
    spec = copy_object(spec)
    default_claim_spec(spec)
    return {"metadata": {"name": "x", "namespace": "default"}, "spec": spec}


def test_the_specification_of_a_template_stays():
    old = {"spec": {"spec": a_claim()["spec"]}}
    new = {"spec": {"metadata": {"labels": {"a": "b"}}, **old["spec"]}}

    assert messages(validate_template_update(new, old)) == ["spec Invalid field is immutable"]
    assert validate_template_update(old, old) == []
