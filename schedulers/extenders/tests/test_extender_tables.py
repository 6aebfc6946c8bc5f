"""What several extenders together keep, score, and agree with, case by case.

Source of the cases: kubernetes ``pkg/scheduler/extender_test.go``, ``TestFindNodesThatPassExtenders`` of
``pkg/scheduler/schedule_one_test.go``, ``TestPreempt`` of ``plugins/defaultpreemption/default_preemption_test.go``.
"""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import orjson
import pytest
from hyperkube_scheduler.extenders import Extenders
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.hookspecs.scheduling import Victims
from hyperkube.machinery.errors import InternalError
from hyperkube.plugin import PluginContext

FAILED, HOPELESS = "FakeExtender: node {} failed", "FakeExtender: node {} failed and unresolvable"


def keep(names):
    """Keep the nodes named, fail the others; those after a bang will never do."""
    kept, _, never = names.partition("!")

    def answer(asked):
        failed = {name: FAILED.format(name) for name in asked if name not in kept + never}
        hopeless = {name: HOPELESS.format(name) for name in asked if name in never}
        return {
            "nodenames": [name for name in asked if name in kept], "failedNodes": failed,
            "failedAndUnresolvableNodes": hopeless,
        }  # fmt: skip

    return answer


class Answers(BaseHTTPRequestHandler):
    """Answers as the path says: ``/keep/ab!c``, ``/like/a``, ``/fail``, ``/error``, ``/raw/<json>``."""

    def do_POST(self):
        body = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))
        _, word, *rest = self.path.split("/", 2)
        rest = rest[0].replace("%20", " ") if rest else ""
        rest, code = rest.removesuffix("/do"), 200
        asked = body.get("nodenames") or []
        if word == "keep":
            answer = keep(rest)(asked)
        elif word == "like":
            answer = [{"host": name, "score": 10 if name == rest else 1} for name in asked]
        elif word == "agree":
            rows = body["nodeNameToMetaVictims"]
            answer = {"nodeNameToMetaVictims": {name: row for name, row in rows.items() if name in rest}}
        elif word == "raw":
            answer = orjson.loads(bytes.fromhex(rest))
        else:
            answer, code = {"error": "wrong"}, 500 if word == "fail" else 200
        data = orjson.dumps(answer)
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_args):
        """Say nothing."""


@pytest.fixture(scope="module")
def url():
    server = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def build(url, verb, *extenders):
    """The plugin with extenders written ``keep/a`` and words: ``ignorable``, ``managed`` by which it is not concerned."""
    rows = []
    for path, *words in (each.split() for each in extenders):
        row = {"urlPrefix": f"{url}/{path}", f"{verb}Verb": "do", "nodeCacheCapable": True}
        row["ignorable"] = "ignorable" in words
        row["managedResources"] = [{"name": "example.com/gpu"}] if "managed" in words else []
        row["weight"] = next((int(word) for word in words if word.isdigit()), 1)
        rows.append(row)
    return Extenders(PluginContext(name="Extenders", settings={"extenders": rows}))


def raw(answer):
    return f"raw/{orjson.dumps(answer).hex()}"


@pytest.mark.parametrize(
    ("extenders", "nodes", "expected"),
    [
        pytest.param(["keep/ab", "error"], "ab", {"a": "! wrong", "b": "! wrong"}, id="the second fails"),
        pytest.param(["keep/ab", "keep/"], "ab", {"a": FAILED, "b": FAILED}, id="the second keeps none"),
        pytest.param(["keep/ab", "keep/a"], "ab", {"b": FAILED}, id="the second keeps a"),
        pytest.param(["keep/b", "keep/a"], "ab", {"a": FAILED, "b": FAILED}, id="each keeps another"),
        pytest.param(["error managed"], "ab", {}, id="not concerned"),
        pytest.param(["error ignorable", "keep/a"], "ab", {"b": FAILED}, id="a failing one is ignored"),
        pytest.param(["fail ignorable", "keep/a"], "ab", {"b": FAILED}, id="a broken one is ignored"),
        pytest.param(["error"], "a", {"a": "! wrong"}, id="alone and failing"),
        pytest.param(["keep/a"], "a", {}, id="alone and content"),
        pytest.param(["keep/a!c"], "abc", {"b": FAILED, "c": f"! {HOPELESS}"}, id="one never"),
        pytest.param(["keep/a!c", "keep/a"], "abc", {"b": FAILED, "c": f"! {HOPELESS}"}, id="the first decides"),
        pytest.param(["keep/abc", "keep/a!c"], "abc", {"b": FAILED, "c": f"! {HOPELESS}"}, id="or the second"),
        pytest.param(
            [raw({"nodenames": ["a"], "failedNodes": {"b": "so"}, "failedAndUnresolvableNodes": {"b": "never"}})], "ab",
            {"b": "! never"}, id="refused in both ways",
        ),
        pytest.param(
            [raw({"nodenames": ["a"]})], "ab", {"b": "! node(s) were refused by an extender"}, id="without a word",
        ),
        pytest.param(["fail"], "a", {"a": "! failed do with extender at URL {url}/fail/do, code 500"}, id="broken"),
        pytest.param(
            [raw({"nodenames": ["z"]})], "a",
            {"a": '! extender "{url}/{path}" claims a filtered node "z" which is not found in the input node list'},
            id="a node that nobody asked about",
        ),
    ],
)  # fmt: skip
def test_filters(url, extenders, nodes, expected):
    places = table(*({"name": name} for name in nodes))
    result = build(url, "filter", *extenders).filter(pod_info({}, places), places)

    said = {}
    for index, name in enumerate(nodes):
        if not result.mask[index]:
            (text,) = (text for text, mask in result.reasons.items() if mask[index])
            said[name] = f"{'! ' if result.unresolvable is not None and result.unresolvable[index] else ''}{text}"
    known = {"{url}": url, "{path}": extenders[0].split()[0]}
    wanted = {}
    for name, text in expected.items():
        for word, value in {**known, "{}": name}.items():
            text = text.replace(word, value)  # noqa: PLW2901  filled in word by word
        wanted[name] = text
    assert said == wanted


