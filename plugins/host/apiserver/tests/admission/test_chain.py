import pytest
from hyperkube_host.apiserver.admission.chain import AdmissionChain

from hyperkube.hookspecs import hookimpl
from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.plugin import Plugin
from hyperkube.testing.admission_rig import AdmissionRig


@pytest.mark.parametrize(
    ("meta", "beginning"),
    [
        ({"name": "p"}, 'pods "p" is forbidden: '),
        ({"generateName": "web-"}, 'pods "web-" is forbidden: '),
        ({}, "pods is forbidden: "),
    ],
)
def test_a_refusal_names_the_object_as_far_as_it_has_a_name(meta, beginning):
    rig = AdmissionRig(Plugin)

    def refuse(request):
        raise Forbidden("no")

    chain = AdmissionChain([refuse])

    with pytest.raises(Forbidden) as caught:
        chain.mutate(rig.request("CREATE", PODS, {"metadata": meta}))

    assert caught.value.message == f"{beginning}no"


class Elsewhere:
    """Turns whose thread is always the caller's; counts what is done elsewhere."""

    def __init__(self):
        self.calls = 0

    def is_here(self):
        return True

    def elsewhere(self, call):
        self.calls += 1
        return call()


class Quick(Plugin):
    may_block = False

    @hookimpl
    def admission_validate(self, request):
        """Wait for nothing."""


class Slow(Quick):
    may_block = True


class SlowForPods(Slow):
    def waits_for(self, request):
        return request.resource == PODS


@pytest.mark.parametrize(
    ("shape", "resource", "elsewhere"),
    [
        pytest.param(Quick, PODS, 0, id="never waits"),
        pytest.param(Slow, PODS, 1, id="has not said"),
        pytest.param(SlowForPods, PODS, 1, id="waits for this"),
        pytest.param(SlowForPods, NODES, 0, id="waits for others"),
    ],
)
def test_hooks_that_may_wait_are_called_elsewhere(shape, resource, elsewhere):
    rig, turns = AdmissionRig(shape), Elsewhere()
    chain = AdmissionChain([], [rig.plugin.admission_validate], turns=turns)

    chain.validate(rig.request("CREATE", resource, {"metadata": {"name": "p"}}))

    assert turns.calls == elsewhere


def test_a_refusal_from_elsewhere_names_its_plugin():
    class Refuses(Slow):
        @hookimpl
        def admission_validate(self, request):
            raise Forbidden("no")

    rig = AdmissionRig(Refuses)
    chain = AdmissionChain([], [rig.plugin.admission_validate], turns=Elsewhere())

    with pytest.raises(Forbidden, match='pods "p" is forbidden: no'):
        chain.validate(rig.request("CREATE", PODS, {"metadata": {"name": "p"}}))
