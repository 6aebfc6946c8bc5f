import pytest
from hyperkube_host.apiserver.admission import templates
from hyperkube_host.apiserver.admission.chain import AdmissionChain
from hyperkube_host.apiserver.admission.shared_members import before_changes
from hyperkube_host.apiserver.admission.templates import FEWEST
from hyperkube_host.apiserver.resources.known_metadata import NewMetadata
from hyperkube_host.apiserver.resources.template_text import template_text

from hyperkube.hookspecs import hookimpl
from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import Plugin
from hyperkube.testing.admission_rig import AdmissionRig

LEARNED = 2


class Alike(Plugin):
    """Treats pods of a template alike; counts how often it is asked."""

    may_block = False
    handles = frozenset({"pods"})

    def __init__(self, context):
        super().__init__(context)
        self.asked = 0
        self.nodes = self.informers.informer(NODES)
        self.decided_by = (self.nodes,)

    def repeats(self, request):
        return True

    @hookimpl
    def admission_mutate(self, request):
        self.asked += 1
        self.act(request)

    def act(self, request):
        request.written()["spec"]["nodes"] = [len(self.nodes)]
        request.written()["metadata"]["labels"] = {"app": "a", "seen": "yes"}
        request.annotations["alike/seen"] = "yes"


class Aside(Alike):
    def act(self, request):
        pass


def pod(name="p", **spec):
    meta = {"name": name, "uid": f"uid of {name}", "labels": {"app": "a"}, "managedFields": [{"manager": name}]}
    return {"kind": "Pod", "metadata": meta, "spec": {"containers": [], **spec}}


class Cluster:
    """A chain of some plugins that treat pods alike; the first is `shape`."""

    def __init__(self, shape=Alike, between=(), count=FEWEST):
        self.rig = AdmissionRig(shape)
        self.first = self.rig.plugin
        self.rest = [Aside(self.rig.plugin.context) for _ in range(count - 1)]
        hooks = [plugin.admission_mutate for plugin in (*self.rest, self.first)]
        self.chain = AdmissionChain([*hooks[:FEWEST], *between, *hooks[FEWEST:]])

    def learn(self):
        """Create as many pods of a template as are asked about: outcomes are kept from the second on."""
        for _ in range(LEARNED):
            self.create()

    def create(self, obj=None, operation="CREATE", **given):
        request = self.rig.request(operation, PODS, obj or pod(), **given)
        self.chain.mutate(request)
        return request


def test_the_next_pod_of_a_template_gets_the_same_unasked():
    cluster = Cluster()
    first = cluster.create()
    cluster.create()

    second = cluster.create(pod("q"))

    assert cluster.first.asked == LEARNED
    assert second.object == {
        **first.object,
        "metadata": {**pod("q")["metadata"], "labels": {"app": "a", "seen": "yes"}},
    }
    assert second.annotations == first.annotations == {"alike/seen": "yes"}


def test_two_pods_share_nothing_that_could_be_changed():
    cluster = Cluster()
    cluster.learn()

    first, second = cluster.create(), cluster.create()

    assert first.object["spec"]["nodes"] == second.object["spec"]["nodes"]
    assert first.object["spec"]["nodes"] is not second.object["spec"]["nodes"]


@pytest.mark.parametrize(
    ("obj", "given"),
    [
        pytest.param(pod(hostNetwork=True), {}, id="another spec"),
        pytest.param({**pod(), "metadata": {"name": "p", "labels": {"app": "b"}}}, {}, id="other labels"),
        pytest.param(pod(), {"namespace": "other"}, id="another namespace"),
        pytest.param(pod(), {"user": UserInfo("bob")}, id="another user"),
        pytest.param(pod(), {"dry_run": True}, id="a dry run"),
    ],
)
def test_what_differs_is_asked(obj, given):
    cluster = Cluster()
    cluster.learn()

    cluster.create(obj, **given)

    assert cluster.first.asked == LEARNED + 1


def test_a_change_of_what_decides_is_seen_at_once():
    cluster = Cluster()
    cluster.learn()

    cluster.rig.seed(NODES, {"metadata": {"name": "n"}})

    assert cluster.create().object["spec"]["nodes"] == [1]


def test_what_is_found_while_it_changes_is_not_kept():
    class Disturbed(Alike):
        def act(self, request):
            super().act(request)
            if self.asked == LEARNED:
                cluster.rig.seed(NODES, {"metadata": {"name": "n"}})

    cluster = Cluster(Disturbed)
    cluster.learn()

    assert cluster.create().object["spec"]["nodes"] == [1]


def update(label, **spec):
    return {**pod(**spec), "metadata": {"name": label, "labels": {"app": label}}}


def test_an_update_that_leaves_the_template_as_it_is_is_not_asked_again():
    cluster = Cluster(Aside)
    for label in ("a", "b"):
        cluster.create(update(label), "UPDATE", old=update("old"))

    third = cluster.create(update("c"), "UPDATE", old=update("old"))

    assert cluster.first.asked == LEARNED
    assert third.object == update("c")


