"""The validation of Jobs."""

import pytest
from hyperkube_api.batch.jobs.defaults import default_job
from hyperkube_api.batch.jobs.strategy import JobStrategy
from hyperkube_api.batch.jobs.validation.job import validate_job
from hyperkube_api.batch.jobs.validation.status import validate_job_status_update
from hyperkube_api.batch.jobs.validation.update import validate_job_update

from hyperkube.machinery.objects import copy_object

UID = "11111111-2222-3333-4444-555555555555"
CODES = {"operator": "In", "values": [1]}


def a_job(**spec):
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j", "namespace": "default", "uid": UID},
        "spec": {"template": {"spec": pod}, **copy_object(spec)},
    }
    default_job(job)
    if not job["spec"]["manualSelector"]:
        JobStrategy()._generate_selector(job, job["spec"])
    return job


def messages(errors):
    return [str(error) for error in errors]


INDEXED = {"completionMode": "Indexed", "completions": 5, "parallelism": 5}


LIMIT_OF_FIVE = "must be less than or equal to 5 (the number of specified completions)"


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({"completionMode": "X"}, [
            'spec.completionMode: Unsupported value: "X": supported values: "NonIndexed", "Indexed"',
        ]),
        ({"maxFailedIndexes": 1, "managedBy": "x"}, [
            "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
            'spec.managedBy: Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo")',
            "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode",
        ]),
        ({**INDEXED, "completions": 100001, "parallelism": 10001, "backoffLimitPerIndex": 1, "maxFailedIndexes": 10001}, [
            ("spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above "
            "100000 and used with backoff limit per index"),
            ("spec.maxFailedIndexes: Invalid value: 10001: must be less than or equal to 10000 when completions are "
            "above 100000 and used with backoff limit per index"),
        ]),
        ({"successPolicy": {"rules": [{"succeededCount": 1}]}}, [
            ('spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}: '
            "requires indexed completion mode"),
        ]),
        ({**INDEXED, "successPolicy": {"rules": []}}, [
            ("spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is "
            "specified"),
        ]),
        ({**INDEXED, "successPolicy": {"rules": [{}]}}, [
            ("spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be "
            "specified"),
        ]),
        ({**INDEXED, "successPolicy": {"rules": [{"succeededIndexes": "x"}]}}, [
            ('spec.successPolicy.rules[0].succeededIndexes: Invalid value: "x": error parsing succeededIndexes: cannot '
            'convert string to integer for index: "x"'),
        ]),
        ({**INDEXED, "successPolicy": {"rules": [{"succeededIndexes": "3-2"}]}}, [
            ('spec.successPolicy.rules[0].succeededIndexes: Invalid value: "3-2": error parsing succeededIndexes: '
            "non-increasing order, previous: 3, current: 2"),
        ]),
        ({**INDEXED, "successPolicy": {"rules": [{"succeededIndexes": "0-2,2"}]}}, [
            ('spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0-2,2": error parsing succeededIndexes: '
            "non-increasing order, previous: 2, current: 2"),
        ]),
        ({**INDEXED, "successPolicy": {"rules": [{"succeededIndexes": "0-1-2"}]}}, [
            ('spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0-1-2": error parsing succeededIndexes: the '
            'fragment "0-1-2" violates the requirement that an index interval can have at most two parts separated by '
            "'-'"),
        ]),
        ({**INDEXED, "successPolicy": {"rules": [{"succeededIndexes": "1,5", "succeededCount": 9}]}}, [
            ('spec.successPolicy.rules[0].succeededIndexes: Invalid value: "1,5": error parsing succeededIndexes: too '
            'large index: "5"'),
            f"spec.successPolicy.rules[0].succeededCount: Invalid value: 9: {LIMIT_OF_FIVE}",
            ("spec.successPolicy.rules[0].succeededCount: Invalid value: 9: must be less than or equal to 0 (the number "
            "of indexes in the specified succeededIndexes field)"),
        ]),
        ({**INDEXED, "successPolicy": {"rules": [{"succeededIndexes": "0-2", "succeededCount": 4}]}}, [
            ("spec.successPolicy.rules[0].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number "
            "of indexes in the specified succeededIndexes field)"),
        ]),
        ({"podFailurePolicy": {"rules": [{"action": ""}]}}, [
            ('spec.podFailurePolicy.rules[0].action: Required value: valid values: ["Count" "FailIndex" "FailJob" '
            '"Ignore"]'),
            ("spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is "
            "required"),
        ]),
        ({"podFailurePolicy": {"rules": [
            {"action": "Ignore", "onExitCodes": CODES, "onPodConditions": [{"type": "A", "status": "True"}]}
        ]}}, [
            ("spec.podFailurePolicy.rules[0]: Invalid value: specifying both OnExitCodes and OnPodConditions is not "
            "supported"),
        ]),
        ({"selector": {"matchLabels": {"a": "b"}}}, [
            'spec.selector: Invalid value: {"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":"' + UID + '"}}: '
            "`selector` not auto-generated",
            ('spec.template.metadata.labels: Invalid value: {"batch.kubernetes.io/controller-uid":"' + UID + '",'
            f'"batch.kubernetes.io/job-name":"j","controller-uid":"{UID}","job-name":"j"'
            "}: `selector` does not match template `labels`"),
        ]),
        ({"manualSelector": True}, [
            "spec.selector: Required value",
            "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
        ]),
    ],
)  # fmt: skip
def test_a_new_job_that_breaks_a_rule_is_refused(spec, errors):
    assert messages(validate_job(a_job(**spec))) == errors


