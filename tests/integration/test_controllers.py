"""The controllers against a whole API server in this process, with RBAC: each may do what its role grants, no more."""

import logging
import re
import sys
import time
from base64 import b64decode, b64encode
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_host.controller_manager import MANAGER
from hyperkube_lib.controller_manager import ControllerManager, ManagerOptions
from hyperkube_lib.serving.certificates import make_ca, signing_key

from hyperkube.kinds.resources import (
    CERTIFICATE_SIGNING_REQUESTS,
    CONFIG_MAPS,
    CRON_JOBS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    ENDPOINTS,
    JOBS,
    NAMESPACES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    REPLICA_SETS,
    RESOURCE_QUOTAS,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICE_CIDRS,
    SERVICES,
    STORAGE_CLASSES,
)
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.users import UserInfo

AUTOSCALERS = GroupVersionResource("autoscaling", "v2", "horizontalpodautoscalers")
ADMIN = UserInfo("admin", "", ("system:masters", "system:authenticated"))
LABELS = {"app": "web"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def obj(kind, name, api="v1", **more):
    return {"kind": kind, "apiVersion": api, "metadata": {"name": name}, **more}


def deployment(replicas=3):
    spec = {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": TEMPLATE}
    return obj("Deployment", "web", "apps/v1", spec=spec)


def eventually(fact, seconds=60.0):
    """Wait for a fact; what is not there yet is no answer."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            if fact():
                return
        except (NotFound, KeyError):
            pass
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The folder with the authority, the key of service accounts, and the volumes that are made."""
    folder = tmp_path_factory.mktemp("cluster")
    make_ca("cluster").write(folder / "ca.crt", folder / "ca.key")
    (folder / "sa.key").write_bytes(signing_key()[0])
    return folder


@pytest.fixture(scope="module")
def range_provider(files):
    """The example cloud provider as if it were installed; the folder of its distribution goes again."""
    example = Path(__file__).parents[2] / "examples" / "range_load_balancer" / "src"
    info = files / "site" / "range_load_balancer-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: range-load-balancer\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[hyperkube.cloud]\nrange = range_load_balancer:RangeLoadBalancer\n")
    (files / "cloud.conf").write_text("[LoadBalancer]\nrange = 192.0.2.0/28\n")
    before = list(sys.path)
    sys.path[:0] = [str(example), str(files / "site")]
    yield {"cloud-provider": "range", "cloud-config": str(files / "cloud.conf")}
    sys.path[:] = before


@pytest.fixture(scope="module")
def cluster(files, range_provider):
    options = {
        "cluster-signing-cert-file": str(files / "ca.crt"),
        "cluster-signing-key-file": str(files / "ca.key"),
        "service-account-private-key-file": str(files / "sa.key"),
        "root-ca-file": str(files / "ca.crt"),
        "local-path-dir": str(files / "volumes"),
        "allocate-node-cidrs": True,
        "cluster-cidr": "10.244.0.0/16",
        **range_provider,
    }
    server = ApiServer(options={"storage-backend": "memory", "authorization-mode": ["RBAC"]})
    server.start()
    manager = ControllerManager(client_for=server.client, options=ManagerOptions.in_process(MANAGER, options))
    manager.start()
    assert manager.wait_ready(10)
    yield server.client(ADMIN)
    manager.close()
    server.close()


@pytest.fixture
def namespace(cluster, request):
    """A namespace of the test's own, with all that controllers put into one; forbidden writes fail the test."""
    name = re.sub("[^a-z0-9]+", "-", request.node.name.lower())[:60].strip("-")
    refused = []

    class Listener(logging.Handler):
        def emit(self, record):
            if "cannot" in record.getMessage():
                refused.append(record.getMessage())

    listener = Listener()
    logging.getLogger("hyperkube").addHandler(listener)
    cluster.create(NAMESPACES, obj("Namespace", name))
    eventually(lambda: cluster.get(SERVICE_ACCOUNTS, "default", name))
    yield name
    logging.getLogger("hyperkube").removeHandler(listener)
    assert refused == []


def test_a_deployment_leads_to_pods(cluster, namespace):
    cluster.create(DEPLOYMENTS, deployment(), namespace)

    eventually(lambda: len(cluster.list(PODS, namespace).items) == 3)
    eventually(lambda: cluster.get(DEPLOYMENTS, "web", namespace)["status"]["replicas"] == 3)
    (rs,) = cluster.list(REPLICA_SETS, namespace).items
    web = cluster.get(DEPLOYMENTS, "web", namespace)
    assert rs["metadata"]["ownerReferences"][0]["uid"] == web["metadata"]["uid"]
    assert web["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1"
    assert web["metadata"]["generation"] == web["status"]["observedGeneration"] == 1


def test_a_rollout_ends_with_the_new_template_alone(cluster, namespace):
    cluster.create(DEPLOYMENTS, deployment(2), namespace)
    changed = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "new"}]}}}}

    def all_ready():
        """Play the kubelet."""
        for pod in cluster.list(PODS, namespace).items:
            status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
            if pod["status"].get("phase") != "Running":
                cluster.patch(PODS, pod["metadata"]["name"], {"status": status}, namespace, subresource="status")
        return cluster.get(DEPLOYMENTS, "web", namespace)["status"].get("availableReplicas") == 2

    eventually(all_ready)
    cluster.patch(DEPLOYMENTS, "web", changed, namespace)

    def rolled_out():
        all_ready()
        pods = cluster.list(PODS, namespace).items
        return len(pods) == 2 and all(pod["spec"]["containers"][0]["image"] == "new" for pod in pods)

    eventually(rolled_out)


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
def test_dependents_go_with_their_owner(cluster, namespace, policy):
    cluster.create(DEPLOYMENTS, deployment(2), namespace)
    eventually(lambda: len(cluster.list(PODS, namespace).items) == 2)
    began = time.monotonic()

    cluster.delete(DEPLOYMENTS, "web", namespace, options={"propagationPolicy": policy})

    kinds = (DEPLOYMENTS, REPLICA_SETS, PODS)
    eventually(lambda: not any(cluster.list(kind, namespace).items for kind in kinds))
    assert time.monotonic() - began < 1


