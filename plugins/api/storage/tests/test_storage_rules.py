"""The validation of drivers, classes and attachments: one row for each rule, with the texts of Kubernetes."""

import pytest
from hyperkube_api.storage.csi_drivers import default_csi_driver, validate_csi_driver
from hyperkube_api.storage.csi_nodes import validate_csi_node_update
from hyperkube_api.storage.csi_storage_capacities import validate_csi_storage_capacity
from hyperkube_api.storage.storage_classes import default_storage_class, validate_storage_class
from hyperkube_api.storage.volume_attachments import validate_volume_attachment, validate_volume_attachment_update
from hyperkube_api.storage.volume_attributes_classes import validate_volume_attributes_class_update

ONE = {"matchLabelExpressions": [{"key": "k", "values": ["a", "b"]}]}
SAME = {"matchLabelExpressions": [{"key": "k", "values": ["b", "a"]}]}
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


def messages(errors):
    """Return each error as a short row: where, what kind, and the detail or the value."""
    return [f"{error.path} {error.reason.removeprefix('FieldValue')} {error.detail or error.value}" for error in errors]


def a_class(**members):
    obj = {"metadata": {"name": "x"}, "provisioner": "p.example.com", **members}
    default_storage_class(obj)
    return obj


def a_driver(**spec):
    obj = {"metadata": {"name": "d.example.com"}, "spec": dict(spec)}
    default_csi_driver(obj)
    return obj


def a_node(**driver):
    return {"metadata": {"name": "n"}, "spec": {"drivers": [{"name": "d.example.com", "nodeID": "1", **driver}]}}


def an_attachment(status=None, **spec):
    base = {"attacher": "d.example.com", "nodeName": "n", "source": {"persistentVolumeName": "pv"}}
    return {"metadata": {"name": "a"}, "spec": {**base, **spec}, "status": status or {}}


@pytest.mark.parametrize(
    ("errors", "rows"),
    [
        (validate_storage_class(a_class(parameters={str(index): "" for index in range(513)} | {"": ""})), [
            "parameters TooLong may not be more than 512 bytes",
        ]),
        (validate_storage_class(a_class(allowedTopologies=[ONE, SAME])), [
            "allowedTopologies[1].matchLabelExpressions Duplicate ",
        ]),
        (validate_storage_class(a_class(allowedTopologies=[{}])), [
            "allowedTopologies[0].matchLabelExpressions Duplicate ",
        ]),
        (validate_csi_driver({"spec": {}}), [
            "spec.attachedRequired Required ", "spec.podInfoOnMount Required ", "spec.storageCapacity Required ",
        ]),
        (validate_csi_driver(a_driver(volumeLifecycleModes=["X"], tokenRequests=[
            {"audience": "a"}, {"audience": "a", "expirationSeconds": 1}, {"audience": "b", "expirationSeconds": 1},
        ])), [
            "spec.tokenRequests[1].audience Duplicate a",
            "spec.tokenRequests[2].expirationSeconds Invalid may not specify a duration less than 10 minutes",
            'spec.volumeLifecycleModes NotSupported supported values: "Persistent", "Ephemeral"',
        ]),
        (validate_csi_node_update(a_node(nodeID="2"), a_node()), ["spec.drivers Invalid field is immutable"]),
        (validate_csi_node_update(a_node(allocatable={"count": 2}), a_node()), []),
        (validate_csi_storage_capacity({"storageClassName": "c", "capacity": "-1", "maximumVolumeSize": "-1"}), [
            "capacity Invalid must be greater than or equal to 0",
        ]),
        (validate_volume_attachment(an_attachment(attacher="")), [
            "spec.attacher Required ", "spec.attacher Required ",
        ]),
        (validate_volume_attachment(an_attachment(source={"persistentVolumeName": "A_"})), [
            f"spec.source.persistentVolumeName Invalid {SUBDOMAIN}",
        ]),
        (validate_volume_attachment_update(
            an_attachment({"attachError": {"message": "m" * 1025, "errorCode": -1}}), an_attachment()
        ), [
            "status.attachError.message TooLong may not be more than 262144 bytes",
            "status.attachError.errorCode Invalid must be between 0 and 2147483647, inclusive",
        ] * 2),
        (validate_volume_attributes_class_update(
            {"driverName": "d.example.com"}, {"driverName": "d.example.com", "parameters": {"a": "b"}}
        ), [
            "parameters Required must contain at least one key/value pair",
            "parameters Forbidden updates to parameters are forbidden.",
            "parameters Required must contain at least one key/value pair",
        ]),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused(errors, rows):
    assert messages(errors) == rows
