"""What to do next for a pod, as transcripts: what is there → what is done."""

import pytest
from hyperkube_host.kubelet.container.pod_status import NO_STATUS, PodStatus
from hyperkube_host.kubelet.kuberuntime.pod_actions import compute_pod_actions, compute_reset, stop_order
from hyperkube_host.kubelet.prober.probe_type import ProbeType
from hyperkube_host.kubelet.types.labels import CONTAINER_HASH

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus, SandboxStatus


def pod(*names, init=(), policy="Always", sidecars=()):
    return {
        "metadata": {"name": "p", "namespace": "ns", "uid": "u"},
        "spec": {
            "restartPolicy": policy,
            "initContainers": [
                {"name": name, "image": "i"} | ({"restartPolicy": "Always"} if name in sidecars else {})
                for name in init
            ],
            "containers": [{"name": name, "image": "i"} for name in names],
        },
    }


def sandbox(ready=True, attempt=0):
    return SandboxStatus(
        id=f"s{attempt}", namespace="ns", name="p", uid="u", attempt=attempt, ready=ready, created_at=attempt + 1.0
    )


def container(name, state="running", code=0, attempt=0, sandbox_id="s0", **annotations):
    return ContainerStatus(
        id=f"{name}-{attempt}", sandbox_id=sandbox_id, name=name, attempt=attempt, state=ContainerState(state), image="i",
        created_at=attempt + 1.0, exit_code=code, annotations=annotations,
    )  # fmt: skip


def decide(spec, *containers, box=None, failed=None, started=True):
    pod_status = PodStatus.of([box or sandbox()], containers)
    return compute_pod_actions(spec, pod_status, failed_probes=failed or {}, is_started=lambda _id: started)


def starts(decided):
    return [entry["name"] for entry in decided.starts]


def test_a_new_pod_gets_a_sandbox_and_all_its_containers():
    decided = compute_pod_actions(pod("a", "b"), NO_STATUS, failed_probes={}, is_started=lambda _id: True)

    assert (decided.create_sandbox, decided.attempt, starts(decided)) == (True, 0, ["a", "b"])


def test_a_new_pod_with_init_containers_begins_with_the_first():
    decided = compute_pod_actions(pod("a", init=["i", "j"]), NO_STATUS, failed_probes={}, is_started=lambda _id: True)

    assert starts(decided) == ["i"]


def test_init_containers_run_one_after_the_other_then_the_regular_ones():
    spec = pod("a", init=["i", "j"])
    done, busy = container("i", "exited"), container("i")

    assert starts(decide(spec, busy)) == []
    assert starts(decide(spec, done)) == ["j"]
    assert starts(decide(spec, done, container("j", "exited"))) == ["a"]


def test_a_failed_init_container_is_tried_again_unless_the_policy_is_never():
    failed = container("i", "exited", 1)

    assert starts(decide(pod("a", init=["i"]), failed)) == ["i"]
    assert decide(pod("a", init=["i"], policy="Never"), failed).kill_pod


@pytest.mark.parametrize(
    ("policy", "code", "again"),
    [("Always", 0, True), ("Always", 1, True), ("OnFailure", 0, False), ("OnFailure", 1, True), ("Never", 1, False)],
)
def test_an_ended_container_starts_again_as_the_policy_says(policy, code, again):
    decided = decide(pod("a", policy=policy), container("a", "exited", code))

    assert (starts(decided) == ["a"], decided.kill_pod) == (again, not again)


def test_a_pod_whose_other_container_runs_goes_on():
    decided = decide(pod("a", "b", policy="Never"), container("a", "exited"), container("b"))

    assert not decided.kill_pod
    assert starts(decided) == []


@pytest.mark.parametrize("probe", [ProbeType.LIVENESS, ProbeType.STARTUP])
def test_a_failed_probe_restarts_the_container(probe):
    decided = decide(pod("a"), container("a"), failed={"a-0": probe})

    assert [kill.message for kill in decided.kills] == [f"Container a failed {probe.value} probe, will be restarted"]
    assert starts(decided) == ["a"]


def test_a_failed_probe_only_ends_the_container_when_the_policy_is_never():
    decided = decide(pod("a", "b", policy="Never"), container("a"), container("b"), failed={"a-0": ProbeType.LIVENESS})

    assert [kill.message for kill in decided.kills] == ["Container a failed liveness probe"]
    assert starts(decided) == []


def test_a_changed_image_restarts_the_container():
    decided = decide(pod("a"), container("a", **{CONTAINER_HASH: "other"}))

    assert [kill.message for kill in decided.kills] == ["Container a definition changed, will be restarted"]


def test_a_lost_sandbox_is_renewed():
    decided = decide(pod("a"), container("a", "exited", 137), box=sandbox(ready=False, attempt=3))

    assert (decided.create_sandbox, decided.attempt, starts(decided)) == (True, 4, ["a"])


def test_a_lost_sandbox_of_a_pod_that_never_restarts_ends_it():
    decided = decide(pod("a", policy="Never"), container("a", "exited", 137), box=sandbox(ready=False))

    assert decided.kill_pod


def test_a_sidecar_must_have_started_before_the_next_runs():
    spec = pod("a", init=["s", "i"], sidecars=["s"])

    assert starts(decide(spec)) == ["s"]
    assert starts(decide(spec, container("s"), started=False)) == []
    assert starts(decide(spec, container("s"))) == ["i"]
    assert starts(decide(spec, container("s"), container("i", "exited"))) == ["a"]


def test_a_sidecar_is_restarted_while_the_pod_runs_and_does_not_keep_it_alive():
    spec = pod("a", init=["s"], sidecars=["s"], policy="Never")

    assert starts(decide(spec, container("s", "exited", 1), container("a"))) == ["s"]
    assert decide(spec, container("s"), container("a", "exited")).kill_pod


