"""What Amazon answers, as the hook names it; and that no message has credentials in it."""

import pytest
from hyperkube_cloud.aws.calls import Calls, Refused
from hyperkube_cloud.aws.config import AwsConfig, ServiceOverride

from hyperkube.hookspecs.cloud import CloudThrottled, CloudUnavailable


class Answers:
    """A client whose one operation fails."""

    def __init__(self, code, status):
        from botocore.exceptions import ClientError

        told = {"Error": {"Code": code, "Message": "why"}, "ResponseMetadata": {"HTTPStatusCode": status}}
        self.error = ClientError(told, "DescribeThings")

    def describe_things(self):
        raise self.error


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("RequestLimitExceeded", 503, CloudThrottled),
        ("Throttling", 400, CloudThrottled),
        ("InternalError", 500, CloudUnavailable),
        ("AuthFailure", 401, CloudUnavailable),
        ("InvalidParameterValue", 400, Refused),
    ],
)
def test_each_error_has_its_kind(monkeypatch, code, status, kind):
    calls = Calls(AwsConfig())
    monkeypatch.setattr(calls, "_client", lambda _service: Answers(code, status))

    with pytest.raises(kind, match=f"describe_things: {code}: why") as raised:
        calls.call("ec2", "describe_things")

    assert type(raised.value) is kind


def test_a_cloud_that_is_not_there_is_unavailable_and_no_secret_is_told(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key-of-the-test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-test")
    nowhere = ServiceOverride(url="http://127.0.0.1:1")
    calls = Calls(AwsConfig(zone="us-east-1a", overrides={"ec2": nowhere}))

    with pytest.raises(CloudUnavailable) as raised:
        calls.call("ec2", "describe_instances")

    assert "of-the-test" not in str(raised.value)
    assert raised.value.__cause__ is None


class Endless:
    """A client whose list names a next page for ever."""

    def __init__(self):
        self.asked = []

    def describe_things(self, **arguments):
        self.asked.append(arguments)
        return {"Things": [{"Id": "a"}], "NextToken": "again", "ResponseMetadata": {"RequestId": "r"}}


def test_a_list_without_an_end_is_no_list(monkeypatch):
    client = Endless()
    calls = Calls(AwsConfig())
    monkeypatch.setattr(calls, "_client", lambda _service: client)

    with pytest.raises(CloudUnavailable, match="describe_things: a page of the list names an earlier one as the next"):
        list(calls.pages("ec2", "describe_things", "Things"))

    assert client.asked == [{}, {"NextToken": "again"}]
