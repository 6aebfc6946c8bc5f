"""What each admission plugin takes is a metric, under Kubernetes' name."""

import pytest
from hyperkube_host.apiserver.admission.chain import AdmissionChain
from hyperkube_host.apiserver.admission.plugin_times import PluginTimes

from hyperkube.hookspecs import hookimpl
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.plugin import Plugin
from hyperkube.testing.admission_rig import AdmissionRig

LABELS = 'name="Refuses",operation="CREATE",rejected="true",type="validate"'


class Refuses(Plugin):
    @hookimpl
    def admission_mutate(self, request):
        """Change nothing."""

    @hookimpl
    def admission_validate(self, request):
        raise Forbidden("no")


def admitted(times):
    rig = AdmissionRig(Refuses)
    chain = AdmissionChain([rig.plugin.admission_mutate], [rig.plugin.admission_validate], times=times)
    request = rig.request("CREATE", PODS, {"metadata": {"name": "p"}})
    chain.mutate(request)
    with pytest.raises(Forbidden):
        chain.validate(request)
    return chain.metrics().decode()


def test_each_hook_is_a_row_that_says_whether_it_refused():
    ticks = iter(range(100))
    text = admitted(PluginTimes(share=1.0, monotonic=lambda: float(next(ticks))))

    assert f"apiserver_admission_controller_admission_duration_seconds_count{{{LABELS}}} 1.0" in text
    assert f"apiserver_admission_controller_admission_duration_seconds_sum{{{LABELS}}} 1.0" in text
    assert 'rejected="false",type="admit"} 1.0' in text


def test_requests_that_are_not_measured_are_not_counted():
    assert 'name="Refuses"' not in admitted(PluginTimes(share=0.0))


def test_without_times_there_is_no_metric():
    assert admitted(None) == ""
