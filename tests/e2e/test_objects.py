"""Writing and reading objects, each in the way that kubectl has for it."""

from __future__ import annotations

import stat

import pytest
from local_cluster import eventually, pod


def _config(name="settings", **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def test_create_knows_the_everyday_kinds(room):
    room.kubectl("create", "deployment", "web", "--image=host", "--replicas=2", "--", "sleep", "1000")
    room.kubectl("create", "configmap", "settings", "--from-literal=a=1")
    room.kubectl("create", "secret", "generic", "keys", "--from-literal=password=sesame")
    room.kubectl("create", "job", "once", "--image=host", "--", "true")
    room.kubectl("create", "serviceaccount", "robot")
    room.kubectl("create", "role", "reader", "--verb=get,list", "--resource=pods")
    room.kubectl("create", "rolebinding", "reader", "--role=reader", f"--serviceaccount={room.name}:robot")
    room.kubectl("create", "service", "clusterip", "web", "--tcp=8080:8080")
    room.kubectl("create", "quota", "limits", "--hard=pods=20")

    room.kubectl("wait", "--for=condition=Complete", "job/once", "--timeout=60s")
    room.kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=60s")
    assert room.get("configmap", "settings")["data"] == {"a": "1"}
    assert room.get("secret", "keys")["data"] == {"password": "c2VzYW1l"}
    assert room.get("job", "once")["status"]["succeeded"] == 1
    again = room.kubectl("create", "configmap", "settings", check=False)
    assert again.code == 1
    assert again.err == 'error: failed to create configmap: configmaps "settings" already exists\n'


def test_a_token_speaks_for_its_service_account(room, up):
    room.kubectl("create", "serviceaccount", "robot")
    room.kubectl("create", "rolebinding", "robot-views", "--clusterrole=view", f"--serviceaccount={room.name}:robot")

    token = room.kubectl("create", "token", "robot").out.strip()

    def as_robot(*words, check=True):
        return room.kubectl("--token", token, "--kubeconfig", str(anonymous), *words, check=check)

    anonymous = up.root.parent / "anonymous.kubeconfig"
    ca = up.root / "pki" / "server-ca.crt"
    up.kubectl("config", "--kubeconfig", str(anonymous), "set-cluster", "c", f"--server=https://127.0.0.1:{up.port}",
               f"--certificate-authority={ca}")  # fmt: skip
    up.kubectl("config", "--kubeconfig", str(anonymous), "set-context", "c", "--cluster=c")
    up.kubectl("config", "--kubeconfig", str(anonymous), "use-context", "c")
    assert f"system:serviceaccount:{room.name}:robot" in as_robot("auth", "whoami").out
    assert as_robot("get", "pods").err.startswith("No resources found")
    refused = as_robot("create", "configmap", "no", check=False)
    assert refused.code == 1
    assert f'User "system:serviceaccount:{room.name}:robot" cannot create resource "configmaps"' in refused.err


def test_run_and_expose(room):
    room.kubectl("run", "solo", "--image=host", "--port=8080", "--labels=app=solo", "--", "sleep", "1000")
    room.kubectl("expose", "pod", "solo", "--port=8080", "--name=solo")
    room.kubectl("wait", "--for=condition=Ready", "pod/solo", "--timeout=60s")

    eventually(lambda: room.find("endpoints", "solo").get("subsets"))

    assert room.get("service", "solo")["spec"]["selector"] == {"app": "solo"}


def test_labels_and_annotations(room):
    room.apply(_config(a="1"), _config("other", a="2"))

    room.kubectl("label", "configmap", "settings", "tier=front")
    room.kubectl("annotate", "configmap", "settings", "note=for the tests")

    assert room.kubectl("get", "configmaps", "-l", "tier=front", "-o", "name").out == "configmap/settings\n"
    assert room.get("configmap", "settings")["metadata"]["annotations"]["note"] == "for the tests"
    refused = room.kubectl("label", "configmap", "settings", "tier=back", check=False)
    assert "already has a value (front), and --overwrite is false" in refused.err
    room.kubectl("label", "configmap", "settings", "tier-")
    assert "labels" not in room.get("configmap", "settings")["metadata"]


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        ("json", '[{"op":"replace","path":"/data/a","value":"2"}]'),
        ("merge", '{"data":{"a":"2","b":null}}'),
        ("strategic", '{"data":{"a":"2"}}'),
    ],
)
def test_patch_in_three_ways(room, kind, patch):
    room.apply(_config(a="1", b="1"))

    room.kubectl("patch", "configmap", "settings", f"--type={kind}", f"--patch={patch}")

    assert room.get("configmap", "settings")["data"]["a"] == "2"
    assert ("b" in room.get("configmap", "settings")["data"]) == (kind != "merge")


