"""What images a node holds is worth to a pod, case by case; sizes are mebibytes, and the images' names.

Source of the numbers: kubernetes ``pkg/scheduler/framework/plugins/imagelocality/image_locality_test.go``. Images
mounted as volumes count like those of containers, as Kubernetes mended it after 1.36.0.
"""

import pytest
from hyperkube_scheduler.image_locality import ImageLocality
from hyperkube_testing.scheduling.tables import node, pod_info, scores, table

MEBIBYTE = 1024 * 1024


def holding(name, *sizes):
    made = node(name)
    made["status"]["images"] = [
        {"names": [f"gcr.io/{size}:latest", f"gcr.io/{size}:v1", f"gcr.io/{size}:v1"], "sizeBytes": size * MEBIBYTE}
        for size in sizes
    ]
    return made


def pod(*sizes, init=(), volumes=()):
    return {
        "spec": {
            "containers": [{"name": f"c{size}", "image": f"gcr.io/{size}"} for size in sizes],
            "initContainers": [{"name": f"i{size}", "image": f"gcr.io/{size}"} for size in init],
            "volumes": [
                {"name": "data", "emptyDir": {}},
                *({"name": f"v{size}", "image": {"reference": f"gcr.io/{size}"}} for size in volumes),
            ],
        }
    }


MIDDLE, TWO, NONE = (40, 300, 2000), (250, 10), ()
LARGE, ALL = (4000, 30), (300, 600, 900)


@pytest.mark.parametrize(
    ("wanted", "nodes", "expected"),
    [
        pytest.param(pod(40, 250), [MIDDLE, TWO], [0, 5], id="one each, the larger"),
        pytest.param(pod(40, 300), [MIDDLE, TWO], [7, 0], id="both on one"),
        pytest.param(pod(10, 4000), [LARGE, TWO], [100, 0], id="as much as counts"),
        pytest.param(pod(10, 4000), [LARGE, TWO, NONE], [66, 0, 0], id="less where fewer nodes hold it"),
        pytest.param(pod(300, 600, 900), [(600, 40, 900), ALL, NONE], [32, 36, 0], id="three large ones"),
        pytest.param(pod(30, 40), [(20, 30, 40), LARGE], [1, 0], id="two small ones"),
        pytest.param(pod(30, init=[300]), [MIDDLE, (20, 30, 40)], [6, 0], id="what the start needs counts too"),
        pytest.param(pod(30, volumes=[300]), [MIDDLE, (20, 30, 40)], [6, 0], id="and what is mounted"),
        pytest.param(pod(11), [MIDDLE, TWO], None, id="nobody holds it"),
    ],
)
def test_scores_number_by_number(wanted, nodes, expected):
    world = table()
    for number, sizes in enumerate(nodes):
        world.put_node(holding(f"node{number}", *sizes))

    assert scores(ImageLocality(None), pod_info(wanted, world), world) == expected
