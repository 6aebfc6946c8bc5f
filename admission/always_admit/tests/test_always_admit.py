from hyperkube_admission.always_admit import AlwaysAdmit

from hyperkube.kinds.resources import PODS
from hyperkube.testing.contracts.admission import AdmissionContract


class TestAlwaysAdmit(AdmissionContract):
    plugin = AlwaysAdmit
    acts = False

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, {"metadata": {"name": "p"}})]
