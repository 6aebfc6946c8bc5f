"""What stands beside a controller, and which ones ``--controllers`` chooses."""

import pytest
from hyperkube_lib.controller_manager.controller_descriptors import ControllerDescriptor, chosen, descriptors, gated

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.loader import installed

PODGC = '[podgc]\nname = "pod-garbage-collector-controller"\nservice_account = "pod-garbage-collector"\n'
TOKENCLEANER = '[tokencleaner]\nqueue = "token_cleaner"\ndisabled_by_default = true\n'


@pytest.fixture
def known(entries):
    return descriptors(entries("deployment", "my-own", podgc=PODGC, tokencleaner=TOKENCLEANER))


@pytest.mark.parametrize(
    ("wanted", "keys"),
    [
        (["*"], ["deployment", "my-own", "podgc"]),
        (["*", "-podgc"], ["deployment", "my-own"]),
        (["-podgc", "*"], ["deployment", "my-own"]),
        (["*", "tokencleaner"], ["deployment", "my-own", "podgc", "tokencleaner"]),
        (["deployment"], ["deployment"]),
        (["pod-garbage-collector-controller"], ["podgc"]),
        (["*", "-deployment-controller", "-my-own-controller"], ["podgc"]),
    ],
    ids=" ".join,
)
def test_the_flag_chooses(known, wanted, keys):
    assert chosen(known, wanted) == keys


def test_a_controller_may_have_more_names(entries):
    known = descriptors(entries("deployment", podgc='[podgc]\naliases = ["sweeper"]\n'))

    assert chosen(known, ["*", "-sweeper"]) == ["deployment"]
    with pytest.raises(UsageError, match="controllers 'sweeper' and 'podgc' both go by the name 'sweeper'"):
        descriptors(entries("sweeper", podgc='[podgc]\naliases = ["sweeper"]\n'))


def test_a_controller_behind_a_gate_that_is_off_does_not_run(entries):
    known = descriptors(entries("deployment", svm="[svm]\nfeature_gates = { A = true, B = false }\n"))

    assert gated(known, ["deployment", "svm"], {"B": True}) == ["deployment", "svm"]
    assert gated(known, ["deployment", "svm"], {"A": False, "B": True}) == ["deployment"]
    assert gated(known, ["deployment", "svm"], {}) == ["deployment"]


def test_an_unknown_name_lists_what_is_installed(known):
    with pytest.raises(
        UsageError, match=r"'deploymnet' is not an installed controller \(did you mean 'deployment'\?; installed: d"
    ):
        chosen(known, ["deploymnet"])


def test_a_controller_that_says_nothing_has_the_usual_names(known):
    assert known["my-own"] == ControllerDescriptor("my-own", "my-own-controller", "my-own-controller", "my-own")


def test_what_it_says_replaces_the_usual(known):
    assert known["podgc"].name == "pod-garbage-collector-controller"
    assert known["podgc"].service_account == "pod-garbage-collector"
    assert known["podgc"].queue == "podgc"
    assert known["tokencleaner"].queue == "token_cleaner"
    assert known["tokencleaner"].name == "tokencleaner-controller"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[job]\nnmae = "x"\n',
            r"controller 'job': unknown key 'nmae' \(known: aliases, disabled_by_default, feature_gates, name, ",
        ),
        ("[job]\nname = 7\n", "controller 'job': name must be a str, not 7"),
        ('[job]\nname = "deployment"\n', "controllers 'deployment' and 'job' both go by the name 'deployment'"),
    ],
    ids=["unknown key", "wrong type", "name taken"],
)
def test_wrong_data_are_told_in_one_line(entries, text, message):
    with pytest.raises(UsageError, match=message):
        descriptors(entries("deployment", job=text))


def test_kubernetes_names_and_accounts():
    """Source: kubernetes ``cmd/kube-controller-manager/names/controller_names.go`` and the RBAC bootstrap policy."""
    pytest.importorskip("hyperkube_controller.garbagecollector")
    pytest.importorskip("hyperkube_controller.nodelifecycle")
    known = descriptors(installed("controller"))

    assert known["garbagecollector"].name == "garbage-collector-controller"
    assert known["garbagecollector"].service_account == "generic-garbage-collector"
    assert known["deployment"].service_account == "deployment-controller"
    assert known["nodelifecycle"].service_account == "node-controller"
    assert [alias for alias, each in known.items() if each.requires_special_handling] == ["serviceaccount-token"]
