"""Gates hold a pod back."""

from hyperkube_scheduler.scheduling_gates import SchedulingGates

from hyperkube.plugin import PluginContext


def test_a_gated_pod_waits_and_names_its_gates():
    plugin = SchedulingGates(PluginContext(name="SchedulingGates"))

    held = plugin.pre_enqueue({"spec": {"schedulingGates": [{"name": "a"}, {"name": "b"}]}})
    free = plugin.pre_enqueue({"spec": {}})

    assert held == "waiting for scheduling gates: [a b]"
    assert free == ""
