"""The podcertificaterequest-cleaner controller: requests go by their age alone."""

from hyperkube_controller.podcertificaterequest_cleaner import POD_CERTIFICATE_REQUESTS, PodcertificaterequestCleaner

from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

REQUEST = {"kind": "PodCertificateRequest", "metadata": {"name": "r", "namespace": "d"}, "spec": {}}


class TestContract(ControllerContract):
    plugin = PodcertificaterequestCleaner

    def populate(self, rig):
        rig.client.seed(POD_CERTIFICATE_REQUESTS, REQUEST)
        rig.clock.advance(3600)


def test_a_request_goes_after_half_an_hour():
    rig = ControllerRig(PodcertificaterequestCleaner)
    rig.client.seed(POD_CERTIFICATE_REQUESTS, REQUEST)
    rig.settle()
    rig.advance(29 * 60)
    before = rig.client.objects(POD_CERTIFICATE_REQUESTS)

    rig.advance(61)

    assert before
    assert rig.client.objects(POD_CERTIFICATE_REQUESTS) == []


def test_that_it_was_answered_does_not_count():
    rig = ControllerRig(PodcertificaterequestCleaner)
    issued = {"conditions": [{"type": "Issued", "status": "True"}]}
    rig.client.seed(POD_CERTIFICATE_REQUESTS, {**REQUEST, "status": issued})
    rig.settle()

    rig.advance(1801)

    assert rig.client.objects(POD_CERTIFICATE_REQUESTS) == []