def test_a_generated_label_may_not_be_another():
    job = a_job()
    job["spec"]["template"]["metadata"]["labels"]["job-name"] = "k"

    assert [(error.path, error.detail) for error in validate_job(job)] == [
        ("spec.template.metadata.labels[job-name]", "must be 'j'")
    ]


def test_the_name_of_an_indexed_job_leaves_room_for_the_indexes():
    job = a_job(**INDEXED)
    job["metadata"]["name"] = name = "a" * 62
    labels = job["spec"]["template"]["metadata"]["labels"]
    labels["job-name"] = labels["batch.kubernetes.io/job-name"] = name

    text = f"will not able to create pod with invalid DNS label: {name}-4"
    assert messages(validate_job(job)) == [f'metadata.name: Invalid value: "{name}": {text}']


def changed(job, **spec):
    new = copy_object(job)
    new["spec"].update(copy_object(spec))
    return new


@pytest.mark.parametrize(
    ("old", "change", "errors"),
    [
        ({}, {"parallelism": -1}, ["spec.parallelism: Invalid value: -1: must be greater than or equal to 0"] * 2),
        ({}, {"completions": 9}, ["spec.completions: Invalid value: 9: field is immutable"]),
        (INDEXED, {"completions": 9}, [
            "spec.completions: Invalid value: 9: can only be modified in tandem with spec.parallelism",
        ]),
        (INDEXED, {"completions": 9, "parallelism": 9}, []),
        (INDEXED, {"backoffLimitPerIndex": 0}, ["spec.backoffLimitPerIndex: Invalid value: 0: field is immutable"]),
        (INDEXED, {"successPolicy": {"rules": [{"succeededCount": 1}]}}, [
            ('spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}: field is '
            "immutable"),
        ]),
        ({}, {"podFailurePolicy": {"rules": [{"action": "Ignore", "onExitCodes": CODES}]}, "podReplacementPolicy": "Failed"}, [
            ('spec.podFailurePolicy: Invalid value: {"Rules":[{"Action":"Ignore","OnExitCodes":{"ContainerName":null,'
            '"Operator":"In","Values":[1]},"OnPodConditions":null}]}: field is immutable'),
        ]),
    ],
)  # fmt: skip
def test_an_update_that_breaks_a_rule_is_refused(old, change, errors):
    job = a_job(**old)

    assert messages(validate_job_update(changed(job, **change), job)) == errors


SUSPENDED = {"type": "Suspended", "status": "True"}


