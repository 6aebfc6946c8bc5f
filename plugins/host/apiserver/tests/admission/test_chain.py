import pytest
from hyperkube_host.apiserver.admission.chain import AdmissionChain

from hyperkube.kinds.resources import PODS
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
