"""What may become of a definition: what names its objects stays; what was wrong before may stay wrong."""

import pytest
from hyperkube_api.apiextensions.defaults import default_definition
from hyperkube_api.apiextensions.validation.definitions import validate_definition_update

from hyperkube.machinery.objects import copy_object

OBJ = {"type": "object"}
APPROVED = "api-approved.kubernetes.io"
V1 = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": OBJ}}
BARE = [{"name": "v1", "served": True, "storage": True}]


def crd(*, names=None, annotations=None, established=False, **spec):
    spec = {"group": "example.com", "scope": "Namespaced", "versions": [V1], **spec}
    spec["names"] = {"plural": "as", "kind": "A", **(names or {})}
    obj = {
        "metadata": {"name": "as.example.com", "annotations": annotations or {}},
        "spec": copy_object(spec),
        "status": {
            "storedVersions": ["v1"],
            "conditions": [{"type": "Established", "status": str(established)}],
        },
    }
    default_definition(obj)
    return obj


def of(**members):
    return crd(versions=[{**V1, "schema": {"openAPIV3Schema": {**OBJ, "properties": members}}}])


def webhook(*reviews, **client):
    client = client or {"url": "https://example.com/x"}
    return {
        "strategy": "Webhook",
        "webhook": {"clientConfig": client, "conversionReviewVersions": list(reviews or ("v1",))},
    }


def trusting(bundle, **more):
    return crd(conversion=webhook(url="https://a", caBundle=bundle), **more)


SET = {"type": "array", "x-kubernetes-list-type": "set", "items": OBJ}
NULLS = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string", "nullable": True}}
EXTRA = {**OBJ, "properties": {"b": {"type": "integer"}}, "default": {"c": 1}}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(crd(), crd(scope="Cluster"), "", id="scope-before"),
        pytest.param(
            crd(established=True),
            crd(scope="Cluster"),
            'spec.scope: Invalid value: "Cluster": field is immutable',
            id="scope-after",
        ),
        pytest.param(crd(), crd(names={"kind": "B"}), "", id="kind-before"),
        pytest.param(
            crd(established=True),
            crd(names={"kind": "B"}),
            'spec.names.kind: Invalid value: "B": field is immutable',
            id="kind-after",
        ),
        pytest.param(crd(), crd(group="b.c"), 'spec.group: Invalid value: "b.c": field is immutable', id="group"),
        pytest.param(
            crd(),
            crd(names={"plural": "bs"}),
            'spec.names.plural: Invalid value: "bs": field is immutable',
            id="plural",
        ),
        pytest.param(crd(group="a.k8s.io"), crd(group="a.k8s.io", scope="Cluster"), "", id="never-approved"),
        pytest.param(
            crd(group="a.k8s.io", annotations={APPROVED: "unapproved"}),
            crd(group="a.k8s.io"),
            f"metadata.annotations[{APPROVED}]: Required value",
            id="not-approved-any-more",
        ),
        pytest.param(crd(preserveUnknownFields=True), crd(preserveUnknownFields=True), "", id="unknown-fields-stay"),
        pytest.param(
            crd(),
            crd(preserveUnknownFields=True),
            "spec.preserveUnknownFields: Invalid value: true",
            id="unknown-fields-come",
        ),
        pytest.param(
            crd(versions=BARE),
            crd(versions=BARE),
            "spec.versions[0].schema.openAPIV3Schema: Required value: because otherwise all fields are pruned",
            id="no-schema",
        ),
        pytest.param(
            crd(versions=BARE, preserveUnknownFields=True),
            crd(versions=BARE, preserveUnknownFields=True),
            "",
            id="no-schema-where-nothing-is-pruned",
        ),
        pytest.param(crd(conversion=webhook("v2")), crd(conversion=webhook("v3")), "", id="reviews-unknown"),
        pytest.param(
            crd(conversion=webhook()),
            crd(conversion=webhook("v3")),
            "spec.conversion.conversionReviewVersions: Invalid value",
            id="reviews-not-known-any-more",
        ),
        pytest.param(
            crd(conversion=webhook(), established=True),
            trusting("eA=="),
            'spec.conversion.webhookClientConfig.caBundle: Invalid value: "eA==": unable to load root certificates',
            id="trust-in-nothing",
        ),
        pytest.param(trusting("eQ==", established=True), trusting("eA=="), "", id="trust-in-nothing-before"),
        pytest.param(of(a=SET), of(a=SET, b=OBJ), "", id="sets-of-objects-stay"),
        pytest.param(of(), of(a=SET), "spec.validation.openAPIV3Schema.properties[a].items", id="sets-of-objects"),
        pytest.param(of(a=NULLS), of(a=NULLS, b=OBJ), "", id="sets-of-nulls-stay"),
        pytest.param(of(a=EXTRA), of(a=EXTRA, b=OBJ), "", id="unpruned-defaults-stay"),
        pytest.param(
            of(),
            of(a=EXTRA),
            "spec.validation.openAPIV3Schema.properties[a].default: Invalid value",
            id="unpruned-defaults",
        ),
    ],
)
def test_what_a_definition_may_become(old, new, expected):
    found = [str(error) for error in validate_definition_update(new, old)]

    assert len(found) == bool(expected), found
    assert all(line.startswith(expected) for line in found)
