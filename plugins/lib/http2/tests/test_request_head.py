"""What the fields of a request must look like (RFC 9113 section 8)."""

from __future__ import annotations

import pytest
from hyperkube_lib.http2.request_head import KnownFields, Malformed, NotAllowed, read_head, read_target

METHOD, SCHEME, PATH = (b":method", b"GET"), (b":scheme", b"https"), (b":path", b"/")
SOUND = [METHOD, SCHEME, (b":authority", b"toy"), PATH]


def test_a_sound_request_is_read() -> None:
    head = read_head([*SOUND, (b"accept", b" application/json ")])

    assert head.method == "GET"
    assert head.known.headers == {"accept": "application/json", "host": "toy"}
    assert head.repeated is None


@pytest.mark.parametrize(
    "fields",
    [
        [SCHEME, PATH],
        [METHOD, PATH],
        [METHOD, METHOD, SCHEME, PATH],
        [*SOUND, (b":status", b"200")],
        [*SOUND, (b":protocol", b"websocket")],
        [METHOD, SCHEME, (b"accept", b"*/*"), PATH],
        [*SOUND, (b"Accept", b"*/*")],
        [*SOUND, (b"", b"x")],
        [*SOUND, (b"a b", b"x")],
        [*SOUND, (b"x", b"a\r\nb: c")],
        [*SOUND, (b"x", b"a\0b")],
        [*SOUND, (b"content-length", b"-1")],
        [*SOUND, (b"content-length", b"1"), (b"content-length", b"2")],
        [*SOUND, (b"host", b"a"), (b"host", b"b")],
        [(b":method", b"G ET"), SCHEME, PATH],
        [METHOD, (b":scheme", b"ftp"), PATH],
    ],
    ids=[
        "no method", "no scheme", "two methods", "a status", "an extended CONNECT", "a pseudo field behind others",
        "upper case", "no name", "a blank in a name", "a line break", "a zero byte", "a negative length", "two lengths",
        "two hosts", "a blank in the method", "another scheme",
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused(fields: list[tuple[bytes, bytes]]) -> None:
    with pytest.raises(Malformed):
        read_head(fields)


@pytest.mark.parametrize("path", [b"", b"pods", b"/a b", b"/a\tb", b"/?" + b"&" * 10_000])
def test_what_is_no_path_is_refused(path: bytes) -> None:
    with pytest.raises(Malformed):
        read_target(path)


@pytest.mark.parametrize("fields", [[METHOD, SCHEME], [METHOD, SCHEME, PATH, PATH]], ids=["none", "two"])
def test_there_is_one_path(fields: list[tuple[bytes, bytes]]) -> None:
    with pytest.raises(Malformed):
        KnownFields().read(fields)


def test_te_may_be_trailers_only() -> None:
    read_head([*SOUND, (b"te", b"trailers")])

    with pytest.raises(NotAllowed):
        read_head([*SOUND, (b"te", b"gzip")])


def test_made_up_fields_do_not_fill_the_memory() -> None:
    known = KnownFields()

    for number in range(2000):
        known.read([*SOUND, (b"x-made-up", b"%d" % number)])
    known.read([*SOUND, (b"x-long", b"x" * 5000)])

    assert len(known._heads) <= 512
