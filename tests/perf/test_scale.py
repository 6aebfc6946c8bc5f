"""The load kit: its shapes and figures by example, and one small run of all of it."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("matplotlib")
sys.path.insert(0, str(Path(__file__).parent))


from scale import growth, hollow_node, observers, pod_status, report, shapes, steps
from scale.__main__ import asked
from scale.api import Lines, Refused, version_of
from scale.hollow_node import Watches
from scale.pod_status import PodEvents, PodStatuses
from scale.samples import OWN_DELAY, Samples, percentile
from scale.servers import Usage

PAGE = Path(__file__).parents[2] / "docs/how-to/measure-a-large-cluster.md"


@pytest.mark.parametrize(
    ("share", "value"), [(0.5, 50), (0.99, 99), (1.0, 100), (0.0, 1)], ids=["median", "p99", "most", "least"]
)
def test_a_percentile_is_the_nearest_rank(share, value):
    assert percentile(range(1, 101), share) == value


def test_samples_of_another_process_are_added(tmp_path):
    ours, theirs = Samples(), Samples()
    ours.add("GET pods", 0.1, 10.0)
    theirs.add("GET pods", 0.3, 20.0)

    theirs.mark("seen", "u", 21.0)
    theirs.mark("seen", "u", 22.0)
    theirs.save(tmp_path / "saved")
    ours.load(tmp_path / "saved")

    assert ours.of("GET pods") == [0.1, 0.3]
    assert ours.marks("seen") == {"u": 21.0}
    assert ours.of("GET pods", begin=15.0) == [0.3]


@pytest.mark.parametrize("line", re.findall(r"^\./dev scale (.*)$", PAGE.read_text(), re.MULTILINE))
def test_what_the_page_shows_can_be_asked_for(line, tmp_path):
    load, wanted = asked([*shlex.split(line), "--output", str(tmp_path)])

    assert load.nodes == wanted.nodes
    assert f"--nodes {load.nodes}" in line


def test_idle_nodes_have_nothing_but_leases():
    load, _ = asked(["--nodes", "5", "--leases-only", "--rest", "600"])

    assert (load.watches, load.pods, load.churn, load.informers) == (Watches.NONE, 0, 0.0, 0)


def test_nodes_cannot_both_watch_their_pods_and_be_idle():
    with pytest.raises(SystemExit):
        asked(["--pods-only", "--leases-only"])


def samples_of(sizes):
    return [(1000.0 + 30.0 * number, size) for number, size in enumerate(sizes)]


def test_growth_is_told_after_the_tenth_minute():
    rising = samples_of([*range(100, 120), *(120.0 + number for number in range(21))])

    found = growth.growth_of("apiserver", rising, 1000.0, 2200.0)

    assert found is not None
    assert (round(found.per_minute, 6), found.first, found.last, found.minutes) == (2.0, 120.0, 140.0, 10.0)
    assert found.grows


def test_memory_that_rose_before_and_wavers_since_stays():
    found = growth.growth_of("apiserver", samples_of([*range(20), *([100.0, 101.0] * 10), 100.0]), 1000.0, 2200.0)

    assert found is not None
    assert not found.grows


def test_nothing_is_said_of_a_phase_of_ten_minutes():
    assert growth.growth_of("apiserver", samples_of([1.0] * 21), 1000.0, 1600.0) is None


class SlowApi:
    """Counts the requests, each of which takes 10 ms of its own time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.requests = 0

    async def bytes_of(self, *_words: object) -> None:
        self.requests += 1
        self.now += 0.01

    def time(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_groups_are_asked_for_at_a_rate_however_long_requests_take(monkeypatch):
    api = SlowApi()
    groups = [shapes.Group("Deployment", "a", f"g{number}", 5) for number in range(20)]
    monkeypatch.setattr(shapes, "asyncio", SimpleNamespace(get_running_loop=lambda: api, sleep=api.sleep))

    asyncio.run(shapes.create_groups(api, groups, pods_per_second=100.0))

    assert api.requests == 40
    assert api.now == pytest.approx(1.0)


@pytest.mark.parametrize("nodes", [3, 100, 1000])
def test_a_full_cluster_has_so_many_pods_on_each_node(nodes):
    groups = shapes.density(nodes, 30)

    assert sum(group.size for group in groups) == nodes * 30
    assert {group.kind for group in groups} == {"DaemonSet", "Deployment", "StatefulSet", "Job"}


def test_the_groups_are_as_large_as_those_of_the_upstream_test():
    assert shapes.sizes(2000) == [250, 250] + [30] * 16 + [5] * 204


def test_a_version_is_read_without_parsing():
    assert version_of(b'{"type":"ADDED","object":{"metadata":{"resourceVersion":"17"}}}') == "17"
    assert version_of(b"{}") == ""


def a_pod(phase: str, node: str = "n") -> dict:
    meta = {"namespace": "a", "name": "p", "uid": "u"}
    return {"metadata": meta, "spec": {"nodeName": node} if node else {}, "status": {"phase": phase}}


def test_a_pod_starts_between_the_request_and_the_event_that_says_running():
    samples = Samples()
    watcher = observers.PodWatcher(samples)

    watcher.pod_event("ADDED", a_pod("Pending", node=""), 10.0)
    watcher.pod_event("MODIFIED", a_pod("Pending"), 11.0)
    watcher.pod_event("MODIFIED", a_pod("Running"), 12.5)
    watcher.pod_event("MODIFIED", a_pod("Running"), 13.0)

    assert samples.of(observers.SCHEDULED) == [1.0]
    assert samples.of(observers.POD_START) == [2.5]
    assert watcher.running == {"u"}


def test_the_steps_of_a_pods_start_add_up():
    samples = Samples()
    for moment, step in zip((10.0, 11.0, 11.5, 12.0, 14.0, 14.25), steps.STEPS, strict=True):
        samples.mark(step, "u", moment)
    samples.mark(observers.CREATED, "never ran", 10.0)
    samples.add(OWN_DELAY, 0.125, 12.0)
    phase = report.Phase("churn", 10.0, 20.0, pace=0.25)

    told = steps.told(samples, phase.begin, phase.end)

    assert [each["p99"] for each in told.values()] == [1.0, 0.5, 0.5, 2.0, 0.25]
    assert steps.told(samples, 20.0, 30.0) == {}
    assert "| the load's own delay, once at each read | 0.125 / 0.125 |" in [*steps.table(samples, [phase])]


def test_a_body_of_a_watch_is_taken_apart_by_lines_wherever_it_is_cut():
    taken: list[bytes] = []
    lines = Lines(taken.append, "1")
    event = b'{"type":"ADDED","object":{"metadata":{"resourceVersion":"%d"}}}'
    body = b"\n".join(event % number for number in (7, 8, 9)) + b"\n"

    for place in range(0, len(body), 50):
        lines.feed(body[place : place + 50])

    assert taken == [event % 7, event % 8, event % 9]
    assert lines.version == "9"
    lines.feed(b'{"type":"ERROR","object":{}}\n')
    assert (len(taken), lines.version) == (3, "")


class ApiThat:
    """An API that answers from a list: None for yes, a status or an error for no; notes what it is asked."""

    def __init__(self, *answers: object) -> None:
        self.samples = Samples()
        self.asked: list[tuple[str, object]] = []
        self._answers = list(answers)

    async def bytes_of(self, kind: str, _method: str, _path: str, body: object = None, _media: str = "") -> None:
        self.asked.append((kind, body))
        await asyncio.sleep(0)
        answer = self._answers.pop(0) if self._answers else None
        if isinstance(answer, int):
            raise Refused(answer, "")
        if isinstance(answer, Exception):
            raise answer


def kinds_after(api: ApiThat, writer: PodStatuses | PodEvents, *says: tuple) -> list[str]:
    """Return the requests that a writer sends after it is told things, each a turn of the loop after the other."""

    async def run() -> None:
        task = asyncio.create_task(writer.run())
        for words in says:
            writer.say(*words[:2], **dict(words[2:]))
        for _ in range(50):
            await asyncio.sleep(0.001)
        task.cancel()

    asyncio.run(run())
    return [kind for kind, _ in api.asked]


def test_of_the_statuses_that_wait_the_latest_of_a_pod_is_written_and_then_its_end():
    api = ApiThat()
    pod, late = a_pod("Pending"), {"phase": "Running"}
    statuses = PodStatuses(api, api.samples)

    kinds = kinds_after(api, statuses, (pod, {"phase": "Pending"}), (pod, late, ("is_over", True)))

    assert kinds == ["GET pods", "PATCH pods/status", "DELETE pods"]
    assert api.asked[1][1]["status"] == late
    assert [*api.samples.marks(pod_status.WRITTEN)] == ["u"]


@pytest.mark.parametrize("answer", [500, ConnectionError()], ids=["refused", "lost"])
def test_a_status_that_cannot_be_written_is_tried_again(answer, monkeypatch):
    monkeypatch.setattr(pod_status, "RETRY_SECONDS", 0.0)
    api = ApiThat(answer)

    kinds = kinds_after(api, PodStatuses(api, api.samples), (a_pod("Pending"), {"phase": "Pending"}))

    assert kinds == ["GET pods", "GET pods", "PATCH pods/status"]


def test_a_pod_that_is_gone_is_left_alone():
    api = ApiThat(404)

    kinds = kinds_after(api, PodStatuses(api, api.samples), (a_pod("Pending"), {"phase": "Pending"}))

    assert kinds == ["GET pods"]


def test_events_are_sent_once_each_whatever_becomes_of_them():
    api = ApiThat(500)
    pod = {**a_pod("Pending"), "metadata": {**a_pod("Pending")["metadata"], "resourceVersion": "1"}}

    kinds = kinds_after(api, PodEvents(api, "n"), (pod, "Pulled"), (pod, "Started"))

    assert kinds == ["POST events"] * 2


def test_a_pods_start_waits_for_its_token_and_not_for_what_is_said_of_it():
    api = ApiThat()
    node = hollow_node.HollowNode("n", api, "10.0.0.1", hollow_node.Pace(start=0.0, watches=Watches.PODS))
    pod = a_pod("Pending")
    pod |= {"metadata": {**pod["metadata"], "resourceVersion": "1"}, "spec": {"containers": []}}
    line = json.dumps({"type": "ADDED", "object": pod}).encode()

    async def run() -> None:
        node._pod_event(line)
        for _ in range(10):
            await asyncio.sleep(0.001)

    asyncio.run(run())

    assert [kind for kind, _ in api.asked] == ["POST serviceaccounts/token"]
    assert [*api.samples.marks(hollow_node.STARTED)] == ["u"]


def test_an_endpoint_is_programmed_when_a_slice_says_so_after_the_pod():
    samples = Samples()
    watcher = observers.PodWatcher(samples)
    endpoint = {"targetRef": {"name": "p"}, "conditions": {"ready": True}}

    watcher.pod_event("MODIFIED", a_pod("Running"), 10.0)
    watcher.slice_event("MODIFIED", {"metadata": {"namespace": "a"}, "endpoints": [endpoint]}, 10.25)
    watcher.slice_event("MODIFIED", {"metadata": {"namespace": "a"}, "endpoints": [endpoint]}, 11.0)

    assert samples.of(observers.ENDPOINT) == [0.25]


def test_the_report_tells_missed_levels_and_draws(tmp_path):
    samples = Samples()
    samples.add("POST pods", 1.5, 12.0)
    samples.add(observers.POD_START, 2.0, 12.0)
    history = {"apiserver": [Usage(10.0 + second, second / 2, 100 << 20, 16, 50) for second in range(11)]}
    phase = report.Phase("churn", 10.0, 20.0, pace=0.25)

    report.write(report.Run("3 nodes", [phase], samples, history, {"store": "SQLite"}), tmp_path)

    text = (tmp_path / "report.md").read_text()
    assert "| mutating calls | 1 | 1.500 / 1.500 (1) **missed** |" in text
    assert "| churn (10 s) | apiserver | 0.500 | 2.00 | 100 | 100 | 16 | 50 |" in text
    assert {file.stem for file in tmp_path.glob("*.png")} == set(report.PLOTS)


def test_the_cost_of_a_call_is_that_of_all_api_servers():
    samples = Samples()
    for second in range(100):
        samples.add("GET pods", 0.01, 10.0 + second / 10)
    samples.add(observers.POD_START, 1.0, 11.0)
    history = {
        name: [Usage(10.0, 0.0, 1 << 20, 1, 1), Usage(20.0, cpu, 1 << 20, 1, 1)]
        for name, cpu in {"apiserver-0": 0.03, "apiserver-1": 0.02, "etcd": 0.01}.items()
    }

    text = report.text(report.Run("", [report.Phase("churn", 10.0, 20.0, pace=0.25)], samples, history, {}))

    assert "| churn | 10 | apiserver | 500 | 2.00 |" in text
    assert "| churn | 10 | etcd | 100 | 0.40 |" in text


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_small_cluster_holds_every_level(tmp_path):
    load = ["--nodes=2", "--pods=3", "--rest=3", "--churn=10", "--rate=2", f"--output={tmp_path}"]

    subprocess.run([sys.executable, "-m", "scale", *load], cwd=Path(__file__).parent, check=True)

    points = json.loads((tmp_path / "plots.json").read_text())
    assert set(points) == set(report.PLOTS)
    assert all(y > 0 for _, y in points["latencies"]["mutating calls"])
    told = json.loads((tmp_path / "report.json").read_text())
    churn = next(phase for phase in told["phases"] if phase["name"] == "churn")
    assert {aim.name for aim in report.AIMS} - set(churn["levels"]) <= {"lists of the cluster"}
    assert told["facts"]["pods that could not be created or deleted"] == 0
    assert "missed" not in (tmp_path / "report.md").read_text()
