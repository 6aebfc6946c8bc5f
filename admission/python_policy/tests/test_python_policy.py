import os
import signal
from pathlib import Path

import pytest
from hyperkube_admission.python_policy.plugin import FAILED_OPEN, PythonPolicy, _asked
from hyperkube_admission.python_policy.process import Job, Process

from hyperkube.kinds.resources import CONFIG_MAPS, ENDPOINTS, LEASES, NODES, PODS, SECRETS, SERVICES
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import ApiError, Forbidden, InternalError, UsageError
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

POLICIES = str(Path(__file__).with_name("example_policies.py"))
SECONDS = 60


def pod(image="good.example/app", namespace="default", **labels):
    meta = {"name": "p", "namespace": namespace, "labels": labels}
    return {"kind": "Pod", "metadata": meta, "spec": {"containers": [{"name": "c", "image": image}]}}


def config(**data):
    return {"kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}, "data": data}


def registries(*names):
    meta = {"name": "registries", "namespace": "default"}
    return {"kind": "ConfigMap", "metadata": meta, "data": {"allowed": " ".join(names)}}


def eventually(look):
    clock = SystemClock()
    deadline = clock.monotonic() + SECONDS
    while not (found := look()):
        assert clock.monotonic() < deadline
        clock.sleep(0.01)
    return found


class TestPromises(AdmissionContract):
    plugin = PythonPolicy

    @pytest.fixture(autouse=True)
    def _bench(self, bench):
        self.bench = bench

    def rig(self):
        return self.bench([POLICIES])

    def concerned(self, rig):
        return [
            rig.request("CREATE", SECRETS, {"metadata": {"name": "s", "namespace": "default"}}),
            rig.request("CREATE", CONFIG_MAPS, config(refuse="no")),
            rig.request("UPDATE", CONFIG_MAPS, config(deny="no"), config()),
        ]


def test_a_policy_looks_things_up(bench):
    rig = bench([f"{POLICIES}:listed_registry"])
    rig.seed(CONFIG_MAPS, registries("good.example", "other.example"))

    rig.create(PODS, pod("good.example/app:1"))
    with pytest.raises(Forbidden, match=r"image 'bad.example/app:1' is from no listed registry") as refused:
        rig.create(PODS, pod("bad.example/app:1"))

    assert refused.value.message.startswith('policy "listed-registry" denied the request: ')


def test_what_it_looks_up_follows_the_cluster(bench):
    rig = bench([f"{POLICIES}:listed_registry"])
    with pytest.raises(ApiError):
        rig.create(PODS, pod())

    rig.seed(CONFIG_MAPS, registries("good.example"))

    rig.create(PODS, pod())


def test_lists_are_chosen_by_labels(bench):
    rig = bench([f"{POLICIES}:no_exec"])
    ask = lambda: rig.admit(rig.request("CONNECT", PODS, pod(), subresource="exec"))  # noqa: E731
    ask()

    rig.seed(PODS, pod(role="guard"))

    with pytest.raises(Forbidden, match="guarded"):
        ask()


@pytest.mark.parametrize(
    ("operation", "resource", "obj", "more"),
    [
        ("CREATE", PODS, pod("bad/app", namespace="kube-system"), {}),
        ("DELETE", PODS, pod("bad/app"), {}),
        ("UPDATE", PODS, pod("bad/app"), {"subresource": "status"}),
        ("CREATE", LEASES, pod("bad/app"), {}),
    ],
    ids=["excluded namespace", "other operation", "subresource", "other resource"],
)
def test_a_policy_is_asked_about_what_it_declares_only(bench, operation, resource, obj, more):
    rig = bench([POLICIES])

    rig.admit(rig.request(operation, resource, obj, **more))


@pytest.mark.parametrize("name", ["namespace", "labels", "both"])
def test_namespaces_and_labels_narrow_it(bench, name):
    rig = bench([f"{POLICIES}:narrow"])
    namespace = "default" if name == "labels" else "team-a"
    labels = {} if name == "namespace" else {"watched": "yes"}
    old = {"metadata": {"name": "s", "namespace": namespace, "labels": labels}}

    if name != "both":
        rig.delete(SERVICES, old)
        return
    with pytest.raises(Forbidden, match="DELETE by alice"):
        rig.delete(SERVICES, old)


def test_a_mutating_policy_changes_the_object_in_place_or_by_a_patch(bench):
    rig = bench([{"policy": f"{POLICIES}:labelled", "params": {"team": "red"}}, f"{POLICIES}:patched"])
    meta = {"name": "s", "namespace": "default"}

    request = rig.admit(rig.request("CREATE", SECRETS, {"metadata": meta}))
    again = rig.admit(rig.request("UPDATE", SECRETS, request.object, request.object))

    assert request.object["metadata"]["labels"] == {"team": "red"}
    assert request.wants_reinvocation
    assert not again.wants_reinvocation
    assert rig.create(ENDPOINTS, {"metadata": meta})["metadata"]["labels"] == {"by": "patch"}


@pytest.mark.parametrize("failure_policy", ["Fail", "Ignore"])
def test_a_patch_that_does_not_fit_is_a_failure(bench, failure_policy):
    rig = bench([f"{POLICIES}:misfit"], failurePolicy=failure_policy)
    request = rig.request("CREATE", NODES, {"metadata": {"name": "n"}})

    if failure_policy == "Fail":
        with pytest.raises(InternalError, match='failed running policy "misfit"'):
            rig.admit(request)
    else:
        assert list(rig.admit(request).annotations) == [f"{FAILED_OPEN}misfit"]


def test_a_question_that_is_none_is_refused_to_the_policy(bench, tmp_path):
    file = tmp_path / "questions.py"
    file.write_text(
        "from hyperkube_admission.python_policy import LookupRefused, validates\n"
        "@validates('configmaps')\n"
        "def own(review, cluster):\n"
        "    said = []\n"
        "    for ask in (lambda: cluster.get('Nothing', '', 'x'), lambda: cluster.list('Pod', labels='==')):\n"
        "        try: ask()\n"
        "        except LookupRefused as error: said.append(str(error))\n"
        "    return '; '.join(said)\n"
    )

    with pytest.raises(Forbidden, match=r"the server has no kind 'Nothing'; .*==") as refused:
        bench([str(file)]).create(CONFIG_MAPS, config())

    assert "Nothing" in refused.value.message


def test_it_warns_and_annotates_and_refuses_with_a_status(bench):
    rig = bench([f"{POLICIES}:says"])

    request = rig.admit(rig.request("CREATE", CONFIG_MAPS, config(warn="careful", audit="this")))
    with pytest.raises(ApiError, match="not so") as refused:
        rig.create(CONFIG_MAPS, config(deny="not so"))

    assert request.warnings == ["careful"]
    assert request.annotations == {"says/said": "this"}
    assert (refused.value.status_code, refused.value.status_reason) == (422, "Invalid")


@pytest.mark.parametrize("trap", ["loop", "regex"])
def test_what_does_not_end_is_cut_and_fails_closed(bench, trap):
    rig = bench([{"policy": f"{POLICIES}:says", "budget": 300}])

    for _ in range(2):
        eventually(rig.plugin._pool.full)  # else the time may be up before a process is free
        with pytest.raises(InternalError, match=r'failed running policy "says": it was cut after 300 ms'):
            rig.create(CONFIG_MAPS, config(**{trap: "yes"}))
    eventually(rig.plugin._pool.full)


@pytest.mark.parametrize("trap", ["loop", "regex"])
def test_what_does_not_end_is_cut_and_fails_open(bench, trap):
    rig = bench([{"policy": f"{POLICIES}:says", "budget": 300, "failurePolicy": "Ignore"}])
    eventually(rig.plugin._pool.full)

    request = rig.admit(rig.request("CREATE", CONFIG_MAPS, config(**{trap: "yes"})))

    assert request.annotations == {f"{FAILED_OPEN}says": "it was cut after 300 ms"}


def test_a_process_that_was_cut_is_gone_and_replaced(bench):
    rig = bench([{"policy": f"{POLICIES}:says", "budget": 500}], workers=2)
    eventually(rig.plugin._pool.full)
    before = {process.pid for process in rig.plugin._pool._idle}

    with pytest.raises(InternalError):
        rig.create(CONFIG_MAPS, config(loop="yes"))

    eventually(rig.plugin._pool.full)
    after = {process.pid for process in rig.plugin._pool._idle}
    assert len(before - after) == len(after - before) == 1
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in before - after))


