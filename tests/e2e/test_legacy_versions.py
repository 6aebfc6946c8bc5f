"""kubectl against versions that Kubernetes has removed: a manifest of 2016, applied, printed, explained, scaled."""

from __future__ import annotations

import os
import shutil

import pytest
from hyperkube_testing.cluster.cluster import ControlPlane
from local_cluster import run

MANIFEST = """
apiVersion: extensions/v1beta1
kind: Deployment
metadata:
  name: nginx
spec:
  replicas: 2
  template:
    metadata:
      labels:
        run: nginx
    spec:
      containers:
      - name: nginx
        image: nginx:1.9
---
apiVersion: extensions/v1beta1
kind: Ingress
metadata:
  name: web
spec:
  backend:
    serviceName: web
    servicePort: 80
---
apiVersion: batch/v2alpha1
kind: CronJob
metadata:
  name: hello
spec:
  schedule: "*/5 * * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: hello
            image: busybox
---
apiVersion: rbac.authorization.k8s.io/v1alpha1
kind: RoleBinding
metadata:
  name: everybody
subjects:
- kind: User
  name: "*"
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: view
"""


@pytest.fixture(scope="module")
def kubectl(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    options = {"runtime-config": {"api/legacy": "true"}}
    with ControlPlane(apiserver=options, controller_manager={"controllers": ["deployment", "replicaset"]}) as cluster:
        kubeconfig = home / "config"
        shutil.copy(cluster.kubeconfig, kubeconfig)
        environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "HOME": str(home)}

        def call(*words, **more):
            return run(["kubectl", *words], env=environment, **more)

        yield call


def test_a_manifest_of_old_goes_all_the_way(kubectl):
    applied = kubectl("apply", "-f", "-", input=MANIFEST)
    again = kubectl("apply", "-f", "-", input=MANIFEST)

    assert applied.out.splitlines() == [
        "deployment.extensions/nginx created",
        "ingress.extensions/web created",
        "cronjob.batch/hello created",
        "rolebinding.rbac.authorization.k8s.io/everybody created",
    ]
    assert "use networking.k8s.io/v1 Ingress" in applied.err
    # Everybody was the user "*" then; the server has called that the group of all who are known ever since.
    assert [line.rpartition(" ")[2] for line in again.out.splitlines()] == [*["unchanged"] * 3, "configured"]
    kubectl("scale", "deployments.v1beta1.extensions/nginx", "--replicas=3")
    kubectl("set", "image", "deployments.v1beta1.extensions/nginx", "nginx=nginx:1.25")
    old = kubectl("get", "deployments.v1beta1.extensions", "nginx", "-o", "json").json
    new = kubectl("get", "deployments.v1.apps", "nginx", "-o", "json").json
    assert (old["apiVersion"], old["spec"]["replicas"], old["spec"]["revisionHistoryLimit"]) == (
        "extensions/v1beta1",
        3,
        2147483647,
    )
    assert new["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:1.25"
    assert "nginx" in kubectl("get", "deployments.v1beta2.apps").out
    assert "web:80" in kubectl("describe", "ingresses.v1.networking.k8s.io", "web").out
    kubectl("delete", "deployments.v1beta1.extensions", "nginx")


def test_the_old_versions_are_explained(kubectl):
    explained = kubectl("explain", "ingress.spec.backend", "--api-version=extensions/v1beta1").out

    assert "serviceName" in explained
    assert "extensions/v1beta1" in kubectl("api-versions").out.splitlines()
