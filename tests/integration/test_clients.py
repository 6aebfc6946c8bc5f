"""The Python client of the Kubernetes project against our API over HTTPS: typed, dynamic, watches and leases."""

from __future__ import annotations

import datetime as dt
import json
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from client_objects import GROUP, custom, definition, deployment, pod, served_cluster

kubernetes = pytest.importorskip("kubernetes", reason="the Python client 'kubernetes' is not installed")
from kubernetes import client, config, dynamic, utils, watch  # noqa: E402  only where it is installed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster():
    with served_cluster() as running:
        yield running


@pytest.fixture(scope="module")
def api(cluster):
    with config.new_client_from_config(str(cluster.kubeconfig)) as connected:
        yield connected


@pytest.fixture
def core(api):
    return client.CoreV1Api(api)


@pytest.fixture(scope="module")
def anything(api, tmp_path_factory):
    return dynamic.DynamicClient(api, cache_file=str(tmp_path_factory.mktemp("discovery") / "cache"))


@pytest.fixture(scope="module")
def widgets(cluster, anything):
    definitions = anything.resources.get(api_version="apiextensions.k8s.io/v1", kind="CustomResourceDefinition")
    definitions.create(body=definition("Widget"))

    def established():
        found = definitions.get(name=f"widgets.{GROUP}")
        return any(row.type == "Established" and row.status == "True" for row in found.status.conditions or ())

    cluster.wait(established, "the definition")
    anything.resources.invalidate_cache()
    return anything.resources.get(api_version=f"{GROUP}/v1", kind="Widget")


def config_map(name, **data):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels={"made": "here"}), data=data)


def reason(refused):
    """Return status, reason and message of a refusal."""
    status = json.loads(refused.value.body)
    assert status["kind"] == "Status"
    assert status["code"] == refused.value.status
    return refused.value.status, status["reason"], status["message"]


def test_typed_objects_come_back_as_they_were_sent(core):
    created = core.create_namespaced_config_map("default", config_map("typed", colour="blue"))

    read = core.read_namespaced_config_map("typed", "default")

    assert read.data == {"colour": "blue"}
    assert read.metadata.uid == created.metadata.uid
    assert isinstance(read.metadata.creation_timestamp, dt.datetime)
    assert read == created


def test_a_typed_deployment_runs(cluster, api):
    container = client.V1Container(
        name="main",
        image="any",
        ports=[client.V1ContainerPort(container_port=80)],
        resources=client.V1ResourceRequirements(requests={"cpu": "0.1", "memory": "64Mi"}),
    )
    labels = {"app": "typed"}
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels=labels), spec=client.V1PodSpec(containers=[container])
    )
    apps = client.AppsV1Api(api)
    wanted = client.V1DeploymentSpec(
        replicas=2, selector=client.V1LabelSelector(match_labels=labels), template=template
    )

    made = apps.create_namespaced_deployment(
        "default", client.V1Deployment(metadata=client.V1ObjectMeta(name="typed"), spec=wanted)
    )

    assert made.spec.strategy.rolling_update.max_surge == "25%"
    assert made.spec.template.spec.containers[0].resources.requests["cpu"] == "100m"
    cluster.wait(
        lambda: apps.read_namespaced_deployment_status("typed", "default").status.ready_replicas == 2, "two pods"
    )
    scale = apps.read_namespaced_deployment_scale("typed", "default")
    scale.spec.replicas = 0
    assert not apps.replace_namespaced_deployment_scale("typed", "default", scale).spec.replicas
    pods = client.CoreV1Api(api)
    cluster.wait(lambda: not pods.list_namespaced_pod("default", label_selector="app=typed").items, "no pods")


def test_lists_are_selected_and_paged(core):
    for number in range(5):
        core.create_namespaced_config_map("default", config_map(f"page-{number}", number=str(number)))

    first = core.list_namespaced_config_map("default", label_selector="made in (here)", limit=2)
    names = [item.metadata.name for item in first.items]
    token = first.metadata._continue
    while token:
        page = core.list_namespaced_config_map("default", label_selector="made in (here)", limit=2, _continue=token)
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue

    assert [name for name in names if name.startswith("page-")] == [f"page-{number}" for number in range(5)]
    one = core.list_config_map_for_all_namespaces(field_selector="metadata.name=page-3")
    assert [item.data for item in one.items] == [{"number": "3"}]


@pytest.mark.parametrize(
    ("media", "change"),
    [
        ("application/json-patch+json", [{"op": "replace", "path": "/data/colour", "value": "red"}]),
        ("application/merge-patch+json", {"data": {"colour": "red"}}),
        ("application/strategic-merge-patch+json", {"data": {"colour": "red"}}),
    ],
    ids=["json", "merge", "strategic"],
)
def test_each_kind_of_patch_changes_one_field(core, media, change):
    name = "patched-" + media.partition("/")[2].partition("-")[0]
    core.create_namespaced_config_map("default", config_map(name, colour="blue", size="small"))

    patched = core.patch_namespaced_config_map(name, "default", change, _content_type=media)

    assert patched.data == {"colour": "red", "size": "small"}