def test_orphans_stay(cluster, namespace):
    cluster.create(DEPLOYMENTS, deployment(1), namespace)
    eventually(lambda: len(cluster.list(PODS, namespace).items) == 1)

    cluster.delete(DEPLOYMENTS, "web", namespace, options={"propagationPolicy": "Orphan"})

    eventually(lambda: not cluster.list(DEPLOYMENTS, namespace).items)
    (rs,) = cluster.list(REPLICA_SETS, namespace).items
    assert not rs["metadata"].get("ownerReferences")


def test_a_namespace_is_emptied_before_it_goes(cluster, namespace):
    cluster.create(DEPLOYMENTS, deployment(2), namespace)
    cluster.create(CONFIG_MAPS, obj("ConfigMap", "c"), namespace)
    eventually(lambda: len(cluster.list(PODS, namespace).items) == 2)

    cluster.delete(NAMESPACES, namespace)

    eventually(lambda: namespace not in [found["metadata"]["name"] for found in cluster.list(NAMESPACES).items])
    assert not cluster.list(CONFIG_MAPS, namespace).items
    assert not cluster.list(PODS, namespace).items


def test_a_service_has_endpoints_and_slices(cluster, namespace):
    spec = {"selector": LABELS, "ports": [{"port": 80, "targetPort": 8080}]}
    cluster.create(NODES, obj("Node", "of-endpoints"))
    cluster.create(SERVICES, obj("Service", "web", spec=spec), namespace)
    placed = {**TEMPLATE["spec"], "nodeName": "of-endpoints"}
    pod = cluster.create(PODS, obj("Pod", "p", spec=placed) | {"metadata": {"name": "p", "labels": LABELS}}, namespace)
    status = {
        "phase": "Running", "podIP": "10.1.2.3", "podIPs": [{"ip": "10.1.2.3"}],
        "conditions": [{"type": "Ready", "status": "True"}],
    }  # fmt: skip

    cluster.patch(PODS, pod["metadata"]["name"], {"status": status}, namespace, subresource="status")

    eventually(lambda: cluster.get(ENDPOINTS, "web", namespace)["subsets"][0]["addresses"][0]["ip"] == "10.1.2.3")
    eventually(
        lambda: (
            [
                entry["addresses"]
                for found in cluster.list(ENDPOINT_SLICES, namespace).items
                for entry in found["endpoints"] or ()
            ]
            == [["10.1.2.3"]]
        )
    )
    cluster.delete(NODES, "of-endpoints")


