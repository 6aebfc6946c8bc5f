from base64 import b64encode
from datetime import UTC, datetime

import pytest
from hyperkube_lib.bootstrap_tokens import data_of, has_expired, seconds_left

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)


def secret(**data):
    return {"data": {key.replace("_", "-"): b64encode(value).decode() for key, value in data.items()}}


def test_values_are_read_as_text_and_what_is_none_is_missing():
    found = secret(token_id=b"abcdef", broken=b"\xff")
    found["data"]["mangled"] = "x"

    assert data_of(found) == {"token-id": "abcdef"}
    assert data_of({}) == {}


@pytest.mark.parametrize(
    ("expiration", "left"),
    [
        (None, None),
        (b"", None),
        (b"2030-01-01T12:01:00Z", 60.0),
        (b"2030-01-01T13:01:00+01:00", 60.0),
        (b"2030-01-01T12:00:00Z", 0.0),
        (b"2029-01-01T12:00:00Z", 0.0),
        (b"tomorrow", 0.0),
        (b"\xff", 0.0),
    ],
    ids=["never", "empty", "later", "elsewhere", "now", "long ago", "unreadable", "no text"],
)
def test_how_long_a_token_is_good(expiration, left):
    subject = secret(expiration=expiration) if expiration is not None else secret()

    assert seconds_left(subject, NOW) == left
    assert has_expired(subject, NOW) is (left == 0)