def test_a_patch_of_a_list_of_containers_is_strategic_unless_said_otherwise(core):
    core.create_namespaced_pod("default", pod("strategic"))

    change = {"spec": {"containers": [{"name": "main", "image": "newer"}]}}
    patched = core.patch_namespaced_pod("strategic", "default", change)

    assert patched.spec.containers[0].image == "newer"
    assert patched.spec.containers[0].termination_message_path == "/dev/termination-log"


def test_applied_fields_belong_to_who_applied_them(core):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"colour": "blue"}}
    apply = {"_content_type": "application/apply-patch+yaml"}

    made = core.patch_namespaced_config_map("applied", "default", body, field_manager="first", **apply)
    with pytest.raises(client.ApiException) as refused:
        core.patch_namespaced_config_map(
            "applied", "default", {**body, "data": {"colour": "red"}}, field_manager="second", **apply
        )

    assert [entry.manager for entry in made.metadata.managed_fields] == ["first"]
    assert reason(refused)[:2] == (409, "Conflict")
    forced = core.patch_namespaced_config_map(
        "applied", "default", {**body, "data": {"colour": "red"}}, field_manager="second", force=True, **apply
    )
    assert forced.data == {"colour": "red"}


def test_refusals_have_the_reasons_that_programs_look_at(core):
    core.create_namespaced_config_map("default", config_map("once"))
    stale = core.read_namespaced_config_map("once", "default")
    core.patch_namespaced_config_map("once", "default", {"data": {"a": "b"}})

    with pytest.raises(client.ApiException) as missing:
        core.read_namespaced_config_map("never", "default")
    with pytest.raises(client.ApiException) as twice:
        core.create_namespaced_config_map("default", config_map("once"))
    with pytest.raises(client.ApiException) as late:
        core.replace_namespaced_config_map("once", "default", stale)
    with pytest.raises(client.ApiException) as wrong:
        core.create_namespaced_config_map("default", config_map("Not_A_Name"))

    assert reason(missing) == (404, "NotFound", 'configmaps "never" not found')
    assert reason(twice) == (409, "AlreadyExists", 'configmaps "once" already exists')
    assert reason(late)[:2] == (409, "Conflict")
    assert reason(wrong)[:2] == (422, "Invalid")


def test_a_watch_goes_on_from_the_version_of_a_list(core):
    seen = []
    start = core.list_namespaced_config_map("default").metadata.resource_version
    core.create_namespaced_config_map("default", config_map("watched", step="one"))
    core.patch_namespaced_config_map("watched", "default", {"data": {"step": "two"}})
    core.delete_namespaced_config_map("watched", "default")

    watcher = watch.Watch()
    for event in watcher.stream(
        core.list_namespaced_config_map,
        "default",
        resource_version=start,
        field_selector="metadata.name=watched",
        timeout_seconds=10,
    ):
        seen.append((event["type"], event["object"].data["step"]))
        if event["type"] == "DELETED":
            watcher.stop()

    assert seen == [("ADDED", "one"), ("MODIFIED", "two"), ("DELETED", "two")]
    assert int(watcher.resource_version) > int(start)


def test_a_watch_that_nothing_happens_on_ends_in_time(core):
    started = time.monotonic()

    events = list(
        watch.Watch().stream(
            core.list_namespaced_secret, "default", field_selector="metadata.name=nothing", timeout_seconds=1
        )
    )

    assert events == []
    assert 0.5 < time.monotonic() - started < 5


def test_foreground_deletion_takes_the_dependents_first(cluster, api, core):
    apps = client.AppsV1Api(api)
    utils.create_from_dict(api, deployment("falls", 2))
    cluster.wait(lambda: len(core.list_namespaced_pod("default", label_selector="app=falls").items) == 2, "two pods")

    apps.delete_namespaced_deployment("falls", "default", propagation_policy="Foreground")

    cluster.wait(
        lambda: (
            not apps.list_namespaced_deployment("default", label_selector="app=falls").items
            and not apps.list_namespaced_replica_set("default", label_selector="app=falls").items
            and not core.list_namespaced_pod("default", label_selector="app=falls").items
        ),
        "everything to go",
    )


def test_orphans_stay(cluster, api, core):
    apps = client.AppsV1Api(api)
    utils.create_from_dict(api, deployment("leaves"))
    cluster.wait(
        lambda: apps.list_namespaced_replica_set("default", label_selector="app=leaves").items, "a replica set"
    )

    options = client.V1DeleteOptions(propagation_policy="Orphan")
    apps.delete_namespaced_deployment("leaves", "default", body=options)

    cluster.wait(
        lambda: not apps.list_namespaced_deployment("default", label_selector="app=leaves").items,
        "the deployment to go",
    )
    left = apps.list_namespaced_replica_set("default", label_selector="app=leaves").items
    assert [owned.metadata.owner_references for owned in left] == [None]


