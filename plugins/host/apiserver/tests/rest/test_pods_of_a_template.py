"""What became of the pods of a template is taken for the next: it has to be the same."""

from itertools import count

import orjson
import pytest
from hyperkube_host.apiserver.rest import create
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.kinds.resources import PODS
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

BASE = "/api/v1/namespaces/default/pods"
ROUNDS = 4
"""Two pods are made the long way: the first may be of its own kind, of the second it is kept what became of it."""

_numbers = count(1)


@pytest.fixture(scope="module")
def server():
    server = ApiServer(
        options={"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}, store=MemoryStore()
    )
    server.start()
    yield server
    server.close()


@pytest.fixture
def made(server, monkeypatch):
    """Return the list of pods that were made the long way."""
    strategy = server.registry.get(PODS).strategy
    pods, prepare = [], strategy.prepare_create

    def prepare_create(call, obj):
        pods.append(obj["metadata"]["name"])
        prepare(call, obj)

    monkeypatch.setattr(strategy, "prepare_create", prepare_create)
    return pods


def post(server, pod, query=""):
    headers = {"content-type": "application/json"}
    body = pod.encode() if isinstance(pod, str) else orjson.dumps(pod)
    answer = server.handler.handle(
        HttpRequest(method="POST", path=BASE, query_string=query, headers=headers, body=body, user=LOOPBACK)
    )
    return answer, orjson.loads(answer.body)


def pod(name="", labels=None, annotations=None, *, meta=None, status=None, **spec):
    own = {"name": name or f"p{next(_numbers)}", **(meta or {})}
    containers = [{"name": "c", "image": "i", "ports": [{"containerPort": 80}]}]
    obj = {"metadata": {**own, "labels": labels or {}, "annotations": annotations or {}}}
    return {**obj, "spec": {"containers": containers, **spec}, **({"status": status} if status else {})}


def common(obj):
    """Return what the pods of a template should have in common, in the order in which it is answered."""
    own = dict.fromkeys(("name", "uid", "creationTimestamp", "resourceVersion"))
    fields = [{**entry, "time": None} for entry in obj["metadata"]["managedFields"]]
    return orjson.dumps({**obj, "metadata": {**obj["metadata"], **own, "managedFields": fields}})


SPREAD = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {}}}
AFFINITY = {"topologyKey": "z", "labelSelector": {"matchLabels": {"a": "b"}}, "matchLabelKeys": ["app"]}
LIMITS = {"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}


@pytest.mark.parametrize(
    "template",
    [
        pytest.param({}, id="plain"),
        pytest.param({"labels": {"b": "1", "a": "2"}, "annotations": {"x": "y"}}, id="labels and annotations"),
        pytest.param({"containers": [{"name": "c", "image": "i", **LIMITS}]}, id="guaranteed"),
        pytest.param({"hostNetwork": True, "terminationGracePeriodSeconds": -5}, id="changed by the strategy"),
        pytest.param({"status": {"phase": "Running"}}, id="with a status"),
        pytest.param({"meta": {"deletionGracePeriodSeconds": 5, "finalizers": ["a/b"]}}, id="with more metadata"),
        pytest.param({"topologySpreadConstraints": [SPREAD], "labels": {"app": "a"}}, id="spread"),
        pytest.param(
            {
                "labels": {"app": "a"},
                "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [AFFINITY]}},
            },
            id="label keys become selectors",
        ),
        pytest.param(
            {"volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "s"}}]}}]}, id="projected sources"
        ),
    ],
)
def test_each_pod_of_a_template_is_the_same(server, made, template):
    answers = [post(server, pod(**template)) for _ in range(ROUNDS)]

    assert [answer.status for answer, _ in answers] == [201] * ROUNDS
    assert len({common(obj) for _, obj in answers}) == 1
    assert len({obj["metadata"]["uid"] for _, obj in answers}) == ROUNDS
    assert len(made) <= ROUNDS


@pytest.fixture
def defaulted(server, monkeypatch):
    """Return the list of pods whose defaults were filled in after decoding."""
    strategy = server.registry.get(PODS).strategy
    pods, default = [], strategy.default

    def fill_in(obj):
        pods.append(obj["metadata"].get("name"))
        default(obj)

    monkeypatch.setattr(strategy, "default", fill_in)
    return pods


def test_the_third_pod_of_a_template_is_neither_decoded_nor_defaulted(server, defaulted):
    for number in range(ROUNDS):
        post(server, pod(f"arrived-{number}", hostname="arrived"))

    assert set(defaulted) == {"arrived-0", "arrived-1"}


KNOWN = {"hostname": "known", "terminationGracePeriodSeconds": 7}


@pytest.mark.parametrize(
    ("change", "status", "told"),
    [
        pytest.param({"meta": {"name": 5}}, 400, "cannot unmarshal number", id="a name that is none"),
        pytest.param({"meta": {"name": ""}}, 422, "name or generateName is required", id="no name"),
        pytest.param({"meta": {"uid": 5}}, 400, "cannot unmarshal number", id="a uid that is none"),
        pytest.param({"meta": {"creationTimestamp": "now"}}, 400, "parsing time", id="a time that is none"),
        pytest.param({"meta": {"managedFields": 5}}, 400, "cannot unmarshal number", id="fields that are none"),
        pytest.param({"meta": {"namespace": "other"}}, 400, "does not match the namespace", id="another namespace"),
        pytest.param({"meta": {"resourceVersion": "5"}}, 500, "resourceVersion should not be set", id="a version"),
    ],
)
def test_what_is_wrong_beside_a_known_template_is_refused(server, change, status, told):
    for _ in range(ROUNDS):
        post(server, pod(**KNOWN))

    answer, body = post(server, pod(**change, **KNOWN))

    assert answer.status == status
    assert told in body["message"]


@pytest.mark.parametrize(
    ("written", "status"),
    [
        pytest.param('"terminationGracePeriodSeconds":1e400', 400, id="a number that is none"),
        pytest.param('"terminationGracePeriodSeconds":null', 201, id="null"),
        pytest.param('"terminationGracePeriodSeconds":7,"terminationGracePeriodSeconds":7', 201, id="twice"),
    ],
)
def test_a_body_that_is_read_as_a_known_template_is_looked_at_itself(server, defaulted, written, status):
    for _ in range(ROUNDS):
        post(server, pod(hostname="twin", terminationGracePeriodSeconds=None))
        post(server, pod(hostname="twin", terminationGracePeriodSeconds=7))
    body = orjson.dumps(pod(hostname="twin", terminationGracePeriodSeconds=7)).decode()
    before = len(defaulted)

    answer, _ = post(server, body.replace('"terminationGracePeriodSeconds":7', written))
    post(server, pod(hostname="twin", terminationGracePeriodSeconds=7))

    assert answer.status == status
    assert len(defaulted) > before or status == 400
    assert bool([value for name, value in answer.headers if name == "Warning"]) is (written.count(":7") == 2)


def test_the_third_pod_of_a_template_is_not_made_anew(server, made):
    for _ in range(ROUNDS):
        post(server, pod(hostname="third"))

    assert len(made) == 2


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"schedulingGates": [{"name": "a.b/c"}]}, id="a time in its status"),
        pytest.param(
            {
                "volumes": [
                    {
                        "name": "v",
                        "ephemeral": {
                            "volumeClaimTemplate": {
                                "spec": {
                                    "accessModes": ["ReadWriteOnce"],
                                    "resources": {"requests": {"storage": "1Gi"}},
                                }
                            }
                        },
                    }
                ]
            },
            id="a claim named after it",
        ),
    ],
)
def test_a_pod_that_depends_on_time_or_name_is_made_anew(server, made, spec):
    answers = [post(server, pod(**spec)) for _ in range(ROUNDS)]

    assert [answer.status for answer, _ in answers] == [201] * ROUNDS
    assert len(made) == ROUNDS


