"""Admission plugins of the 1.x line whose API is served again: policies and presets act on pods of a whole server."""

import pytest
from hyperkube_host.apiserver.server import ApiServer

from hyperkube.kinds.resources import PODS, SERVICE_ACCOUNTS
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.users import UserInfo
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

POLICIES = GroupVersionResource("policy", "v1beta1", "podsecuritypolicies")
PRESETS = GroupVersionResource("settings.k8s.io", "v1alpha1", "podpresets")
ROLES = GroupVersionResource("rbac.authorization.k8s.io", "v1", "clusterroles")
BINDINGS = GroupVersionResource("rbac.authorization.k8s.io", "v1", "clusterrolebindings")
ADMIN = UserInfo("admin", "", ("system:masters", "system:authenticated"))
ANN = UserInfo("ann", "", ("system:authenticated",))
ANY = {"rule": "RunAsAny"}


@pytest.fixture
def server():
    options = {
        "authorization-mode": ["RBAC"],
        "enable-admission-plugins": ["PodSecurityPolicy", "PodPreset"],
        "runtime-config": {"policy/v1beta1/podsecuritypolicies": "true", "settings.k8s.io/v1alpha1": "true"},
    }
    server = ApiServer(options=options, store=MemoryStore())
    server.start()
    eventually(server.ready)
    yield server
    server.close()


def named(name, namespace="", **more):
    return {"metadata": {"name": name, **({"namespace": namespace} if namespace else {})}, **more}


def pod(name, **context):
    container = {"name": "c", "image": "i", "securityContext": context}
    labels = {"app": "web"}
    return {
        "metadata": {"name": name, "namespace": "default", "labels": labels},
        "spec": {"automountServiceAccountToken": False, "containers": [container]},
    }


def allow(admin, name, *rules):
    """Let ann do what rules say."""
    admin.create(ROLES, named(name, rules=list(rules)))
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    subject = {"kind": "User", "name": "ann", "apiGroup": "rbac.authorization.k8s.io"}
    admin.create(BINDINGS, named(name, roleRef=role, subjects=[subject]))


def test_policies_and_presets_shape_the_pods_of_those_who_may_use_them(server):
    admin, ann = server.client(ADMIN), server.client(ANN)
    admin.create(SERVICE_ACCOUNTS, named("default", "default"))
    rules = {"seLinux": ANY, "supplementalGroups": ANY, "fsGroup": ANY, "volumes": ["emptyDir"],
             "runAsUser": {"rule": "MustRunAs", "ranges": [{"min": 1000, "max": 2000}]}}  # fmt: skip
    admin.create(POLICIES, named("high", spec=rules))
    preset = {"selector": {"matchLabels": {"app": "web"}}, "env": [{"name": "DB", "value": "db"}]}
    admin.create(PRESETS, named("db", "default", spec=preset))
    allow(admin, "pods", {"apiGroups": [""], "resources": ["pods"], "verbs": ["create"]})
    plugins = {
        name: host.get(name)
        for host in server.hosts
        for name in host.names
        if name in {"PodSecurityPolicy", "PodPreset"}
    }
    eventually(lambda: plugins["PodSecurityPolicy"]._policies.list() and plugins["PodPreset"]._presets.list())

    eventually(
        lambda: "no providers available to validate pod request" in refusal(ann), why="only the policy to refuse"
    )
    allow(admin, "high", {"apiGroups": ["policy"], "resources": ["podsecuritypolicies"], "resourceNames": ["high"],
                          "verbs": ["use"]})  # fmt: skip
    made = eventually_made(ann)

    (container,) = made["spec"]["containers"]
    assert container["securityContext"]["runAsUser"] == 1000
    assert container["env"] == [{"name": "DB", "value": "db"}]
    assert made["metadata"]["annotations"]["kubernetes.io/psp"] == "high"
    assert "podpreset.admission.kubernetes.io/podpreset-db" in made["metadata"]["annotations"]
    with pytest.raises(Forbidden, match=r"unable to admit pod.*Privileged containers are not allowed"):
        ann.create(PODS, pod("strong", privileged=True))


def refusal(client):
    with pytest.raises(Forbidden) as refused:
        client.create(PODS, pod("before"))
    return str(refused.value)


def eventually_made(client):
    """Create a pod as soon as the new binding counts."""
    made = []

    def create():
        try:
            made.append(client.create(PODS, pod("after")))
        except Forbidden:
            return []
        return made

    eventually(create)
    return made[0]
