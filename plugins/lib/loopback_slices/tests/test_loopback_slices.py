"""Slices are held by one cluster at a time, and by the one that had them before where they are free."""

import pytest
from hyperkube_lib import loopback_slices
from hyperkube_lib.loopback_slices import FIRST, hold_slice, slices_folder

from hyperkube.machinery.errors import UsageError


def test_a_held_slice_is_passed_over_and_a_released_one_is_given_again(tmp_path):
    first = hold_slice(tmp_path)
    second = hold_slice(tmp_path, [FIRST])
    first.release()
    third = hold_slice(tmp_path, [second.number])

    assert (first.number, second.number, third.number) == (FIRST, FIRST + 1, FIRST)
    second.release()
    third.release()


def test_the_preferred_slice_comes_first(tmp_path):
    held = hold_slice(tmp_path, [200])

    assert held.number == 200
    held.release()


def test_none_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(loopback_slices, "LAST", FIRST)
    held = hold_slice(tmp_path)

    with pytest.raises(UsageError, match=r"all 1 slices of 127\.0\.0\.0/8 are taken"):
        hold_slice(tmp_path)
    held.release()


def test_every_cluster_looks_into_the_same_folder(tmp_path, monkeypatch):
    before = slices_folder()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    assert slices_folder() == before

    monkeypatch.setattr(loopback_slices, "_COMMON", tmp_path / "not-there")
    assert slices_folder() == tmp_path / "hyperkube-slices"
