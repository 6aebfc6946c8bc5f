"""Records beside the folders of volumes."""

from pathlib import Path

import pytest
from hyperkube_lib.volume_mount import read_record, record_of, write_record

from hyperkube.hookspecs.volume import VolumeFailed

WORDS = "kind: create {file} err {error}"


def test_a_record_stands_beside_its_folder_and_comes_back(tmp_path):
    file = record_of(tmp_path / "kind" / "a.b-lun-0")

    write_record(file, {"device": "sda"}, WORDS)

    assert file == tmp_path / "kind" / "a.b-lun-0.json"
    assert read_record(file, dict) == {"device": "sda"}


def test_no_record_is_none(tmp_path):
    assert read_record(tmp_path / "none.json", dict) is None


def test_what_cannot_be_written_is_a_failure_in_the_kinds_words(tmp_path):
    (tmp_path / "kind").write_text("")

    with pytest.raises(VolumeFailed, match=r"^kind: create .*/kind/a\.json err "):
        write_record(tmp_path / "kind" / "a.json", {}, WORDS)


@pytest.mark.parametrize("text", ["", "{", '{"other": 1}', "[]", "\udc80"])
def test_what_cannot_be_read_is_a_failure_that_names_the_file(tmp_path: Path, text):
    file = tmp_path / "a.json"
    file.write_bytes(text.encode(errors="surrogateescape"))

    with pytest.raises(VolumeFailed, match=r"^kind: decode .*/a\.json: "):
        read_record(file, lambda found: found["device"], "kind: ")
