"""Fields that are written as they are mean to any reader what they meant."""

from __future__ import annotations

import pytest
from hpack import Decoder
from hyperkube_lib.http2.plain_fields import PlainFields, number

ANSWER = [
    (b":status", b"200"),
    (b"content-type", b"application/json"),
    (b"audit-id", b"8a2c8a0e-8a0e-4c57-9d0a-000000000001"),
    (b"x-kubernetes-pf-flowschema-uid", b""),
]


@pytest.mark.parametrize(
    "fields",
    [
        ANSWER,
        [(b":status", b"404"), (b"content-length", b"12")],
        [(b":status", b"418")],
        [(b":status", b"200"), (b"x" * 127, b"y" * 127), (b"x" * 200, b"y" * 5000)],
        [(b":status", b"200"), (b"warning", "299 - \u00e4".encode("latin-1"))],
    ],
    ids=["of a watch", "with names that have numbers", "a status without one", "long texts", "no ASCII"],
)
def test_a_reader_gets_the_same_fields(fields: list[tuple[bytes, bytes]]) -> None:
    assert list(Decoder().decode(PlainFields().encode(fields), raw=True)) == fields


def test_nothing_is_kept_from_one_answer_to_the_next() -> None:
    writer, reader = PlainFields(), Decoder()

    first, second, third = (writer.encode(ANSWER) for _ in range(3))

    assert all(list(reader.decode(block, raw=True)) == ANSWER for block in (first, second, third))
    assert (len(second), second) == (len(first) - 1, third)
    assert not reader.header_table.dynamic_entries


def test_a_client_that_allows_no_table_finds_none() -> None:
    writer, reader = PlainFields(), Decoder()
    reader.max_allowed_table_size = 0

    writer.header_table_size = 0

    assert list(reader.decode(writer.encode(ANSWER), raw=True)) == ANSWER


@pytest.mark.parametrize(
    ("value", "bits", "written"),
    [(10, 5, b"\x0a"), (1337, 5, b"\x1f\x9a\x0a"), (42, 8, b"\x2a"), (31, 5, b"\x1f\x00"), (159, 5, b"\x1f\x80\x01")],
)
def test_a_number_that_does_not_fit_goes_on_in_further_bytes(value: int, bits: int, written: bytes) -> None:
    assert number(value, bits) == written  # the first three are those of RFC 7541, appendix C.1
