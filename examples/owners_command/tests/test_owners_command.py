from click.testing import CliRunner
from owners_command import command, tree

from hyperkube.machinery.errors import UsageError


def obj(kind, name, *owners):
    references = [{"uid": owner, "controller": first} for owner, first in owners]
    return {"kind": kind, "metadata": {"name": name, "uid": name, "ownerReferences": references}}


def test_objects_stand_below_their_controller():
    deployment, replicas = obj("Deployment", "web"), obj("ReplicaSet", "web-1", ("web", True))
    pod = obj("Pod", "web-1-a", ("set", False), ("web-1", True))
    config = obj("ConfigMap", "set")

    assert list(tree([pod, replicas, config, deployment])) == [
        "ConfigMap/set",
        "Deployment/web",
        "  ReplicaSet/web-1",
        "    Pod/web-1-a",
    ]


def test_an_owner_elsewhere_makes_a_root():
    assert list(tree([obj("Pod", "static", ("node", True))])) == ["Pod/static"]


def test_without_a_cluster_it_says_what_to_give():
    result = CliRunner().invoke(command, [], env={"KUBECONFIG": ""})

    assert isinstance(result.exception, UsageError)
    assert "give --kubeconfig=FILE or set KUBECONFIG" in str(result.exception)