def test_names_are_generated_for_the_pods_of_a_template(server):
    given = pod(meta={"name": "", "generateName": "web-"})

    answers = [post(server, given)[1] for _ in range(ROUNDS)]

    assert len({obj["metadata"]["name"] for obj in answers}) == ROUNDS
    assert len({common(obj) for obj in answers}) == 1


def test_a_list_that_is_stored_as_null_is_so_for_each_pod_of_a_template(server):
    given = {"volumes": [{"name": "v", "projected": {"sources": []}}]}

    answers = [post(server, pod(**given)) for _ in range(ROUNDS)]

    assert [answer.status for answer, _ in answers] == [201] * ROUNDS
    assert [obj["spec"]["volumes"][0]["projected"]["sources"] for _, obj in answers] == [None] * ROUNDS


def test_a_generated_name_that_is_taken_is_made_anew_for_a_known_template(server, monkeypatch):
    given = pod(meta={"name": "", "generateName": "taken-"})
    taken = [post(server, given)[1] for _ in range(ROUNDS)]
    names = iter([taken[0]["metadata"]["name"], taken[1]["metadata"]["name"], "taken-not"])
    monkeypatch.setattr(create, "generate_name", lambda *_: next(names))

    answer, obj = post(server, given)

    assert (answer.status, obj["metadata"]["name"]) == (201, "taken-not")
    assert common(obj) == common(taken[0])


