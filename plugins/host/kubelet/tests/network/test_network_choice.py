"""Which network goes with which runtime."""

from hyperkube_host.kubelet.network.network_choice import use_network


class Network:
    """A network that connects namespaces."""

    needs_namespaces = True


class CallingRuntime:
    """A runtime that connects its pods itself, through a network plugin."""

    def __init__(self):
        self.used = None

    def use_network(self, name, network):
        self.used = (name, network)


class OwnNetworkRuntime:
    """A runtime that connects its pods itself, without a network plugin."""


def test_a_runtime_that_calls_the_network_is_given_it(caplog):
    runtime, network = CallingRuntime(), Network()

    use_network("cni", network, "docker", runtime)

    assert runtime.used == ("cni", network)
    assert caplog.text == ""


def test_a_network_that_the_runtime_never_calls_is_warned_of(caplog):
    use_network("cni", Network(), "remote", OwnNetworkRuntime())

    assert '--network-plugin=cni has no effect: the runtime "remote" connects its pods itself' in caplog.text