@pytest.mark.parametrize(
    ("trap", "why"),
    [("raise", "ValueError: oh"), ("exit", "SystemExit: 3"), ("memory", "it took more memory than it may")],
)
@pytest.mark.parametrize("failure_policy", ["Fail", "Ignore"])
def test_a_failure_obeys_the_failure_policy(bench, trap, why, failure_policy):
    rig = bench([{"policy": f"{POLICIES}:says", "failurePolicy": failure_policy}], memory=400)
    request = rig.request("CREATE", CONFIG_MAPS, config(**{trap: "oh"}))

    if failure_policy == "Fail":
        with pytest.raises(InternalError, match=why):
            rig.admit(request)
    else:
        rig.admit(request)
        assert request.annotations == {f"{FAILED_OPEN}says": why}
    rig.create(CONFIG_MAPS, config())


def test_the_policies_after_one_that_failed_open_are_asked(bench, tmp_path):
    second = tmp_path / "second.py"
    second.write_text(
        "from hyperkube_admission.python_policy import validates\n"
        "@validates('configmaps')\ndef second(review): return 'second says no'\n"
    )
    rig = bench([{"policy": f"{POLICIES}:says", "failurePolicy": "Ignore", "budget": 300}, str(second)])

    for trap in ("raise", "loop"):
        with pytest.raises(Forbidden, match="second says no"):
            rig.create(CONFIG_MAPS, config(**{trap: "yes"}))


