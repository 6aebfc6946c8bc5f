"""What access reviews may not say, in Kubernetes' order."""

from types import SimpleNamespace

import pytest
from hyperkube_api.authorization.reviews import review_access, review_local_access, review_own_access

from hyperkube.machinery.errors import Invalid

PATH = {"path": "/version", "verb": "get"}
RESOURCE = {"verb": "get", "resource": "pods"}


@pytest.mark.parametrize(
    ("review", "body", "expected"),
    [
        (
            review_own_access,
            {"metadata": {"name": "a", "labels": {}}, "spec": {"nonResourceAttributes": PATH}},
            ['metadata: Invalid value: {"name":"a"}: must be empty'],
        ),
        (
            review_access,
            {"metadata": {"labels": {"a": "b"}}, "spec": {"nonResourceAttributes": PATH}},
            [
                'spec.user: Invalid value: "": at least one of user or group must be specified',
                'metadata: Invalid value: {"labels":{"a":"b"}}: must be empty',
            ],
        ),
        (
            review_local_access,
            {
                "metadata": {"name": "a", "namespace": "ns"},
                "spec": {"user": "u", "nonResourceAttributes": PATH, "resourceAttributes": RESOURCE},
            },
            [
                (
                    'spec.nonResourceAttributes: Invalid value: {"Path":"/version","Verb":"get"}: cannot be specified in '
                    "combination with resourceAttributes"
                ),
                'metadata: Invalid value: {"name":"a","namespace":"ns"}: must be empty except for namespace',
                'spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace',
                (
                    'spec.nonResourceAttributes: Invalid value: {"Path":"/version","Verb":"get"}: disallowed on this kind '
                    "of request"
                ),
            ],
        ),
    ],
)
def test_reviews_may_not_say(review, body, expected):
    with pytest.raises(Invalid) as caught:
        review(SimpleNamespace(body=body, namespace="ns", user=None))

    causes = caught.value.status()["details"]["causes"]
    assert [f"{cause['field']}: {cause['message']}" for cause in causes] == expected