def test_an_extender_that_only_binds_is_not_asked(url):
    places = table({"name": "a"}, {"name": "b"})
    plugin, pod = build(url, "bind", "error"), pod_info({}, places)

    assert plugin.filter(pod, places).mask.all()
    assert not plugin.score(pod, places).any()


@pytest.mark.parametrize(
    ("extenders", "expected"),
    [
        pytest.param(["error"], [0, 0], id="a failing one counts nothing"),
        pytest.param(["fail", "like/b 1"], [10, 100], id="a broken one counts nothing"),
        pytest.param(["like/a 1", "like/b 5"], [150, 510], id="weighed"),
        pytest.param(["like/a 1"], [100, 10], id="up to a plugin's hundred"),
        pytest.param(["error managed"], None, id="not concerned"),
    ],
)
def test_scores(url, extenders, expected):
    places = table({"name": "a"}, {"name": "b"})
    plugin, pod = build(url, "prioritize", *extenders), pod_info({}, places)

    assert plugin.skips_score(pod, places) is (expected is None)
    if expected:
        assert plugin.score(pod, places).tolist() == expected


MEMORY = {"resources": {"requests": {"memory": "0"}}}


@pytest.mark.parametrize(
    ("managed", "spec", "expected"),
    [
        pytest.param((), {}, True, id="manages nothing in particular"),
        pytest.param(("memory",), {"containers": [{"name": "c"}]}, False, id="not asked for"),
        pytest.param(("memory",), {"containers": [MEMORY]}, True, id="requested"),
        pytest.param(("memory",), {"containers": [{"resources": {"limits": {"memory": "0"}}}]}, True, id="limited"),
        pytest.param(("memory",), {"containers": [{}], "initContainers": [MEMORY]}, True, id="to start"),
        pytest.param(
            ("memory",), {"containers": [{"resources": {"claims": [{"name": "memory"}]}}]}, False, id="a claim's name",
        ),
    ],
)  # fmt: skip
def test_concern(managed, spec, expected):
    rows = [{"urlPrefix": "http://127.0.0.1:9", "managedResources": [{"name": name} for name in managed]}]
    plugin = Extenders(PluginContext(name="Extenders", settings={"extenders": rows}))

    assert plugin.skips(pod_info({"spec": spec}, table())) is not expected


def victim(name):
    return {"metadata": {"name": f"pod-{name}", "namespace": "default", "uid": name}, "spec": {"containers": []}}


def rows(**uids):
    """An answer: node → its victims' uids."""
    told = {node: {"pods": [{"uid": uid} for uid in each.split()]} for node, each in uids.items()}
    return raw({"nodeNameToMetaVictims": told})


@pytest.mark.parametrize(
    ("extenders", "expected"),
    [
        pytest.param(["agree/ab"], {"a": "1 3 (1)", "b": "2 4 (2)"}, id="as they were"),
        pytest.param(["agree/ab", "agree/a"], {"a": "1 3 (1)"}, id="the second leaves a"),
        pytest.param(["agree/"], {}, id="none"),
        pytest.param(["error ignorable", "agree/a"], {"a": "1 3 (1)"}, id="a failing one is ignored"),
        pytest.param(["agree/a managed", "agree/ab"], {"a": "1 3 (1)", "b": "2 4 (2)"}, id="not concerned"),
        pytest.param([rows(a="3")], {"a": "3"}, id="other victims"),
        pytest.param(["error"], "wrong", id="a failing one"),
        pytest.param([raw([1])], "extender {url}/{path}/do: its answer is of another kind", id="a list"),
        pytest.param(["fail"], "failed do with extender at URL {url}/fail/do, code 500", id="a broken one"),
        pytest.param([rows(a="")], 'expected at least one victim pod on node "a"', id="no victims"),
        pytest.param([f"{rows(a='', b='2')} ignorable"], {"b": "2"}, id="no victims, ignored"),
        pytest.param([rows(z="1")], 'nodeinfo not found for node name "z"', id="another node"),
        pytest.param(
            [rows(a="9")],
            "extender: {url}/{path} claims to preempt pod (UID: &{9}) on node: a, but the pod is not found on that node",
            id="another pod",
        ),
    ],
)  # fmt: skip
def test_victims(url, extenders, expected):
    places = table({"name": "a"}, {"name": "b"})
    for name in "1234":
        places.put_pod(victim(name), "a" if name in "13" else "b")
    choices = {"a": Victims([victim("1"), victim("3")], 1), "b": Victims([victim("2"), victim("4")], 2)}
    plugin, pod = build(url, "preempt", *extenders), pod_info({}, places)

    if isinstance(expected, str):
        with pytest.raises(InternalError) as told:
            plugin.review(pod, places, choices)
        assert told.value.args[0] == expected.replace("{url}", url).replace("{path}", extenders[0].split()[0])
        return
    agreed = {
        node: " ".join(each["metadata"]["uid"] for each in row.pods)
        + (f" ({row.violations})" if row.violations else "")
        for node, row in plugin.review(pod, places, choices).items()
    }
    assert agreed == expected