def test_a_job_runs_to_its_end(cluster, namespace):
    template = {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
    cluster.create(JOBS, obj("Job", "sum", "batch/v1", spec={"completions": 2, "template": template}), namespace)

    def succeed():
        """Play the kubelet."""
        for pod in cluster.list(PODS, namespace).items:
            if pod["status"].get("phase") != "Succeeded":
                done = {"status": {"phase": "Succeeded"}}
                cluster.patch(PODS, pod["metadata"]["name"], done, namespace, subresource="status")
        return cluster.get(JOBS, "sum", namespace)["status"].get("completionTime")

    eventually(succeed)
    assert cluster.get(JOBS, "sum", namespace)["status"]["succeeded"] == 2
    assert len(cluster.list(PODS, namespace).items) == 2


def test_a_job_is_suspended_and_resumed(cluster, namespace):
    spec = {"completions": 1, "template": {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}}
    cluster.create(JOBS, obj("Job", "pausing", "batch/v1", spec=spec), namespace)
    eventually(lambda: cluster.get(JOBS, "pausing", namespace)["status"].get("active") == 1)

    cluster.patch(JOBS, "pausing", {"spec": {"suspend": True}}, namespace)
    eventually(lambda: not {"active", "startTime"} & set(cluster.get(JOBS, "pausing", namespace)["status"]))
    cluster.patch(JOBS, "pausing", {"spec": {"suspend": False}}, namespace)

    eventually(lambda: cluster.get(JOBS, "pausing", namespace)["status"].get("active") == 1)
    status = cluster.get(JOBS, "pausing", namespace)["status"]
    assert status["startTime"]
    assert [each["status"] for each in status["conditions"] if each["type"] == "Suspended"] == ["False"]


def test_an_index_that_fails_for_good_fails_the_job(cluster, namespace):
    template = {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
    spec = {"completions": 2, "parallelism": 2, "completionMode": "Indexed", "backoffLimitPerIndex": 0}
    cluster.create(JOBS, obj("Job", "indexed", "batch/v1", spec={**spec, "template": template}), namespace)
    eventually(lambda: len(cluster.list(PODS, namespace).items) == 2)

    for pod in cluster.list(PODS, namespace).items:
        index = pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]
        ended = {"status": {"phase": "Succeeded" if index == "0" else "Failed"}}
        cluster.patch(PODS, pod["metadata"]["name"], ended, namespace, subresource="status")

    def failed():
        conditions = cluster.get(JOBS, "indexed", namespace)["status"].get("conditions") or []
        return any(each["type"] == "Failed" and each["reason"] == "FailedIndexes" for each in conditions)

    eventually(failed)
    status = cluster.get(JOBS, "indexed", namespace)["status"]
    assert (status["completedIndexes"], status["failedIndexes"], status["failed"]) == ("0", "1", 1)


@pytest.mark.parametrize(
    ("policy", "phase", "end"),
    [
        pytest.param(
            {"podFailurePolicy": {"rules": [{"action": "FailJob", "onPodConditions": [{"type": "Broken"}]}]}},
            {"phase": "Failed", "conditions": [{"type": "Broken", "status": "True"}]},
            ("Failed", "PodFailurePolicy"),
            id="failure",
        ),
        pytest.param(
            {"completionMode": "Indexed", "successPolicy": {"rules": [{"succeededCount": 1}]}},
            {"phase": "Succeeded"},
            ("Complete", "SuccessPolicy"),
            id="success",
        ),
    ],
)
def test_a_policy_ends_a_job_early(cluster, namespace, policy, phase, end):
    template = {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
    spec = {"completions": 3, "parallelism": 2, "template": template, **policy}
    cluster.create(JOBS, obj("Job", "early", "batch/v1", spec=spec), namespace)
    eventually(lambda: len(cluster.list(PODS, namespace).items) == 2)
    first = cluster.list(PODS, namespace).items[0]

    cluster.patch(PODS, first["metadata"]["name"], {"status": phase}, namespace, subresource="status")

    def ended():
        conditions = cluster.get(JOBS, "early", namespace)["status"].get("conditions") or []
        return any((each["type"], each["reason"]) == end for each in conditions)

    eventually(ended)
    assert not any(pod["metadata"].get("finalizers") for pod in cluster.list(PODS, namespace).items)
    assert "active" not in cluster.get(JOBS, "early", namespace)["status"]


def test_a_quota_learns_what_is_used(cluster, namespace):
    cluster.create(DEPLOYMENTS, deployment(2), namespace)
    eventually(lambda: len(cluster.list(PODS, namespace).items) == 2)

    cluster.create(RESOURCE_QUOTAS, obj("ResourceQuota", "q", spec={"hard": {"pods": "5"}}), namespace)

    eventually(lambda: cluster.get(RESOURCE_QUOTAS, "q", namespace)["status"]["used"] == {"pods": "2"})


def test_a_cron_job_makes_jobs(cluster, namespace):
    template = {"spec": {"template": {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}}}
    spec = {"schedule": "@every 1s", "concurrencyPolicy": "Forbid", "jobTemplate": template}

    cluster.create(CRON_JOBS, obj("CronJob", "tick", "batch/v1", spec=spec), namespace)

    eventually(lambda: cluster.list(PODS, namespace).items)
    (job,) = cluster.list(JOBS, namespace).items
    assert re.fullmatch(r"tick-\d+", job["metadata"]["name"])
    eventually(
        lambda: cluster.get(CRON_JOBS, "tick", namespace)["status"]["active"][0]["uid"] == job["metadata"]["uid"]
    )


def test_an_approved_certificate_request_is_signed(cluster, files):
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "jane")])
    asked = x509.CertificateSigningRequestBuilder().subject_name(subject)
    pem = asked.sign(ec.generate_private_key(ec.SECP256R1()), SHA256()).public_bytes(Encoding.PEM)
    spec = {
        "request": b64encode(pem).decode(),
        "signerName": "kubernetes.io/kube-apiserver-client",
        "usages": ["client auth"],
        "expirationSeconds": 3600,
    }
    api = "certificates.k8s.io/v1"
    csr = cluster.create(CERTIFICATE_SIGNING_REQUESTS, obj("CertificateSigningRequest", "jane", api, spec=spec))
    approved = {"type": "Approved", "status": "True", "reason": "KubectlApprove", "message": "by kubectl"}

    csr["status"] = {"conditions": [approved]}
    cluster.update(CERTIFICATE_SIGNING_REQUESTS, csr, subresource="approval")

    eventually(lambda: cluster.get(CERTIFICATE_SIGNING_REQUESTS, "jane")["status"]["certificate"])
    signed = cluster.get(CERTIFICATE_SIGNING_REQUESTS, "jane")["status"]["certificate"]
    certificate = x509.load_pem_x509_certificate(b64decode(signed))
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate((files / "ca.crt").read_bytes()))
    assert certificate.subject.rfc4514_string() == "CN=jane"
    assert certificate.not_valid_after_utc < datetime.now(UTC) + timedelta(hours=2)


