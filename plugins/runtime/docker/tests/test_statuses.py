"""Docker's descriptions as the kubelet's records."""

import pytest
from hyperkube_runtime.docker.statuses import (
    container_status,
    listed_container,
    listed_sandbox,
    may_be_oom_killed,
    moment,
    pullable,
)

NEVER = "0001-01-01T00:00:00Z"
STARTED, FINISHED = "1970-01-01T00:00:02.5Z", "1970-01-01T00:00:03.123456789Z"


def described(**state):
    """Return the description of a container in a state."""
    return {
        "Id": "c", "Name": "/k8s_app_web_shop_u_4", "Created": "1970-01-01T00:00:01Z", "Image": "sha256:1",
        "Config": {"Image": "sha256:1", "Labels": {"io.kubernetes.sandbox.id": "s"}},
        "HostConfig": {"Memory": 64, "CpuQuota": 0, "CpuShares": 2, "OomScoreAdj": 10},
        "State": {"Running": False, "ExitCode": 0, "StartedAt": NEVER, "FinishedAt": NEVER, **state},
        "Mounts": [{"Source": "/a", "Destination": "/b", "RW": True}, {"Source": "/c", "Destination": "/d"}],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("", 0.0), (NEVER, 0.0), (STARTED, 2.5), (FINISHED, 3.123456789), ("1970-01-01T00:01:00Z", 60)],
)
def test_times(text, seconds):
    assert moment(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("state", "seen"),
    [
        ({}, ("created", 0, "")),
        ({"Running": True, "StartedAt": STARTED}, ("running", 0, "")),
        ({"StartedAt": STARTED, "FinishedAt": FINISHED}, ("exited", 0, "Completed")),
        ({"StartedAt": STARTED, "FinishedAt": FINISHED, "ExitCode": 3}, ("exited", 3, "Error")),
        (
            {"StartedAt": STARTED, "FinishedAt": FINISHED, "ExitCode": 137, "OOMKilled": True},
            ("exited", 137, "OOMKilled"),
        ),
        ({"ExitCode": 127, "Error": "no such program"}, ("exited", 127, "ContainerCannotRun")),
    ],
    ids=["created", "running", "completed", "error", "out of memory", "never ran"],
)
def test_states(state, seen):
    status = container_status(described(**state), {})

    assert (status.state, status.exit_code, status.reason) == seen


@pytest.mark.parametrize(
    ("state", "limits", "now", "waits"),
    [
        ({"ExitCode": 137}, {"Memory": 64}, 3.2, True),
        ({"ExitCode": 137}, {"Memory": 64}, 4.0, False),
        ({"ExitCode": 137}, {"Memory": 0}, 3.2, False),
        ({"ExitCode": 137, "OOMKilled": True}, {"Memory": 64}, 3.2, False),
        ({"ExitCode": 1}, {"Memory": 64}, 3.2, False),
        ({"ExitCode": 137, "Running": True}, {"Memory": 64}, 3.2, False),
    ],
    ids=["just now", "a while ago", "without a limit", "told already", "of itself", "runs again"],
)
def test_docker_may_not_know_yet_that_memory_was_used_up(state, limits, now, waits):
    found = described(StartedAt=STARTED, FinishedAt=FINISHED, **state) | {"HostConfig": limits}

    assert may_be_oom_killed(found, now) == waits


def test_what_never_ran_ended_when_it_was_created():
    status = container_status(described(ExitCode=127, Error="no such program"), {})

    assert (status.started_at, status.finished_at, status.message) == (1.0, 1.0, "no such program")


def test_a_container_tells_its_pod_image_and_mounts():
    image = {"RepoTags": ["app:1"], "RepoDigests": ["app@sha256:2"]}

    status = container_status(described(), image)

    assert (status.name, status.attempt, status.sandbox_id) == ("app", 4, "s")
    assert (status.image, status.image_id, status.image_ref) == ("app:1", "sha256:1", "docker-pullable://app@sha256:2")
    assert status.resources == {"linux": {"memory_limit_in_bytes": 64, "cpu_shares": 2, "oom_score_adj": 10}}
    assert [dict(mount) for mount in status.mounts] == [
        {"container_path": "/b", "host_path": "/a"},
        {"container_path": "/d", "host_path": "/c", "readonly": True},
    ]


def test_an_image_without_a_digest_is_known_by_its_id():
    assert pullable("sha256:1", {}) == "docker://sha256:1"


def test_rows_of_other_containers_are_none():
    row = {"Id": "x", "Names": ["/registry"], "State": "running"}

    assert listed_container(row) is None
    assert listed_sandbox(row) is None


@pytest.mark.parametrize(("state", "ready"), [("running", True), ("created", False), ("exited", False)])
def test_a_sandbox_is_ready_while_its_container_runs(state, ready):
    row = {"Id": "x", "Names": ["/k8s_POD_web_shop_u_1"], "State": state, "HostConfig": {"NetworkMode": "host"}}

    sandbox = listed_sandbox(row)

    assert (sandbox.ready, sandbox.uid, sandbox.attempt, sandbox.host_network) == (ready, "u", 1, True)
