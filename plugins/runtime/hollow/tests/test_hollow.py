"""The hollow runtime."""

import os

from hyperkube_runtime.hollow import Hollow, HollowRuntime
from hyperkube_testing.node_contracts.runtime import RuntimeContract

from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.plugin import PluginContext


class TestContract(RuntimeContract):
    image = "nginx"
    survives = False

    def build(self, state):
        return HollowRuntime(SystemClock())


def start(runtime, **annotations):
    pod = {"metadata": {"namespace": "ns", "name": "p", "uid": "u"}, "hostname": "p", "annotations": annotations}
    config = {"metadata": {"name": "c"}, "image": {"image": "nginx"}}
    container = runtime.create_container(runtime.run_sandbox(pod, ""), config, pod)
    runtime.start_container(container)
    return container


def test_a_container_ends_when_its_annotation_says_so():
    clock, told = FakeClock(), []
    runtime = HollowRuntime(clock)
    runtime.subscribe(told.append)
    container = start(runtime, **{"hyperkube.dev/hollow-exit-after": "5s", "hyperkube.dev/hollow-exit-code": "3"})

    clock.advance(4)
    before = runtime.container(container).state
    clock.advance(1)

    assert before == "running"
    assert (runtime.container(container).state, runtime.container(container).exit_code) == ("exited", 3)
    assert told == ["u"]


def test_a_command_answers_with_its_own_words():
    runtime = HollowRuntime(FakeClock())

    said = runtime.exec(start(runtime), ["ls", "/"], stdin=False, tty=False)

    assert os.read(said.stdout, 100) == b"simulated: ls /\n"
    assert said.wait() == 0
    for descriptor in (said.stdout, said.stderr):
        os.close(descriptor)


def test_the_plugin_builds_it():
    runtime = Hollow(PluginContext(name="hollow", settings={"hostname_override": "n"})).runtime_build()

    assert runtime.name == "hollow"
