"""What is wrong with bindings: one row for each rule, in Kubernetes' words."""

import pytest
from hyperkube_api.rbac.role_bindings import validate_binding

ROLE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"}
RBAC = "rbac.authorization.k8s.io"


@pytest.mark.parametrize(
    ("subject", "namespaced", "errors"),
    [
        ({"kind": "User", "apiGroup": RBAC, "name": "u", "namespace": "n"}, True, []),
        ({"kind": "Group", "apiGroup": "", "name": "u"}, True, [
            f'subjects[0].apiGroup: Unsupported value: "": supported values: "{RBAC}"',
        ]),
        ({"kind": "ServiceAccount", "name": "a"}, True, []),
        ({"kind": "ServiceAccount", "name": "a", "apiGroup": "x"}, False, [
            'subjects[0].apiGroup: Unsupported value: "x": supported values: ""',
            "subjects[0].namespace: Required value",
        ]),
    ],
)  # fmt: skip
def test_a_subject_that_breaks_a_rule_is_refused(subject, namespaced, errors):
    binding = {"roleRef": ROLE, "subjects": [subject]}

    assert [str(error) for error in validate_binding(binding, namespaced=namespaced)] == errors
