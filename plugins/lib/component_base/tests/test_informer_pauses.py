"""News gather where they come over a network."""

from hyperkube_lib.component_base.informer_pauses import pauses

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import NODES, PODS


class InProcess(FakeClient):
    """A client that has the objects in its process."""

    def list_projected(self, options, project):
        """Return nothing: the test lists nothing."""


def test_informers_of_a_network_pause_as_they_are_told_and_others_do_not():
    remote, local = pauses(FakeClient(), {PODS: 0.5}), pauses(InProcess(), {PODS: 0.5})

    assert (remote(PODS), remote(NODES)) == (0.5, 0.0)
    assert (local(PODS), local(NODES)) == (0.0, 0.0)