def test_a_strategic_patch_merges_containers_by_name(room):
    room.kubectl("create", "deployment", "web", "--image=host", "--replicas=0", "--", "sleep", "1000")

    room.kubectl(
        "patch", "deployment", "web", "-p",
        '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"host","command":["sleep","1"]}]}}}}',
    )  # fmt: skip

    names = [row["name"] for row in room.get("deployment", "web")["spec"]["template"]["spec"]["containers"]]
    assert sorted(names) == ["host", "side"]


def test_edit_with_an_editor(room, tmp_path):
    room.apply(_config(a="1"))
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i \'s/a: "1"/a: edited/\' "$1"\n')
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)

    room.kubectl("edit", "configmap", "settings", env_more={"KUBE_EDITOR": str(editor)})

    assert room.get("configmap", "settings")["data"]["a"] == "edited"


def test_apply_again_prunes_what_left_the_file(room):
    room.apply(_config(a="1", b="1"))

    answer = room.apply(_config(a="2"))

    assert answer.out == "configmap/settings configured\n"
    assert room.get("configmap", "settings")["data"] == {"a": "2"}
    assert room.apply(_config(a="2")).out == "configmap/settings unchanged\n"


def test_server_side_apply_keeps_owners_apart(room):
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\ndata: {a: '1'}\n"
    room.kubectl("apply", "--server-side", "--field-manager=first", "-f", "-", input=text)

    conflict = room.kubectl(
        "apply", "--server-side", "--field-manager=second", "-f", "-", input=text.replace("'1'", "'2'"), check=False
    )

    assert conflict.code == 1
    assert 'conflict with "first"' in conflict.err
    assert ".data.a" in conflict.err
    room.kubectl(
        "apply", "--server-side", "--field-manager=second", "--force-conflicts", "-f", "-",
        input=text.replace("'1'", "'2'"),
    )  # fmt: skip
    shown = room.kubectl("get", "configmap", "shared", "-o", "json", "--show-managed-fields").json
    owners = {row["manager"]: row for row in shown["metadata"]["managedFields"]}
    assert owners["second"]["operation"] == "Apply"
    assert owners["second"]["fieldsV1"] == {"f:data": {"f:a": {}}}


def test_diff_shows_what_apply_would_do(room):
    room.apply(_config(a="1"))
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: '2'}\n"

    difference = room.kubectl("diff", "-f", "-", input=text, check=False)

    assert difference.code == 1
    assert '-  a: "1"' in difference.out
    assert '+  a: "2"' in difference.out
    assert room.get("configmap", "settings")["data"] == {"a": "1"}


def test_a_dry_run_leaves_nothing(room):
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ghost}\n"

    answer = room.kubectl("apply", "--dry-run=server", "-f", "-", input=text)

    assert answer.out == "configmap/ghost created (server dry run)\n"
    assert room.kubectl("get", "configmap", "ghost", check=False).err.startswith("Error from server (NotFound)")


def test_an_unknown_field_is_refused_by_name(room):
    refused = room.kubectl(
        "apply", "-f", "-", check=False,
        input="apiVersion: v1\nkind: ConfigMap\nmetadata: {name: odd}\ndata: {}\nsurprise: 1\n",
    )  # fmt: skip

    assert refused.code == 1
    assert 'unknown field "surprise"' in refused.err


def test_wait_sees_a_value_and_a_deletion(room):
    room.apply(pod("short", "sleep 0.2"), _config(a="1"))

    room.kubectl("wait", "--for=jsonpath={.data.a}=1", "configmap/settings", "--timeout=60s")
    room.kubectl("delete", "pod", "short", "--wait=false")
    room.kubectl("wait", "--for=delete", "pod/short", "--timeout=60s")

    assert room.get("pods") == []


def test_replace_needs_the_version_that_was_read(room):
    room.apply(_config(a="1"))
    read = room.kubectl("get", "configmap", "settings", "-o", "yaml").out
    room.kubectl("patch", "configmap", "settings", "-p", '{"data":{"a":"2"}}')

    refused = room.kubectl("replace", "-f", "-", input=read, check=False)

    assert refused.code == 1
    assert "the object has been modified; please apply your changes to the latest version and try again" in refused.err


