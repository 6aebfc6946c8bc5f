"""Files that survive crashes, and are not believed blindly."""

import json

import pytest
from hyperkube_host.kubelet.checkpointmanager.checkpoint_file import (
    CheckpointCorrupt,
    CheckpointFile,
    canonical_json,
)


@pytest.fixture
def checkpoint(tmp_path):
    return CheckpointFile(tmp_path / "folder/state", print_for_hash=canonical_json)


def test_what_was_written_is_read(checkpoint):
    checkpoint.write({"b": 1, "a": {"c": [2]}})

    assert checkpoint.read() == {"b": 1, "a": {"c": [2]}}


def test_no_file_is_no_content(checkpoint):
    assert checkpoint.read() is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"checksum": 1, "a": 2}', '"x"', "nul"])
def test_what_was_not_written_by_a_kubelet_is_refused(checkpoint, text):
    checkpoint.write({})
    checkpoint.path.write_text(text)

    with pytest.raises(CheckpointCorrupt):
        checkpoint.read()


def test_a_failed_write_leaves_the_old_content_and_nothing_else(checkpoint):
    checkpoint.write({"a": 1})

    with pytest.raises(TypeError):
        checkpoint.write({"a": object()})

    assert checkpoint.read() == {"a": 1}
    assert [file.name for file in checkpoint.path.parent.iterdir()] == ["state"]


def test_a_removed_file_may_be_removed_again(checkpoint):
    checkpoint.write({})

    checkpoint.remove()
    checkpoint.remove()

    assert not checkpoint.path.exists()


def test_the_checksum_is_fnv_1a_of_the_canonical_text(checkpoint):
    checkpoint.write({})

    assert json.loads(checkpoint.path.read_text()) == {"checksum": 0x5465B825}
    assert json.loads(canonical_json({"b": 1, "a": 2})) == {"a": 2, "b": 1}
