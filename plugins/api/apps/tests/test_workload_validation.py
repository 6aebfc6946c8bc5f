"""The validation of workloads: one row for each rule, with the texts of Kubernetes."""

import pytest
from hyperkube_api.apps.daemon_sets.defaults import default_daemon_set
from hyperkube_api.apps.daemon_sets.validation import validate_daemon_set, validate_daemon_set_status
from hyperkube_api.apps.deployments.defaults import default_deployment
from hyperkube_api.apps.deployments.validation import validate_deployment, validate_deployment_status
from hyperkube_api.apps.replica_sets import default_replica_set, validate_replica_set
from hyperkube_api.apps.stateful_sets.defaults import default_stateful_set
from hyperkube_api.apps.stateful_sets.validation import validate_stateful_set, validate_stateful_set_status

from hyperkube.machinery.objects import copy_object

NO_MATCH = "`selector` does not match template `labels`"
UNMATCHED = f'spec.template.metadata.labels: Invalid value: {{"a":"b"}}: {NO_MATCH}'
SELECTOR = {"matchLabels": {"a": "b"}}
WRONG = {"matchLabels": {"a b": "c"}}
NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
UNREADABLE = [
    f'spec.selector.matchLabels: Invalid value: "a b": {NAME_PART}',
    'spec.selector: Invalid value: {"matchLabels":{"a b":"c"}}: invalid label selector',
]
KINDS = {
    "Deployment": (default_deployment, validate_deployment),
    "ReplicaSet": (default_replica_set, validate_replica_set),
    "DaemonSet": (default_daemon_set, validate_daemon_set),
    "StatefulSet": (default_stateful_set, validate_stateful_set),
}


def a_workload(kind, **spec):
    pod = {"containers": [{"name": "c", "image": "i"}]}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod}
    obj = {
        "kind": kind,
        "metadata": {"name": "x", "namespace": "default"},
        "spec": {"selector": SELECTOR, "template": template, **spec},
    }
    obj = copy_object(obj)
    KINDS[kind][0](obj)
    return obj


def messages(errors):
    return [str(error) for error in errors]


@pytest.mark.parametrize(
    ("kind", "spec", "errors"),
    [
        ("Deployment", {"selector": None}, ["spec.selector: Required value", UNMATCHED]),
        ("ReplicaSet", {"selector": None}, ["spec.selector: Required value", UNMATCHED]),
        ("StatefulSet", {"selector": None}, ["spec.selector: Required value", UNMATCHED]),
        ("DaemonSet", {"selector": None}, [UNMATCHED]),
        ("Deployment", {"selector": {}}, ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"]),
        ("ReplicaSet", {"selector": {}}, ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"]),
        ("DaemonSet", {"selector": {}}, ["spec.selector: Invalid value: {}: empty selector is invalid for daemonset"]),
        ("Deployment", {"selector": WRONG, "template": {}}, UNREADABLE),
        ("ReplicaSet", {"selector": WRONG}, UNREADABLE),
        ("StatefulSet", {"selector": WRONG}, [
            UNREADABLE[0], 'spec.selector: Invalid value: {"matchLabels":{"a b":"c"}}',
        ]),
        ("DaemonSet", {"selector": WRONG}, UNREADABLE[:1]),
        ("Deployment", {"strategy": {"type": "X", "rollingUpdate": {"maxSurge": "5%"}}}, [
            ('spec.strategy: Unsupported value: {"Type":"X","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"5%"}}: '
            'supported values: "Recreate", "RollingUpdate"'),
        ]),
        ("DaemonSet", {"updateStrategy": {"type": "X"}}, [
            ('spec.updateStrategy: Unsupported value: {"Type":"X","RollingUpdate":null}: supported values: '
            '"RollingUpdate", "OnDelete"'),
        ]),
        ("StatefulSet", {"updateStrategy": {"type": "OnDelete", "rollingUpdate": {}}}, [
            ('spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":0,"MaxUnavailable":null}: only allowed for '
            "updateStrategy 'RollingUpdate'"),
        ]),
        ("StatefulSet", {"updateStrategy": {"type": "X"}}, [
            ('spec.updateStrategy: Invalid value: {"Type":"X","RollingUpdate":null}: must be \'RollingUpdate\' or '
            "'OnDelete'"),
        ]),
        ("StatefulSet", {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "X"}}, [
            ('spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "X": supported values: "Retain", '
            '"Delete"'),
        ]),
    ],
)  # fmt: skip
def test_a_workload_that_breaks_a_rule_is_refused(kind, spec, errors):
    assert messages(KINDS[kind][1](a_workload(kind, **spec))) == errors


@pytest.mark.parametrize(
    "check",
    [
        validate_deployment_status,
        validate_daemon_set_status,
        validate_stateful_set_status,
    ],
)
def test_collisions_are_never_forgotten(check):
    errors = check({"status": {}}, {"status": {"collisionCount": 2}})

    assert messages(errors) == ["status.collisionCount: Invalid value: 0: cannot be decremented"]