@pytest.fixture(scope="module")
def server_with_plugins():
    plugins = ["LimitRanger", "Priority", "DefaultTolerationSeconds", "RuntimeClass"]
    server = ApiServer(
        options={"admission-control": plugins, "authorization-mode": ["AlwaysAllow"]}, store=MemoryStore()
    )
    server.start()
    eventually(server.ready, why="the first pods would meet informers that are not filled yet")
    yield server
    server.close()


@pytest.mark.parametrize("name", ["", "web-"], ids=["named", "to be named"])
def test_plugins_do_the_same_to_each_pod_of_a_template(server_with_plugins, monkeypatch, name):
    def given():
        return pod(meta={"name": "", "generateName": name} if name else {}, labels={"app": "a"})

    answers = [post(server_with_plugins, given()) for _ in range(3 * ROUNDS)]
    taken = iter([answers[0][1]["metadata"]["name"], "anew"])
    if name:
        monkeypatch.setattr(create, "generate_name", lambda *_: next(taken))
    answers.append(post(server_with_plugins, given()))

    assert [answer.status for answer, _ in answers] == [201] * (3 * ROUNDS + 1)
    assert len({common(obj) for _, obj in answers}) == 1
    assert len(answers[-1][1]["spec"]["tolerations"]) == 2


def test_a_wrong_name_is_refused_for_a_known_template(server):
    for _ in range(ROUNDS):
        post(server, pod(subdomain="known"))

    answer, status = post(server, pod("Wrong_Name", subdomain="known"))

    assert answer.status == 422
    assert [cause["field"] for cause in status["details"]["causes"]] == ["metadata.name"]


def test_a_wrong_template_is_refused_each_time(server):
    answers = [post(server, pod(restartPolicy="Sometimes"))[0].status for _ in range(ROUNDS)]

    assert answers == [422] * ROUNDS


def test_what_is_unwise_is_told_each_time(server):
    env = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]

    warned = [
        [value for name, value in post(server, pod(containers=[{"name": "c", "image": "i", "env": env}]))[0].headers
         if name == "Warning"]
        for _ in range(ROUNDS)
    ]  # fmt: skip

    assert warned[0]
    assert warned == [warned[0]] * ROUNDS


def test_a_dry_run_leaves_nothing_but_its_answer(server):
    for _ in range(ROUNDS):
        post(server, pod(subdomain="dry"))

    answer, _ = post(server, pod("never", subdomain="dry"), query="dryRun=All")

    assert answer.status == 201
    path = f"{BASE}/never"
    assert server.handler.handle(HttpRequest(method="GET", path=path, headers={}, user=LOOPBACK)).status == 404