@pytest.mark.parametrize(
    ("suspended", "status", "paths"),
    [
        pytest.param(False, {}, ["spec.template"], id="running"),
        pytest.param(True, {}, [], id="never started"),
        pytest.param(True, {"startTime": "2024-01-01T00:00:00Z"}, ["spec.template"], id="started"),
        pytest.param(True, {"startTime": "2024-01-01T00:00:00Z", "conditions": [SUSPENDED]}, [], id="stopped"),
        pytest.param(True, {"active": 1}, ["spec.template"], id="still busy"),
    ],
)
def test_a_job_that_is_held_back_may_be_sent_elsewhere_and_get_other_resources(suspended, status, paths):
    old = {**a_job(suspend=suspended), "status": status}
    job = copy_object(old)
    job["spec"]["template"]["spec"]["nodeSelector"] = {"a": "b"}
    job["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}

    assert [error.path for error in validate_job_update(job, old)] == paths


def test_the_image_of_a_job_that_is_held_back_stays():
    old = a_job(suspend=True)
    job = copy_object(old)
    job["spec"]["template"]["spec"]["containers"][0]["image"] = "another"

    assert [error.path for error in validate_job_update(job, old)] == ["spec.template.spec"]


def held(*kinds):
    return [{"type": kind, "status": "True"} for kind in kinds]


T1, T2 = "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"


WRONG = "status.conditions: Invalid value: "


DONE = {"startTime": T1, "completionTime": T2, "conditions": held("SuccessCriteriaMet", "Complete")}


@pytest.mark.parametrize(
    ("spec", "before", "status", "errors"),
    [
        ({}, {}, {"uncountedTerminatedPods": {"succeeded": ["", "a"], "failed": ["a"]}}, [
            'status.uncountedTerminatedPods.succeeded[0]: Invalid value: "": must not be empty',
            'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
        ]),
        ({}, {}, {"completionTime": T1}, [
            (f'status.completionTime: Invalid value: "{T1}": cannot set completionTime when there is no Complete=True '
            "condition"),
        ]),
        ({}, {}, {**DONE, "startTime": T2, "completionTime": T1}, [
            f'status.completionTime: Invalid value: "{T1}": completionTime cannot be set before startTime',
        ]),
        ({}, {}, {**DONE, "startTime": None}, [
            "status.startTime: Required value: startTime is required for finished job",
        ]),
        ({}, {}, {**DONE, "terminating": 1, "uncountedTerminatedPods": {"failed": ["u"]}}, [
            ('status.uncountedTerminatedPods: Invalid value: {"Succeeded":null,"Failed":["u"]}: uncountedTerminatedPods '
            "needs to be empty for finished job"),
            "status.terminating: Invalid value: 1: terminating>0 is invalid for finished job",
        ]),
        ({}, {}, {"startTime": T1, "conditions": held("Failed")}, [
            WRONG + "cannot set Failed=True condition without the FailureTarget=true condition",
        ]),
        ({}, {}, {"conditions": held("SuccessCriteriaMet", "FailureTarget")}, [
            WRONG + "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
        ]),
        (INDEXED, {}, {"completedIndexes": "9"}, [
            'status.completedIndexes: Invalid value: "9": error parsing completedIndexes: too large index: "9"',
        ]),
        (INDEXED, {"completedIndexes": "9"}, {"completedIndexes": "9", "active": 1}, []),
        ({}, {}, {"completedIndexes": "0"}, [
            ('status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed '
            "completion mode"),
        ]),
        (INDEXED, {}, {"failedIndexes": "1"}, [
            ('status.failedIndexes: Invalid value: "1": cannot set non-null failedIndexes when backoffLimitPerIndex is '
            "null"),
        ]),
        ({**INDEXED, "backoffLimitPerIndex": 1}, {}, {"completedIndexes": "0-2", "failedIndexes": "2-3"}, [
            'status.failedIndexes: Invalid value: "2-3": failedIndexes and completedIndexes overlap at index: 2',
        ]),
        ({}, {}, {"ready": 1}, ["status.ready: Invalid value: 1: cannot set more ready pods than active"]),
        ({}, DONE, {"startTime": T1, "completionTime": T2, "conditions": held("SuccessCriteriaMet")}, [
            (f'status.completionTime: Invalid value: "{T2}": cannot set completionTime when there is no Complete=True '
            "condition"),
            WRONG + "cannot disable the terminal Complete=True condition",
        ]),
        ({}, {"failed": 2, "succeeded": 2}, {"failed": 1, "succeeded": 1}, [
            "status.failed: Invalid value: 1: cannot decrease the failed counter",
            "status.succeeded: Invalid value: 1: cannot decrease the succeeded counter",
        ]),
        (INDEXED, {"succeeded": 2}, {"succeeded": 1}, []),
        ({}, DONE, {**DONE, "completionTime": T1}, [
            f'status.completionTime: Invalid value: "{T1}": completionTime cannot be mutated',
        ]),
        ({}, {"startTime": T1}, {}, [
            "status.startTime: Required value: startTime cannot be removed for unsuspended job",
        ]),
        ({"suspend": True}, {"startTime": T1}, {}, []),
        ({}, {"conditions": held("SuccessCriteriaMet")}, {}, [
            WRONG + "cannot disable the SuccessCriteriaMet=True condition",
        ]),
    ],
)  # fmt: skip
def test_a_report_that_breaks_a_rule_is_refused(spec, before, status, errors):
    job = a_job(**spec)

    assert messages(validate_job_status_update({**job, "status": status}, {**job, "status": before})) == errors