def test_a_kubelets_certificate_request_is_approved_and_signed(cluster):
    names = ((NameOID.ORGANIZATION_NAME, "system:nodes"), (NameOID.COMMON_NAME, "system:node:n"))
    subject = x509.Name([x509.NameAttribute(oid, value) for oid, value in names])
    asked = x509.CertificateSigningRequestBuilder().subject_name(subject)
    pem = asked.sign(ec.generate_private_key(ec.SECP256R1()), SHA256()).public_bytes(Encoding.PEM)
    spec = {
        "request": b64encode(pem).decode(),
        "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
        "usages": ["digital signature", "client auth"],
    }

    api = "certificates.k8s.io/v1"
    cluster.create(CERTIFICATE_SIGNING_REQUESTS, obj("CertificateSigningRequest", "n", api, spec=spec))

    eventually(lambda: cluster.get(CERTIFICATE_SIGNING_REQUESTS, "n")["status"]["certificate"])


def test_a_secret_gets_the_token_it_asks_for(cluster, namespace):
    secret = obj("Secret", "robot", type="kubernetes.io/service-account-token")
    secret["metadata"]["annotations"] = {"kubernetes.io/service-account.name": "default"}

    cluster.create(SECRETS, secret, namespace)

    eventually(lambda: cluster.get(SECRETS, "robot", namespace)["data"]["token"])