def test_sidecars_stop_last_and_in_reverse():
    spec = pod("a", "b", init=["s", "t"], sidecars=["s", "t"])

    order = stop_order(spec, [container(name) for name in ("s", "t", "a", "b")])

    assert [[status.name for status in step] for step in order] == [["a", "b"], ["t"], ["s"]]


def rules(action, *values, operator="In"):
    return [{"action": action, "exitCodes": {"operator": operator, "values": list(values)}}]


@pytest.mark.parametrize(
    ("own", "code", "again"),
    [
        ({"restartPolicy": "Never"}, 1, False),
        ({"restartPolicy": "OnFailure"}, 1, True),
        ({"restartPolicy": "OnFailure"}, 0, False),
        ({"restartPolicy": "Never", "restartPolicyRules": rules("Restart", 42)}, 42, True),
        ({"restartPolicy": "Never", "restartPolicyRules": rules("Restart", 42)}, 1, False),
        ({"restartPolicy": "Never", "restartPolicyRules": rules("Restart", 42, operator="NotIn")}, 1, True),
        ({"restartPolicy": "Never", "restartPolicyRules": rules("RestartAllContainers", 42)}, 42, True),
    ],
)
def test_a_containers_own_policy_and_rules_come_before_those_of_the_pod(own, code, again):
    spec = pod("a", "b")
    spec["spec"]["containers"][0] |= own

    decided = decide(spec, container("a", "exited", code), container("b"))

    assert starts(decided) == (["a"] if again else [])


def test_a_container_of_an_unknown_state_is_stopped_before_it_starts_again():
    decided = decide(pod("a"), container("a", "unknown"))

    assert [kill.message for kill in decided.kills] == [
        'Container is in "unknown" state, try killing it before restart'
    ]
    assert starts(decided) == ["a"]


def test_a_pod_that_is_deleted_starts_nothing():
    spec = pod("a")
    spec["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"

    assert starts(decide(spec, container("a", "exited", 1), container("b"))) == []


def test_two_ready_sandboxes_are_replaced_by_a_new_one():
    pod_status = PodStatus.of([sandbox(), sandbox(attempt=1)], [])
    decided = compute_pod_actions(pod("a"), pod_status, failed_probes={}, is_started=lambda _id: True)

    assert (decided.kill_pod, decided.create_sandbox, decided.attempt) == (True, True, 2)


def test_a_container_that_has_completed_does_not_run_again_in_a_new_sandbox():
    decided = decide(
        pod("a", "b", policy="OnFailure"),
        container("a", "exited"),
        container("b", "exited", 1),
        box=sandbox(ready=False),
    )

    assert starts(decided) == ["b"]


def test_a_new_sandbox_begins_with_the_first_init_container():
    decided = decide(
        pod("a", init=["i", "j"]), container("i", "exited"), container("j", "exited"), container("a", "exited", 137),
        box=sandbox(ready=False),
    )  # fmt: skip

    assert (decided.create_sandbox, starts(decided)) == (True, ["i"])


def test_init_containers_that_were_removed_do_not_run_again():
    spec = pod("a", init=["i", "j"])

    assert starts(decide(spec, container("j", "exited"))) == ["a"]
    assert starts(decide(spec, container("a"))) == []


def test_a_sidecar_that_was_removed_runs_again():
    spec = pod("a", init=["s", "i"], sidecars=["s"])

    assert starts(decide(spec, container("a"))) == ["s"]


def test_an_exited_sidecar_holds_back_nothing_that_has_begun():
    spec = pod("a", init=["s", "i"], sidecars=["s"])

    assert starts(decide(spec, container("s", "exited", 1), container("i", "exited", 1))) == ["s", "i"]


@pytest.mark.parametrize(
    ("probe", "message"),
    [
        (ProbeType.STARTUP, "Init container s failed startup probe"),
        (ProbeType.LIVENESS, "Init container s failed liveness probe"),
    ],
)
def test_a_sidecar_whose_probe_fails_is_restarted(probe, message):
    started = probe is ProbeType.LIVENESS
    decided = decide(
        pod("a", init=["s"], sidecars=["s"]), container("s"), container("a"), failed={"s-0": probe}, started=started
    )

    assert [kill.message for kill in decided.kills] == [message]
    assert starts(decided) == ["s"]


def test_a_failed_init_container_with_a_rule_of_its_own_runs_again():
    spec = pod("a", init=["i"], policy="Never")
    spec["spec"]["initContainers"][0] |= {"restartPolicy": "Never", "restartPolicyRules": rules("Restart", 7)}

    assert starts(decide(spec, container("i", "exited", 7))) == ["i"]
    assert decide(spec, container("i", "exited", 8)).kill_pod


def test_ephemeral_containers_run_once_and_beside_the_init_containers():
    spec = pod("a", init=["i"])
    spec["spec"]["ephemeralContainers"] = [{"name": "d"}, {"name": "e"}]

    decided = decide(spec, container("i"), container("d", "exited", 1))

    assert starts(decided) == ["e"]


def test_all_containers_are_removed_the_one_that_asked_for_it_last():
    spec = pod("a", "b", init=["i"])
    spec["spec"]["containers"][0] |= {"restartPolicy": "Never", "restartPolicyRules": rules("RestartAllContainers", 88)}
    pod_status = PodStatus.of(
        [sandbox()],
        [container("i", "exited"), container("a", "exited", 88), container("b"), container("a", "exited", 0, 1)],
    )

    reset = compute_reset(spec, pod_status)

    assert [(one.status.id, one.kill) for one in reset] == [
        ("i-0", False), ("a-1", False), ("b-0", True), ("a-0", False),
    ]  # fmt: skip
