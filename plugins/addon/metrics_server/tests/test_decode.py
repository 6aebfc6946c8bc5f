"""What a kubelet serves, read."""

from hyperkube_addon.metrics_server.decode import MetricsPoint, decode_batch

TEXT = """\
# HELP node_cpu_usage_seconds_total cpu
# TYPE node_cpu_usage_seconds_total counter
node_cpu_usage_seconds_total 357.35491 1606253300000
node_memory_working_set_bytes 1.616273408e+09 1606253300000
container_start_time_seconds{container="coredns",namespace="kube-system",pod="coredns-1"} 1.6e+09
container_cpu_usage_seconds_total{container="coredns",namespace="kube-system",pod="coredns-1"} 4.71 1606253000000
container_memory_working_set_bytes{container="coredns",namespace="kube-system",pod="coredns-1"} 1.2e+07 1606253000000
container_cpu_usage_seconds_total{container="half",namespace="default",pod="p"} 1
container_cpu_usage_seconds_total{container="still",namespace="default",pod="q"} 0
container_memory_working_set_bytes{container="still",namespace="default",pod="q"} 5
container_cpu_usage_seconds_total{container="ended",namespace="default",pod="r"} 1
container_memory_working_set_bytes{container="ended",namespace="default",pod="r"} 0
scrape_error 0
broken{ line
other{a="x\\"y"} NaN
"""


def test_nodes_and_containers_are_read_with_their_own_times():
    batch = decode_batch(TEXT, "n", 7.0)

    assert batch.nodes == {"n": MetricsPoint(1606253300.0, 357.35491, 1616273408)}
    assert batch.pods == {
        ("kube-system", "coredns-1"): {"coredns": MetricsPoint(1606253000.0, 4.71, 12000000, 1600000000.0)},
        ("default", "q"): {"still": MetricsPoint(7.0, 0.0, 5)},
    }


def test_a_sample_without_a_time_was_taken_now():
    text = "node_cpu_usage_seconds_total 1\nnode_memory_working_set_bytes 2\n"

    assert decode_batch(text, "n", 7.0).nodes == {"n": MetricsPoint(7.0, 1.0, 2)}


def test_labels_are_unescaped():
    text = (
        'container_cpu_usage_seconds_total{container="a\\"b",namespace="x",pod="y"} 1\n'
        'container_memory_working_set_bytes{container="a\\"b",namespace="x",pod="y"} 2\n'
    )

    assert list(decode_batch(text, "n", 1.0).pods["x", "y"]) == ['a"b']
