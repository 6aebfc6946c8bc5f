"""Feature gates: the ones of the release, and what is wrong with others."""

from __future__ import annotations

import pytest
from hyperkube_lib.component_base.feature_gates import check_gates, known_gates

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import Flag, PluginGate
from hyperkube.plugin.flags.gates import GatesOfPlugins


def test_the_table_is_sorted_and_says_each_gate_once():
    names = list(known_gates())

    assert names == sorted(set(names))
    assert len(names) > 150


def test_a_gate_that_there_is_may_be_set():
    check_gates({"GenericWorkload": True, "SidecarContainers": True, "AllAlpha": False})


def test_an_unknown_one_is_an_error_that_says_what_was_meant():
    with pytest.raises(
        UsageError, match=r"unrecognized feature gate: GenericWorklaod \(did you mean GenericWorkload\?\)"
    ):
        check_gates({"GenericWorklaod": True})


def test_a_locked_one_cannot_be_switched_off():
    with pytest.raises(
        UsageError, match="cannot set feature gate SidecarContainers to false, feature is locked to true"
    ):
        check_gates({"SidecarContainers": False})


def test_one_that_nothing_reads_is_told_so(caplog):
    check_gates({"WinOverlay": True, "GenericWorkload": True})

    assert [record.getMessage() for record in caplog.records] == [
        "feature gate WinOverlay=true has no effect: nothing here depends on it"
    ]


def flags_with(*names):
    kind = GatesOfPlugins(
        PluginGate(name, "differs", default=False, stage="ALPHA", owner="x plugin 'p'") for name in names
    )
    return (Flag("feature-gates", kind, "", "gates"),)


def test_the_gates_of_plugins_may_be_set_and_nearly_hit(caplog):
    check_gates({"AcmeTidy": True}, flags_with("AcmeTidy"))

    assert not caplog.records
    with pytest.raises(UsageError, match=r"unrecognized feature gate: AcmeTydi \(did you mean AcmeTidy\?\)"):
        check_gates({"AcmeTydi": True}, flags_with("AcmeTidy"))


def test_a_plugin_may_not_take_a_name_of_kubernetes_own():
    with pytest.raises(UsageError, match="feature gate GenericWorkload of x plugin 'p' is one of Kubernetes' own"):
        check_gates({"GenericWorkload": True}, flags_with("GenericWorkload"))
