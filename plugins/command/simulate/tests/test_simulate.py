"""hyperkube simulate, as a user calls it."""

import gzip
import re
from pathlib import Path
from xml.dom import minidom

import orjson
import pytest
from click.testing import CliRunner

pytest.importorskip("numpy")
pytest.importorskip("hyperkube_scheduler.default_provider")

from hyperkube_command.simulate.command import command
from hyperkube_lib.local_cluster.store_upkeep import upkeep_at
from hyperkube_testing.cluster.cluster import ControlPlane
from hyperkube_testing.scheduling.tables import node

from hyperkube.hookspecs import storage
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext, load

NODE = {**node("a", cpu="4", memory="8Gi", labels={}), "kind": "Node"}
ROOT = Path(__file__).resolve().parents[4]


def pod(name="web", cpu="1", **spec):
    resources = {"limits": {"cpu": cpu}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": resources}], **spec},
    }


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(**contents):
        for name, value in contents.items():
            data = value if isinstance(value, bytes) else orjson.dumps(value)
            tmp_path.joinpath(name).write_bytes(data)
        return tmp_path

    return write


def run(*arguments, code=0):
    result = CliRunner().invoke(command, arguments, standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    assert (result.return_value or 0) == code
    return result.output


def test_json_tells_each_pods_node_and_each_nodes_use(files):
    files(cluster={"kind": "List", "items": [NODE]}, pods=pod())

    said = orjson.loads(run("--snapshot", "cluster", "--pods", "pods", "-o", "json"))

    (found,) = said["simulations"]
    assert found["configuration"] == "default"
    assert found["placed"] == [{"pod": "default/web", "node": "a"}]
    assert found["nodes"][0]["cpu"] == {"allocatable": 4000, "before": 0, "after": 1000}


@pytest.mark.parametrize(
    "snapshot",
    [
        pytest.param(orjson.dumps([NODE]), id="an array"),
        pytest.param(orjson.dumps({"kind": "NodeList", "items": [{**NODE, "kind": "Node"}]}), id="a typed list"),
        pytest.param(b"---\n" + orjson.dumps(NODE) + b"\n---\nkind: Namespace\nmetadata: {name: default}\n", id="yaml"),
        pytest.param(gzip.compress(orjson.dumps(NODE)), id="gzipped"),
    ],
)
def test_snapshots_of_all_shapes_are_read(files, snapshot):
    files(cluster=snapshot, pods=pod())

    assert re.search(r"^default +1 +0 +0", run("--snapshot", "cluster", "--pods", "pods"), re.MULTILINE)


@pytest.mark.slow
def test_a_saved_store_is_a_snapshot_too(files):
    pytest.importorskip("hyperkube_storage.sqlite")
    folder = files(pods=pod())
    context = PluginContext(name="sqlite", clock=SystemClock(), settings={"data_dir": str(folder / "store")})
    folder.joinpath("store").mkdir()
    store = load("storage", ["sqlite"], storage, lambda _name: context).hook.storage_open()
    with ControlPlane(controller_manager=None, scheduler=None, store=store) as cluster:
        made = cluster.client.create(NODES, NODE)
        cluster.client.patch(NODES, "a", {"spec": {"taints": None}})
        assert made["metadata"]["name"] == "a"
        upkeep_at(folder / "store").backup(folder / "snapshots" / "before.db", force=False)
    store.close()

    named = orjson.loads(run("--snapshot", "before", "--data-dir", ".", "--pods", "pods", "-o", "json"))
    by_path = orjson.loads(run("--snapshot", "snapshots/before.db", "--pods", "pods", "-o", "json"))

    assert named["simulations"][0]["placed"] == [{"pod": "default/web", "node": "a"}]
    assert by_path == named


def test_a_pod_that_stays_pending_is_an_error_only_if_wanted(files):
    files(cluster=NODE, pods=pod(cpu="8"))

    assert "1 Insufficient cpu" in run("--snapshot", "cluster", "--pods", "pods")
    run("--snapshot", "cluster", "--pods", "pods", "--strict", code=1)


def test_a_workload_stands_for_its_replicas(files):
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod(cpu="500m")["spec"]}
    job = {
        "kind": "Job",
        "metadata": {"name": "once"},
        "spec": {"parallelism": 3, "completions": 2, "template": template},
    }
    many = {"kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 3, "template": template}}
    files(cluster=NODE, pods=[many, job])

    said = orjson.loads(run("--snapshot", "cluster", "--pods", "pods", "-o", "json"))

    names = [row["pod"] for row in said["simulations"][0]["placed"]]
    assert names == ["default/once-0", "default/once-1", "default/web-0", "default/web-1", "default/web-2"]


def test_a_priority_class_gives_the_priority(files):
    low = pod("low", "4", nodeName="a")
    low["metadata"]["namespace"] = "default"
    low["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "4"}}
    urgent = {"kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 1000}
    files(cluster=[NODE, low, urgent], pods=pod("vip", "4", priorityClassName="urgent"))

    said = orjson.loads(run("--snapshot", "cluster", "--pods", "pods", "-o", "json"))

    assert said["simulations"][0]["evicted"] == [{"pod": "default/low", "node": "a"}]


@pytest.mark.parametrize("suffix", [".svg", ".html"])
def test_the_plot_is_one_file_that_needs_no_other(files, suffix):
    folder = files(cluster=NODE, pods=pod())

    run("--snapshot", "cluster", "--pods", "pods", "--plot", f"plot{suffix}")

    drawn = folder.joinpath(f"plot{suffix}").read_text()
    svg = minidom.parseString(re.search(r"<svg.*</svg>", drawn, re.DOTALL)[0])
    titles = {title.firstChild.data for title in svg.getElementsByTagName("title")}
    assert titles == {"a: cpu 0.0% -> 25.0%"}
    assert not re.search(r"(src|href)=", drawn)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--snapshot", "missing"], "cannot read 'missing': No such file or directory"),
        (["--snapshot", "broken"], "broken: neither JSON nor YAML"),
        (["--snapshot", "pods"], "the cluster has no nodes"),
        (["--snapshot", "cluster", "--kubeconfig", "x"], "not both"),
        (["--snapshot", "cluster", "--plot", "plot.png"], "ends neither in .svg nor in .html"),
        (["--snapshot", "cluster", "--pods", "cluster"], "cluster: a Node cannot be simulated"),
        (["--snapshot", "cluster", "--pods", "classy"], "the cluster has no PriorityClass 'vip'"),
        (["--snapshot", "cluster", "--config", "bad"], "bad: profiles\\[0\\].plugins.scores: unknown extension point"),
        (["--data-dir", "nowhere"], "no local cluster in '.*nowhere'"),
    ],
)
def test_a_mistake_is_one_line(files, arguments, why):
    bad = {
        "kind": "KubeSchedulerConfiguration",
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "profiles": [{"plugins": {"scores": {}}}],
    }
    files(cluster=NODE, pods=pod(), broken=b"{", bad=bad, classy=pod(priorityClassName="vip"))

    with pytest.raises(UsageError, match=why):
        run(*arguments)


def shown():
    """Return each command that the how-to shows, with what it is said to print."""
    page = ROOT / "docs" / "how-to" / "simulate-scheduling.md"
    for block in re.findall(
        r"^```console\n\$ hyperkube simulate (.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL
    ):
        line, _, output = block.partition("\n")
        yield pytest.param(line.split(), output, id=line.split("--")[-1].strip())


@pytest.mark.parametrize(("arguments", "output"), list(shown()))
def test_what_the_page_shows_is_what_is_printed(tmp_path, monkeypatch, arguments, output):
    example = ROOT / "examples" / "simulate"
    for each in example.iterdir():
        tmp_path.joinpath(each.name).write_bytes(each.read_bytes())
    monkeypatch.chdir(tmp_path)

    assert run(*arguments) == output