def test_a_changed_file_is_loaded_and_a_broken_one_is_not(bench, tmp_path):
    file = tmp_path / "own.py"

    def write(body):
        new = tmp_path / "new"
        new.write_text("from hyperkube_admission.python_policy import validates\n" + body)
        new.replace(file)

    def said():
        rig.clock.advance(1)
        try:
            rig.create(CONFIG_MAPS, config())
        except Forbidden as error:
            return error.message.rpartition(": ")[2]
        return ""

    write("@validates('configmaps')\ndef own(review): return 'first'\n")
    rig = bench([str(file)])
    assert said() == "first"

    write("@validates('configmaps')\ndef own(review): return 'the second'\n")
    eventually(lambda: said() == "the second")
    write("this is no Python\n")
    generation = rig.plugin._pool.generation
    seen = dict(generation.times)
    eventually(lambda: said() == "the second" and generation.times != seen)
    assert rig.plugin._pool.generation is generation
    write("@validates('nodes')\ndef own(review): return 'third'\n")
    eventually(lambda: said() == "")
    with pytest.raises(Forbidden, match="third"):
        rig.create(NODES, {"metadata": {"name": "n"}})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"policies": ["nowhere.py"]}, "there is no file"),
        ({"policies": ["nothing"]}, "is no module:function, no file, and not installed"),
        ({"policies": ["no.such.module:f"]}, "'no.such.module' cannot be loaded: ModuleNotFoundError"),
        ({"policies": [f"{POLICIES}:nothing"]}, "has no policy 'nothing': its policies are listed_registry, says"),
        ({"policies": ["orjson"]}, "not installed"),
        ({"policies": ["os.path"]}, "holds no policy"),
        ({"policies": [POLICIES, POLICIES]}, "two policies have the name 'labelled'"),
        ({"policies": [POLICIES], "budget": 0}, "budget must be a whole number of at least 1, not 0"),
        ({"policies": [POLICIES], "failurePolicy": "Maybe"}, "failurePolicy must be 'Fail' or 'Ignore'"),
        ({"policies": [POLICIES], "budgets": 3}, "budgets"),
        ({"policies": [{"name": "x"}]}, "policy is missing"),
        ({"policies": "x"}, "policies must be a list"),
        ({"policies": [{"policy": POLICIES, "params": 3}]}, "params must be an object"),
    ],
    ids=repr,
)
def test_wrong_settings_are_refused_at_start_in_one_line(settings, message):
    with pytest.raises(UsageError, match=message) as refused:
        AdmissionRig(PythonPolicy, settings=settings)

    assert "\n" not in str(refused.value)


def test_a_policy_that_hangs_does_not_outlive_a_server_that_was_killed(bench):
    asked = _asked(bench([]).request("CREATE", CONFIG_MAPS, config(loop="yes")))
    clock = SystemClock()
    process = Process(Job([{"source": f"{POLICIES}:says"}], 0), clock, 1)
    process._channel.send({"run": [0], "closed": [True], "review": asked, "budget": 0.1})

    process._channel.close()  # nobody is left to kill it

    assert process._process.wait(SECONDS) == -signal.SIGALRM


def test_without_policies_there_is_no_process():
    rig = AdmissionRig(PythonPolicy, settings={"policies": []})

    assert rig.plugin.ready()
    assert rig.create(CONFIG_MAPS, config()) == config()
    assert rig.plugin._pool._thread is None


def test_the_processes_do_not_see_the_servers_environment(bench, tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_SERVER", "hidden")
    file = tmp_path / "environment.py"
    file.write_text(
        "import os\nfrom hyperkube_admission.python_policy import validates\n"
        "@validates('configmaps')\ndef own(review): return os.environ.get('SECRET_OF_THE_SERVER', 'unknown')\n"
    )
    rig = bench([str(file)])

    assert "SECRET_OF_THE_SERVER" in os.environ
    with pytest.raises(Forbidden, match="unknown"):
        rig.create(CONFIG_MAPS, config())
