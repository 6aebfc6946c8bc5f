"""Which controllers ``--controllers`` chooses."""

import pytest
from hyperkube_host.controller_manager.names import account, canonical, chosen

from hyperkube.machinery.errors import UsageError

INSTALLED = ["deployment", "podgc", "tokencleaner", "my-own"]


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
def test_the_flag_chooses(wanted, keys):
    assert chosen(INSTALLED, wanted) == keys


def test_an_unknown_name_lists_what_is_installed():
    with pytest.raises(UsageError, match=r"'deploymnet' is not an installed controller \(installed: deployment,"):
        chosen(INSTALLED, ["deploymnet"])


def test_kubernetes_names_and_accounts():
    assert canonical("garbagecollector") == "garbage-collector-controller"
    assert canonical("my-own") == "my-own-controller"
    assert account("garbagecollector") == "generic-garbage-collector"
    assert account("deployment") == "deployment-controller"
    assert account("nodelifecycle") == "node-controller"
