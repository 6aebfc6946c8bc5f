"""A MicroTime of now is read in a short way: it has to be what the long one reads."""

from random import Random

import pytest
from hyperkube_lib.protobuf import Protobuf
from hyperkube_lib.protobuf.message_parts import LONGEST_REMEMBERED
from hyperkube_lib.protobuf.wire import WireError, delimited, varint
from hyperkube_lib.protobuf.wire_scalars import any_micro_time, read_micro_time

from hyperkube.machinery.schema import compile_schema


def read(reader, data):
    try:
        return reader(data)
    except WireError as error:
        return str(error)


def test_a_time_of_now_has_six_digits():
    data = b"\x08" + varint(1_767_323_045) + b"\x10" + varint(6_999)

    assert read_micro_time(data) == any_micro_time(data) == "2026-01-02T03:04:05.000006Z"


@pytest.mark.parametrize("seconds", [0, 1, 1 << 28, (1 << 28) - 1, 1_767_323_045, (1 << 35) - 1, 1 << 35, 1 << 62])
@pytest.mark.parametrize("nanos", [0, 1, 999, 1_000, 127_000, 999_999_999, 1_000_000_000, (1 << 35) - 1, 1 << 40])
def test_times_are_read_alike(seconds, nanos):
    data = b"\x08" + varint(seconds) + b"\x10" + varint(nanos)

    assert read(read_micro_time, data) == read(any_micro_time, data)


def test_damaged_times_are_read_alike():
    random = Random(1)
    sound = b"\x08" + varint(1_767_323_045) + b"\x10" + varint(6_999)
    for _ in range(2_000):
        data = bytearray(sound)
        for _ in range(random.randrange(1, 4)):
            data[random.randrange(len(data))] = random.randrange(256)
        piece = bytes(data[: random.randrange(len(data) + 1)]) if random.random() < 0.3 else bytes(data)

        assert read(read_micro_time, piece) == read(any_micro_time, piece), piece


@pytest.mark.parametrize("many", [1, None], ids=["straight code", "loop"])
def test_a_time_with_much_that_is_not_known_is_read(many):
    pytest.importorskip("hyperkube_api.coordination.v1")
    schema = compile_schema("hyperkube_api.coordination.v1:LeaseSpec")
    sound = b"\x08" + varint(1_767_323_045) + b"\x10" + varint(6_999)
    message = delimited(4, sound + delimited(9, bytes(LONGEST_REMEMBERED)))

    codec = Protobuf(many)

    for _ in range(3):
        assert codec.read_message(message, schema)["renewTime"] == "2026-01-02T03:04:05.000006Z"
