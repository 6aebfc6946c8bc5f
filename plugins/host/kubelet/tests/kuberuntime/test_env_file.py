"""Files of environment variables in volumes."""

import os

import pytest
from hyperkube_host.kubelet.kuberuntime.env_file import LARGEST_FILE, parse_env_file, read_below


def test_comments_empty_lines_and_long_values_are_read():
    text = "# settings\n\nA='alpha'\nQ='two words'\nL='one\ntwo'\nE=''"

    assert parse_env_file(text) == {"A": "alpha", "Q": "two words", "L": "one\ntwo", "E": ""}


@pytest.mark.parametrize("text", ["A=alpha\n", "A\n", "A='x' y\n", "='x'\n", "A='x\n"])
def test_another_line_is_refused_with_its_number(text):
    with pytest.raises(ValueError, match="at line 2"):
        parse_env_file("B='b'\n" + text)


def test_a_file_is_read_within_its_volume_only(tmp_path):
    volume = tmp_path / "volume"
    volume.mkdir()
    (tmp_path / "secret").write_text("S='s'")
    (volume / "way").symlink_to(tmp_path / "secret")
    (volume / "app.env").write_text("A='a'")
    os.mkfifo(volume / "pipe")
    (volume / "large").write_bytes(b"#" * (LARGEST_FILE + 1))

    assert read_below(str(volume), "app.env") == b"A='a'"
    assert read_below(str(volume), "pipe") == b""
    for path in ("way", "../secret", "nosuch", "large"):
        with pytest.raises(OSError, match=r"no such|No such|too large"):
            read_below(str(volume), path)