def test_a_claim_gets_a_folder_and_gives_it_back(cluster, namespace, files):
    name = "local-path"
    storage = {"provisioner": "hyperkube.dev/local-path", "reclaimPolicy": "Delete"}
    cluster.create(STORAGE_CLASSES, obj("StorageClass", name, "storage.k8s.io/v1", **storage))
    spec = {
        "storageClassName": name,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Mi"}},
    }

    cluster.create(PERSISTENT_VOLUME_CLAIMS, obj("PersistentVolumeClaim", "data", spec=spec), namespace)

    eventually(lambda: cluster.get(PERSISTENT_VOLUME_CLAIMS, "data", namespace)["status"]["phase"] == "Bound")
    bound = cluster.get(PERSISTENT_VOLUME_CLAIMS, "data", namespace)["spec"]["volumeName"]
    eventually(lambda: cluster.get(PERSISTENT_VOLUMES, bound)["status"]["phase"] == "Bound")
    assert (files / "volumes" / bound).is_dir()
    cluster.delete(PERSISTENT_VOLUME_CLAIMS, "data", namespace)
    eventually(lambda: not cluster.list(PERSISTENT_VOLUMES).items)
    assert not (files / "volumes" / bound).exists()


def test_a_service_gets_an_address_and_gives_it_back(cluster, namespace):
    spec = {"type": "LoadBalancer", "selector": LABELS, "ports": [{"port": 80}]}
    cluster.create(SERVICES, obj("Service", "web", spec=spec), namespace)

    def address():
        return cluster.get(SERVICES, "web", namespace)["status"]["loadBalancer"]["ingress"][0]["ip"]

    eventually(lambda: address().startswith("192.0.2."))
    assert cluster.get(SERVICES, "web", namespace)["metadata"]["finalizers"]
    cluster.delete(SERVICES, "web", namespace)
    eventually(lambda: not cluster.list(SERVICES, namespace).items)


def test_hand_written_endpoints_have_slices(cluster, namespace):
    cluster.create(SERVICES, obj("Service", "db", spec={"ports": [{"port": 5432}]}), namespace)
    subsets = [{"addresses": [{"ip": "192.0.2.77"}], "ports": [{"port": 5432}]}]

    cluster.create(ENDPOINTS, obj("Endpoints", "db", subsets=subsets), namespace)

    def addresses():
        slices = cluster.list(ENDPOINT_SLICES, namespace).items
        return [entry["addresses"] for each in slices for entry in each["endpoints"]]

    eventually(lambda: addresses() == [["192.0.2.77"]])


