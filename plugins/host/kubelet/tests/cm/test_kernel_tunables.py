"""A kernel that is not set as Kubernetes wants it."""

import logging

import pytest
from hyperkube_host.kubelet.cm.kernel_tunables import WANTED, check_kernel_tunables

from hyperkube.machinery.errors import UsageError


@pytest.fixture
def sysctls(tmp_path):
    for name, value in WANTED.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{value}\n")
    return tmp_path


def test_what_differs_is_told_when_the_settings_are_protected(sysctls):
    (sysctls / "vm/overcommit_memory").write_text("0\n")
    (sysctls / "kernel/panic").write_text("0\n")

    with pytest.raises(UsageError) as caught:
        check_kernel_tunables(protects=True, sysctls=sysctls)

    assert str(caught.value) == (
        "Failed to start ContainerManager: [invalid kernel flag: vm/overcommit_memory, expected value: 1, actual value: 0,"
        " invalid kernel flag: kernel/panic, expected value: 10, actual value: 0]"
    )


def test_a_setting_that_is_not_there_cannot_be_trusted(sysctls):
    (sysctls / "vm/panic_on_oom").unlink()

    with pytest.raises(UsageError, match="No such file or directory"):
        check_kernel_tunables(protects=True, sysctls=sysctls)


def test_settings_are_never_changed(sysctls, caplog):
    (sysctls / "kernel/panic").write_text("0\n")

    with caplog.at_level(logging.INFO):
        check_kernel_tunables(protects=False, sysctls=sysctls)

    assert (sysctls / "kernel/panic").read_text() == "0\n"
    assert "invalid kernel flag: kernel/panic" in caplog.text


def test_a_kernel_as_it_is_wanted_is_fine(sysctls, caplog):
    with caplog.at_level(logging.INFO):
        check_kernel_tunables(protects=True, sysctls=sysctls)

    assert caplog.records == []
