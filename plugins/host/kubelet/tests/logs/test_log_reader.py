"""Reading logs."""

import os

import pytest
from hyperkube_host.kubelet.logs.log_reader import (
    LONGEST_LINE,
    LogOptions,
    LogReader,
    last_text,
    parse_since,
    tail_offset,
)

LINES = (
    b"2030-01-01T00:00:01.000000000Z stdout F one\n"
    b"2030-01-01T00:00:02.000000000Z stderr F two\n"
    b"2030-01-01T00:00:03.000000000Z stdout P thr\n"
    b"2030-01-01T00:00:03.000000000Z stdout F ee\n"
)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "0.log"
    path.write_bytes(LINES)
    return path


def read(path, **options):
    reader = LogReader(path, LogOptions(**options))
    try:
        return b"".join(reader.read())
    finally:
        reader.close()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, b"one\ntwo\nthree\n"),
        ({"tail_lines": 2}, b"three\n"),
        ({"tail_lines": 0}, b""),
        ({"tail_lines": 99}, b"one\ntwo\nthree\n"),
        ({"limit_bytes": 5}, b"one\nt"),
        ({"stream": "stderr"}, b"two\n"),
        ({"since": parse_since("2030-01-01T00:00:02Z")}, b"two\nthree\n"),
        ({"timestamps": True, "stream": "stderr"}, b"2030-01-01T00:00:02.000000000Z two\n"),
    ],
)
def test_options_choose_what_is_read(path, options, text):
    assert read(path, **options) == text


def test_a_line_of_any_length_is_read_in_pieces(path):
    path.write_bytes(b"2030-01-01T00:00:01Z stdout F " + b"x" * (3 * LONGEST_LINE) + b"\n" + LINES)
    reader = LogReader(path, LogOptions())

    pieces = list(reader.read())
    reader.close()

    assert b"".join(pieces) == b"x" * (3 * LONGEST_LINE) + b"\none\ntwo\nthree\n"
    assert max(map(len, pieces)) < 2 * LONGEST_LINE


def test_bytes_that_are_no_text_are_of_no_stream(path):
    path.write_bytes(b"\xff \xfe F one\n" + LINES)

    assert read(path, stream="stderr") == b"two\n"


def test_what_a_read_would_wait_for_is_no_log(tmp_path):
    os.mkfifo(tmp_path / "fifo")

    for options in ({}, {"tail_lines": 1}):
        with pytest.raises(FileNotFoundError, match="is no regular file"):
            read(tmp_path / "fifo", **options)


def test_a_log_can_be_followed_into_a_fresh_file(path):
    reader = LogReader(path, LogOptions(tail_lines=0))
    path.rename(path.with_suffix(".old"))
    path.write_bytes(b"2030-01-01T00:00:09.000000000Z stdout F new\n")

    assert list(reader.read()) == []
    assert reader.was_rotated()
    reader.reopen()
    assert list(reader.read()) == [b"new\n"]
    reader.close()


def test_a_half_written_line_waits_for_its_end(path):
    reader = LogReader(path, LogOptions(tail_lines=0))
    with path.open("ab") as out:
        out.write(b"2030-01-01T00:00:09.0Z stdout F ha")
        out.flush()
        assert list(reader.read()) == []
        out.write(b"lf\n")
        out.flush()
        assert list(reader.read()) == [b"half\n"]
    reader.close()


def test_the_tail_of_a_big_file_is_found(tmp_path):
    path = tmp_path / "big"
    path.write_bytes(b"".join(b"%07d %s\n" % (number, b"x" * 90) for number in range(5000)))

    assert path.read_bytes()[tail_offset(path, 3) :].startswith(b"0004997 ")


def test_the_last_text_is_bounded(path):
    assert last_text(path, 4, 80) == "ree\n"
    assert last_text(path.with_name("nosuch"), 4, 80) == ""


DOCKER_LINES = (
    b'{"log":"one\\n","stream":"stdout","time":"2030-01-01T00:00:01Z"}\n'
    b'{"log":"two\\n","stream":"stderr","time":"2030-01-01T00:00:02.5Z"}\n'
    b'{"log":"thr","stream":"stdout","time":"2030-01-01T00:00:03.123456789Z"}\n'
    b'{"log":"ee\\n","stream":"stdout","time":"2030-01-01T00:00:03.123456789Z"}\n'
)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, b"one\ntwo\nthree\n"),
        ({"stream": "stderr"}, b"two\n"),
        ({"since": parse_since("2030-01-01T00:00:02Z")}, b"two\nthree\n"),
        ({"timestamps": True, "stream": "stderr"}, b"2030-01-01T00:00:02.500000000Z two\n"),
    ],
    ids=["all", "stream", "since", "timestamps"],
)
def test_lines_of_docker(tmp_path, options, text):
    path = tmp_path / "docker.log"
    path.write_bytes(DOCKER_LINES)

    assert read(path, **options) == text


def test_a_line_of_docker_that_is_cut_off_is_shown_as_it_is(tmp_path):
    path = tmp_path / "docker.log"
    path.write_bytes(b'{"log":"on\n')

    assert read(path) == b'{"log":"on\n'
