import pytest
from hyperkube_admission.always_deny import AlwaysDeny

from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig


def test_everything_is_refused():
    rig = AdmissionRig(AlwaysDeny)

    with pytest.raises(Forbidden, match="admission control is denying all modifications"):
        rig.create(PODS, {"metadata": {"name": "p"}})
    with pytest.raises(Forbidden):
        rig.delete(PODS, {"metadata": {"name": "p"}})