@pytest.mark.parametrize(
    "old",
    [
        pytest.param(update("old", hostNetwork=True), id="spec"),
        pytest.param({**pod(), "metadata": {"name": "p", "annotations": {"a": "b"}}}, id="annotations"),
    ],
)
def test_an_update_that_changes_the_template_is_asked(old):
    cluster = Cluster(Aside)

    for _ in range(LEARNED + 1):
        cluster.create(update("a"), "UPDATE", old=old)

    assert cluster.first.asked == LEARNED + 1


def test_labels_that_an_update_gets_are_not_kept():
    cluster = Cluster()

    for label in ("a", "b", "c"):
        cluster.create(update(label), "UPDATE", old=update("old"))

    assert cluster.first.asked == LEARNED + 1


def test_a_plugin_that_has_not_said_so_is_asked_in_its_place():
    seen = []

    def between(request):
        seen.append(dict(request.object["metadata"]["labels"]))

    cluster = Cluster(between=[between], count=2 * FEWEST)
    cluster.learn()
    cluster.create()

    assert seen == [{"app": "a"}] * (LEARNED + 1)
    assert [plugin.asked for plugin in (*cluster.rest, cluster.first)] == [LEARNED] * 2 * FEWEST


def test_few_plugins_are_asked():
    cluster = Cluster(count=FEWEST - 1)

    for _ in range(LEARNED + 1):
        cluster.create()

    assert cluster.first.asked == LEARNED + 1


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda request: request.warnings.append("beware"), id="warns"),
        pytest.param(lambda request: request.on_failure.append(lambda: None), id="charges"),
        pytest.param(lambda request: request.memory.update(mine=1), id="keeps something"),
        pytest.param(lambda request: setattr(request, "wants_reinvocation", True), id="wants another round"),
        pytest.param(lambda request: request.object["spec"].pop("containers"), id="takes away"),
        pytest.param(lambda request: request.object.update(status={}), id="sets what is not of the template"),
        pytest.param(lambda request: request.object["metadata"].update(finalizers=["f"]), id="sets other metadata"),
    ],
)
def test_more_than_a_change_of_the_template_is_not_kept(act):
    class Acts(Alike):
        def act(self, request):
            act(request)

    cluster = Cluster(Acts)
    cluster.learn()
    before = cluster.first.asked

    cluster.create()

    assert cluster.first.asked > before


def test_a_refusal_is_not_kept_and_names_its_pod():
    class Refuses(Alike):
        def act(self, request):
            raise Forbidden("no")

    cluster = Cluster(Refuses)

    for name in ("p", "q", "r"):
        with pytest.raises(Forbidden, match=f'pods "{name}" is forbidden: no'):
            cluster.create(pod(name))

    assert cluster.first.asked == 3


def test_what_is_no_json_is_asked():
    cluster = Cluster()

    for _ in range(LEARNED + 1):
        cluster.create(object={**pod(), "spec": {"containers": [], "number": 2**70}})

    assert cluster.first.asked == LEARNED + 1


def test_a_plugin_that_cannot_promise_it_is_asked():
    class Hesitates(Alike):
        def repeats(self, request):
            return False

    cluster = Cluster(Hesitates)

    for _ in range(LEARNED + 1):
        cluster.create()

    assert cluster.first.asked == LEARNED + 1


class OfSpec(Alike):
    def act(self, request):
        request.written()["spec"]["seen"] = "yes"


def created_known(cluster, obj):
    """Create an object whose template's text is known; return it and what is known of it afterwards."""
    request = cluster.rig.request("CREATE", PODS, obj)
    known = NewMetadata(request.object["metadata"], template_text(request.object))
    before_changes(request, known)
    cluster.chain.mutate(request)
    return request.object, known


@pytest.mark.parametrize(
    ("shape", "is_known"), [(OfSpec, True), (Aside, True), (Alike, False)], ids=["spec", "none", "metadata"]
)
def test_the_text_is_known_after_a_known_change_of_nothing_but_the_specification(shape, is_known):
    cluster = Cluster(shape)
    cluster.learn()

    obj, known = created_known(cluster, pod("q"))

    assert cluster.first.asked == LEARNED
    assert known.text == (template_text(obj) if is_known else None)


def test_a_known_text_is_not_written_again(monkeypatch):
    cluster = Cluster(OfSpec)
    cluster.learn()
    text = template_text(pod("q"))
    monkeypatch.setattr(templates, "template_text", None)
    request = cluster.rig.request("CREATE", PODS, pod("q"))
    before_changes(request, NewMetadata(request.object["metadata"], text))

    cluster.chain.mutate(request)

    assert request.object["spec"]["seen"] == "yes"


def test_after_another_hook_the_text_is_not_known():
    def between(request):
        request.object["spec"]["other"] = "yes"

    cluster = Cluster(OfSpec, between=[between], count=2 * FEWEST)
    cluster.learn()

    obj, known = created_known(cluster, pod("q"))

    assert obj["spec"] == {"containers": [], "seen": "yes", "other": "yes"}
    assert known.text is None