def test_authorization_can_be_asked(up, room):
    assert up.kubectl("auth", "can-i", "create", "deployments").out == "yes\n"
    refused = up.kubectl("auth", "can-i", "create", "deployments", "--as=somebody", check=False)
    assert (refused.code, refused.out) == (1, "no\n")
    assert "system:masters" in up.kubectl("auth", "whoami").out
    listed = room.kubectl("auth", "can-i", "--list").out
    assert "*.*" in listed


def test_the_api_describes_itself(up):
    resources = up.kubectl("api-resources").out
    versions = up.kubectl("api-versions").out.split()
    explained = up.kubectl("explain", "pod.spec", "--recursive").out

    lines = {line.split()[0]: line for line in resources.splitlines()}
    assert lines["deployments"].split() == ["deployments", "deploy", "apps/v1", "true", "Deployment"]
    assert ["nodes", "no", "v1", "false", "Node"] in [line.split() for line in resources.splitlines()]
    assert {"v1", "apps/v1", "batch/v1", "rbac.authorization.k8s.io/v1", "discovery.k8s.io/v1"} <= set(versions)
    assert "containers\t<[]Container> -required-" in explained
    assert "terminationGracePeriodSeconds\t<integer>" in explained
    assert up.kubectl("explain", "deployment.spec.replicas").out.startswith("GROUP:      apps\nKIND:       Deployment")


def test_explain_shows_what_the_library_says_of_a_field(up):
    describe = pytest.importorskip("hyperkube_api.descriptions.lightkube_models").describe
    name = "io.k8s.api.core.v1.PodSpec"
    known = describe([name])[name]

    spec = up.kubectl("explain", "pod.spec").out
    field = up.kubectl("explain", "pod.spec.nodeName").out

    assert " ".join(known.text.split()) in " ".join(spec.split())
    assert " ".join(known.fields["nodeName"].split()) in " ".join(field.split())


def test_version_and_cluster_info(up):
    version = up.kubectl("version", "-o", "json").json["serverVersion"]
    info = up.kubectl("cluster-info").out

    assert (version["major"], version["minor"]) == ("1", "36")
    assert f"https://127.0.0.1:{up.port}" in info


def test_events_are_listed_for_one_object(room):
    room.run_pod("talker", "sleep 1000")

    events = room.kubectl("events", "--for", "pod/talker").out

    assert "Scheduled" in events
    assert "Container started" in events


def test_a_custom_resource_is_served_as_soon_as_it_is_defined(up, room):
    group = "tests.hyperkube.dev"
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"gadgets.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "shortNames": ["gg"]},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {
                                "spec": {
                                    "type": "object",
                                    "properties": {"size": {"type": "integer", "maximum": 9}},
                                }
                            },
                        }
                    },
                }
            ],
        },
    }
    room.apply(definition)
    up.kubectl("wait", "--for=condition=Established", f"crd/gadgets.{group}", "--timeout=60s")
    one = {"apiVersion": f"{group}/v1", "kind": "Gadget", "metadata": {"name": "one"}, "spec": {"size": 3}}

    room.apply(one)

    assert room.kubectl("get", "gg", "-o", "name").out == f"gadget.{group}/one\n"
    refused = room.kubectl("patch", "gadget", "one", "--type=merge", "-p", '{"spec":{"size":10}}', check=False)
    assert "spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9" in refused.err
    up.kubectl("delete", "crd", f"gadgets.{group}", "--timeout=60s")


def test_a_deleted_namespace_takes_its_objects_along(up):
    up.kubectl("create", "namespace", "doomed")
    up.kubectl("create", "configmap", "a", namespace="doomed")
    up.kubectl("run", "p", "--image=host", "--", "sleep", "1000", namespace="doomed")

    up.kubectl("delete", "namespace", "doomed", "--timeout=60s")

    assert "NotFound" in up.kubectl("get", "namespace", "doomed", check=False).err


def test_system_objects_are_there(up):
    namespaces = {one["metadata"]["name"] for one in up.get("namespaces")}
    assert {"default", "kube-system", "kube-public", "kube-node-lease"} <= namespaces
    assert up.get("service", "kubernetes", namespace="default")["spec"]["ports"][0]["port"] == 443
    assert "edit" in up.kubectl("get", "clusterroles", "-o", "name").out
