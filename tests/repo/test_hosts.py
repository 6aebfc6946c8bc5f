"""Hosts and commands name no plugin: which ones there are, and in which order, is data of plugins and of the bundle."""

from __future__ import annotations

import ast
from pathlib import Path

from source_tree import modules, tree_of
from test_core import NAMES, UNMISTAKABLE
from workspace import ROOT

THEIRS = [module for module in modules().values() if module.member.family in {"host", "command"}]

VOCABULARY = {
    "AlwaysAllow": (
        "a type in AuthorizationConfiguration, and a mode of the kubelet's own",
        {"reload", "server_options", "auth"},
    ),
    "AlwaysDeny": ("a type in AuthorizationConfiguration", {"reload"}),
    "csi-host-path": ("the driver whose folder `up` gives as a flag", {"arguments"}),
    "GangScheduling": ("the feature gate", {"cycle"}),
    "ImagePolicyWebhook": ("a file that is AdmissionConfiguration's older form", {"configuration"}),
    "NodeAffinity": ("the reason in the status of a pod that a kubelet refuses", {"predicate"}),
    "NodeName": ("the same", {"predicate"}),
    "NodePorts": ("the same", {"predicate"}),
    "NodeRestriction": ("what `up` gives its API server as a flag", {"arguments"}),
    "PodNodeSelector": ("a file that is AdmissionConfiguration's older form", {"configuration"}),
    "ResourceQuota": ("the kind", {"operations"}),
    "ServiceAccount": ("the kind", {"operations", "provider_config"}),
    "SimulatedNodes": ("what `up` gives its API server as a flag", {"arguments"}),
    "TaintToleration": ("the reason in the status of a pod that a kubelet refuses", {"predicate"}),
}
"""Names that Kubernetes' API or files have too: what they are there, and in which modules they are literals."""

SERVERS = {"cloud-controller-manager", "kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler"}
"""Components: in their users, certificates and logs."""


def _literals(path: Path) -> set[str]:
    return {
        node.value
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and UNMISTAKABLE.fullmatch(node.value)
    }


def test_no_literal_of_theirs_is_a_plugins_name_unless_it_is_the_apis_word():
    found = {(name, module.path.stem) for module in THEIRS for name in _literals(ROOT / module.path) & NAMES - SERVERS}

    assert found == {(name, file) for name, (_, files) in VOCABULARY.items() for file in files}
