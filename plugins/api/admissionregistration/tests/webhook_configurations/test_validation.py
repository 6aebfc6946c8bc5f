"""The validation of webhook configurations."""

import pytest
from hyperkube_api.admissionregistration.webhook_configurations.validation import validate_webhooks

LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)
DOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
WEBHOOK = {
    "name": "w.example.com",
    "clientConfig": {"url": "https://h"},
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}


def texts(errors):
    return [str(error) for error in errors]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"sideEffects": None}, ["webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun"]),
        (
            {"admissionReviewVersions": ["1"]},
            [
                f'webhooks[0].admissionReviewVersions[0]: Invalid value: "1": {LABEL}',
                'webhooks[0].admissionReviewVersions: Invalid value: ["1"]: must include at least one of v1, v1beta1',
            ],
        ),
        (
            {"clientConfig": {"service": {"name": "a"}}},
            ["webhooks[0].clientConfig.service.name: Required value"],
        ),
        (
            {"clientConfig": {"service": {"name": "a", "namespace": "b", "path": "//"}}},
            ['webhooks[0].clientConfig.service.path: Invalid value: "//": segment[0] may not be empty'],
        ),
        (
            {"clientConfig": {"service": {"name": "a", "namespace": "b", "path": "/a//B/"}}},
            [
                'webhooks[0].clientConfig.service.path: Invalid value: "/a//B/": segment[1] may not be empty',
                f'webhooks[0].clientConfig.service.path: Invalid value: "/a//B/": segment[2]: {DOMAIN}',
            ],
        ),
    ],
)
def test_webhooks(change, expected):
    assert texts(validate_webhooks({"webhooks": [{**WEBHOOK, **change}]})) == expected
