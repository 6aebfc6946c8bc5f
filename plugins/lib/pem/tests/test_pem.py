"""The blocks of a text in PEM."""

import pytest
from hyperkube_lib.pem import split_pem

ONE = b"-----BEGIN A-----\nYQ==\n-----END A-----\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ONE, [("A", b"YQ==\n")]),
        (b"words\n" + ONE + b"more\n" + ONE, [("A", b"YQ==\n")] * 2),
        (ONE.replace(b"\n", b"\r\n"), [("A", b"YQ==\r\n")]),
        (b"-----BEGIN A-----\n-----END A-----", [("A", b"")]),
        (b"-----BEGIN A-----\nproc: x\n\nYQ==\n-----END A-----\n", [("A", b"proc: x\n\nYQ==\n")]),
        (b"-----BEGIN A-----\nx\n" + ONE, [("A", b"YQ==\n")]),
        (b"-----BEGIN B-----\nx\n-----END C-----\n" + ONE, [("A", b"YQ==\n")]),
        (b"x-----BEGIN A-----\nYQ==\n-----END A-----\n", []),
        (b"-----BEGIN A\nYQ==\n-----END A-----\n", []),
        (b"-----BEGIN A-----\nYQ==\n", []),
        (b"-----BEGIN A-----", []),
        (b"-----BEGIN -----END -----\n-----END -----\n", []),
        (b"", []),
    ],
    ids=range(13),
)
def test_blocks_are_found_as_go_finds_them(text, expected):
    assert list(split_pem(text)) == expected


@pytest.mark.parametrize(
    "line", [b"-----BEGIN A-----\n", b"-----BEGIN %d-----\n-----END x-----\n", b"-----END A-----\n"]
)
def test_a_megabyte_of_halves_takes_no_time(line):
    text = b"".join(line.replace(b"%d", b"%d" % number) for number in range((1 << 20) // len(line)))

    assert list(split_pem(text)) == []
