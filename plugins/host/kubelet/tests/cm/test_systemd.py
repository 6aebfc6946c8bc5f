"""Slices are asked for with busctl; a program in its place writes down how it was called."""

import pytest
from hyperkube_host.kubelet.cm import systemd
from hyperkube_host.kubelet.cm.interface import ContainerManagerFailed
from hyperkube_host.kubelet.cm.systemd import SliceMaker, slices_of_this_machine, start_call

from hyperkube.machinery.errors import UsageError


@pytest.fixture
def busctl(tmp_path):
    """A busctl that writes its arguments to a file, and fails with the text of another."""
    program, answer = tmp_path / "busctl", tmp_path / "answer"
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n[ -s {answer} ] && {{ cat {answer} >&2; exit 1; }}\nexit 0\n'
    )
    program.chmod(0o755)
    answer.touch()
    return tmp_path


def test_a_slice_is_started_with_its_parent_and_accounting():
    call = start_call("kubepods-burstable.slice")

    assert call[:5] == ("StartTransientUnit", "ssa(sv)a(sa(sv))", "kubepods-burstable.slice", "replace", "7")
    assert call[8:12] == ("Wants", "as", "1", "kubepods.slice")
    assert call[-1] == "0"


def test_a_slice_that_is_there_already_is_fine(busctl):
    (busctl / "answer").write_text("Call failed: Unit kubepods.slice already exists.")

    SliceMaker(str(busctl / "busctl")).start("/kubepods.slice")

    assert "StartTransientUnit" in (busctl / "calls").read_text()


def test_what_systemd_refuses_is_an_error(busctl):
    (busctl / "answer").write_text("Call failed: Access denied")

    with pytest.raises(ContainerManagerFailed, match="StopUnit kubepods"):
        SliceMaker(str(busctl / "busctl")).stop("/kubepods.slice")


def test_the_root_needs_no_slice(busctl):
    SliceMaker(str(busctl / "busctl")).start("/")

    assert not (busctl / "calls").exists()


def test_without_systemd_its_driver_is_refused_in_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr(systemd, "RUNNING", tmp_path / "absent")

    with pytest.raises(UsageError, match="systemd does not run on this machine"):
        slices_of_this_machine()
