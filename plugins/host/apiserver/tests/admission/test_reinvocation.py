from hyperkube_host.apiserver.admission.chain import AdmissionChain

from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.groups import GroupVersionKind, GroupVersionResource
from hyperkube.machinery.users import UserInfo


def request():
    return AdmissionRequest(
        operation="CREATE",
        resource=GroupVersionResource("", "v1", "configmaps"),
        kind=GroupVersionKind("", "v1", "ConfigMap"),
        namespace="ns",
        name="c",
        user=UserInfo("alice"),
        object={"metadata": {"name": "c"}},
        may=lambda *_args, **_more: True,
    )


def test_all_mutators_run_once_more_when_one_asks_for_it():
    calls = []

    def early(request):
        calls.append(("early", request.is_reinvocation))

    def late(request):
        calls.append(("late", request.is_reinvocation))
        request.wants_reinvocation = True

    AdmissionChain([early, late]).mutate(request())

    assert calls == [("early", False), ("late", False), ("early", True), ("late", True)]


def test_without_a_wish_there_is_one_round():
    calls = []

    AdmissionChain([lambda request: calls.append(request.name)]).mutate(request())

    assert calls == ["c"]
