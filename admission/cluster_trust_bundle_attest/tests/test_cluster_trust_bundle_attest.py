import pytest
from hyperkube_admission.cluster_trust_bundle_attest import ClusterTrustBundleAttest

from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

BUNDLES = GroupVersionResource("certificates.k8s.io", "v1beta1", "clustertrustbundles")
BUNDLE = {"metadata": {"name": "example.com:s:b"}, "spec": {"signerName": "example.com/s", "trustBundle": "x"}}


class TestPromises(AdmissionContract):
    plugin = ClusterTrustBundleAttest

    def concerned(self, rig):
        return [
            rig.request("CREATE", BUNDLES, BUNDLE),
            rig.request("CREATE", BUNDLES, BUNDLE, may=lambda *_, **__: False),
        ]


def test_without_the_right_it_is_refused():
    rig = AdmissionRig(ClusterTrustBundleAttest, allows=lambda *_: False)

    with pytest.raises(Forbidden, match=r'user not permitted to attest for signerName "example.com/s"'):
        rig.create(BUNDLES, BUNDLE)
    rig.create(BUNDLES, {**BUNDLE, "spec": {"trustBundle": "x"}})
    rig.update(BUNDLES, BUNDLE, BUNDLE)