def test_a_node_gets_a_range_and_is_annotated(cluster):
    cluster.create(NODES, obj("Node", "ranged"))

    # The next one of the range: nodes of other tests had some before.
    eventually(lambda: re.fullmatch(r"10\.244\.\d+\.0/24", cluster.get(NODES, "ranged")["spec"]["podCIDRs"][0]))
    eventually(lambda: cluster.get(NODES, "ranged")["metadata"]["annotations"]["node.alpha.kubernetes.io/ttl"] == "0")
    cluster.delete(NODES, "ranged")


def test_a_range_of_service_addresses_is_ready(cluster):
    def conditions():
        (found,) = cluster.list(SERVICE_CIDRS).items
        return found["metadata"]["finalizers"], found["status"]["conditions"][0]["status"]

    eventually(lambda: conditions() == (["networking.k8s.io/service-cidr-finalizer"], "True"))


def test_an_autoscaler_keeps_its_target_within_bounds_and_says_what_it_lacks(cluster, namespace):
    cluster.create(DEPLOYMENTS, deployment(1), namespace)
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 4}

    cluster.create(AUTOSCALERS, obj("HorizontalPodAutoscaler", "web", "autoscaling/v2", spec=spec), namespace)

    eventually(lambda: len(cluster.list(PODS, namespace).items) == 2)
    cluster.patch(AUTOSCALERS, "web", {"spec": {"maxReplicas": 5}}, namespace)

    def active():
        rows = cluster.get(AUTOSCALERS, "web", namespace)["status"]["conditions"]
        return [(row["status"], row["reason"]) for row in rows if row["type"] == "ScalingActive"]

    eventually(lambda: active() == [("False", "FailedGetResourceMetric")])


def test_an_ephemeral_volume_has_a_claim_that_goes_with_the_pod(cluster, namespace):
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}
    volume = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": wanted}}}
    cluster.create(PODS, obj("Pod", "p", spec={**TEMPLATE["spec"], "volumes": [volume]}), namespace)
    eventually(lambda: cluster.get(PERSISTENT_VOLUME_CLAIMS, "p-scratch", namespace))

    cluster.delete(PODS, "p", namespace, options={"gracePeriodSeconds": 0})

    eventually(lambda: not cluster.list(PERSISTENT_VOLUME_CLAIMS, namespace).items)


def test_a_policy_is_checked_against_the_types_it_matches(cluster, namespace):
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}
    rules = [
        {"expression": "object.spec.replica > 1"},
        {"expression": "object.spec.strategy.rollingUpdate.maxSurge == 1 || object.metadata.labels['a'] == 'b'"},
        {"expression": "object.spec.template.spec.containers.all(c, c.resources.limits['cpu'].size() < 9)"},
        {"expression": "authorizer.requestResource.check('scale').allowed()"},
        {"expression": "object.metadata.creationTimestamp < timestamp('2020-01-01T00:00:00Z')"},
    ]
    spec = {"failurePolicy": "Ignore", "matchConstraints": {"resourceRules": [rule]}, "validations": rules}
    policies = GroupVersionResource("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies")
    name = f"{namespace}.example.com"
    cluster.create(policies, {"metadata": {"name": name}, "spec": spec})

    eventually(lambda: cluster.get(policies, name)["status"]["observedGeneration"] == 1)
    found = cluster.get(policies, name)["status"]["typeChecking"]["expressionWarnings"]

    assert found == [
        {
            "fieldRef": "spec.validations[0].expression",
            "warning": "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replica'\n"
            " | object.spec.replica > 1\n | ...........^\n",
        }
    ]