def test_the_leader_keeps_its_lease_and_the_next_takes_it(api):
    from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

    leases = client.CoordinationV1Api(api)
    now = dt.datetime.now(dt.UTC)
    spec = client.V1LeaseSpec(holder_identity="first", lease_duration_seconds=15, acquire_time=now, renew_time=now)
    made = leases.create_namespaced_lease(
        "default", client.V1Lease(metadata=client.V1ObjectMeta(name="leader"), spec=spec)
    )
    rival = leases.read_namespaced_lease("leader", "default")

    made.spec.renew_time = now + dt.timedelta(seconds=2, microseconds=5)
    renewed = leases.replace_namespaced_lease("leader", "default", made)
    rival.spec.holder_identity = "second"
    with pytest.raises(client.ApiException) as late:
        leases.replace_namespaced_lease("leader", "default", rival)

    assert renewed.spec.renew_time == made.spec.renew_time
    assert reason(late)[:2] == (409, "Conflict")
    lock = LeaseLock("leader", "default", "third")
    lock.api_instance = leases
    held, record = lock.get("leader", "default")
    assert held
    assert record.holder_identity == "first"


def test_one_of_two_candidates_leads(api):
    from kubernetes.leaderelection import electionconfig, leaderelection
    from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

    leading = threading.Event()
    lock = LeaseLock("elected", "default", "only")
    lock.api_instance = client.CoordinationV1Api(api)

    settings = electionconfig.Config(
        lock, lease_duration=3, renew_deadline=2, retry_period=1, onstarted_leading=leading.set, onstopped_leading=None
    )
    candidate = leaderelection.LeaderElection(settings)
    took = candidate.try_acquire_or_renew()
    renewed = candidate.try_acquire_or_renew()

    assert took
    assert renewed
    found = lock.api_instance.read_namespaced_lease("elected", "default")
    assert found.spec.holder_identity == "only"


def test_the_dynamic_client_finds_every_kind(anything):
    kinds = {(found.group_version, found.kind) for found in anything.resources.search() if found.kind}

    assert {("v1", "Pod"), ("apps/v1", "Deployment"), ("rbac.authorization.k8s.io/v1", "Role")} <= kinds
    assert anything.version["kubernetes"]["major"] == "1"


def test_custom_objects_live_a_whole_life(anything, widgets):
    widgets.create(body=custom("Widget", "one", colour="blue"), namespace="default")

    patched = widgets.patch(
        body={"spec": {"colour": "red"}},
        name="one",
        namespace="default",
        content_type="application/merge-patch+json",
    )
    status = widgets.status.patch(
        body={"status": {"phase": "Done"}, "spec": {"colour": "ignored"}},
        name="one",
        namespace="default",
        content_type="application/merge-patch+json",
    )

    assert patched.metadata.generation == 2
    assert (status.spec.colour, status.status.phase, status.metadata.generation) == ("red", "Done", 2)
    events = widgets.watch(namespace="default", resource_version=patched.metadata.resourceVersion, timeout=60)
    assert next(iter(events))["object"].status.phase == "Done"
    widgets.delete(name="one", namespace="default")
    with pytest.raises(dynamic.exceptions.NotFoundError):
        widgets.get(name="one", namespace="default")


def test_custom_objects_are_applied_field_by_field(widgets):
    first = widgets.server_side_apply(
        body=custom("Widget", "shared", colour="blue"), name="shared", namespace="default", field_manager="painter"
    )
    second = widgets.server_side_apply(
        body=custom("Widget", "shared", replicas=3), name="shared", namespace="default", field_manager="scaler"
    )
    with pytest.raises(dynamic.exceptions.ConflictError):
        widgets.server_side_apply(
            body=custom("Widget", "shared", replicas=5), name="shared", namespace="default", field_manager="painter"
        )

    assert (first.spec.colour, second.spec.colour, second.spec.replicas) == ("blue", "blue", 3)
    scale = widgets.scale.get(name="shared", namespace="default")
    assert (scale.kind, scale.spec.replicas) == ("Scale", 3)


def test_custom_objects_are_validated(widgets):
    with pytest.raises(dynamic.exceptions.UnprocessibleEntityError) as refused:
        widgets.create(body=custom("Widget", "wrong", replicas=-1), namespace="default")

    assert "spec.replicas" in str(refused.value.body)


def test_the_typed_client_reads_custom_objects_too(api, widgets):
    loose = client.CustomObjectsApi(api)
    loose.create_namespaced_custom_object(GROUP, "v1", "default", "widgets", custom("Widget", "loose", colour="blue"))

    changed = loose.patch_namespaced_custom_object(
        GROUP, "v1", "default", "widgets", "loose", {"spec": {"colour": "red"}}
    )

    assert changed["spec"] == {"colour": "red"}
    found = loose.list_cluster_custom_object(GROUP, "v1", "widgets", field_selector="metadata.name=loose")
    assert [item["metadata"]["name"] for item in found["items"]] == ["loose"]
