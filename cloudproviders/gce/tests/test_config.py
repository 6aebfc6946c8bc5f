"""The file of ``--cloud-config`` as Kubernetes' provider reads it, and what is asked where it is silent."""

import pytest
from hyperkube_cloud.gce.config import GceConfig, read_config
from hyperkube_cloud.gce.location import Location, Metadata, region_of

from hyperkube.hookspecs.cloud import CloudUnavailable
from hyperkube.machinery.errors import UsageError

FULL = """
; as kube-up writes it
[global]
token-url = nil
token-body = "{\\"key\\": \\"secret-of-the-test\\"}"
project-id = shop
network-name = inner   # a comment
node-tags = node
node-tags = gpu-node
multizone = true
local-zone = europe-west1-b
alpha-features = AlphaFeature
"""


def written(tmp_path, text):
    path = tmp_path / "gce.conf"
    path.write_text(text)
    return str(path)


def test_it_is_read(tmp_path):
    config = read_config(written(tmp_path, FULL))

    assert (config.project_id, config.local_zone, config.network_name) == ("shop", "europe-west1-b", "inner")
    assert config.node_tags == ("node", "gpu-node")
    assert config.multizone
    assert config.token_body == '{"key": "secret-of-the-test"}'
    assert config.endpoint == "https://compute.googleapis.com/compute/v1/"
    assert "secret" not in repr(config)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[Global]\nprojcet-id = x\n", "unknown key 'projcet-id'"),
        ("[Globl]\n", r"unknown section \[globl\]"),
        ("project-id = x\n", "line 1 is neither a section nor a key"),
        ("[Global]\nmultizone = perhaps\n", "multizone: 'perhaps' is neither true nor false"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_file(tmp_path, text, message):
    with pytest.raises(UsageError, match=f"--cloud-config=.*gce.conf.*{message}"):
        read_config(written(tmp_path, text))


def test_what_the_file_does_not_say_the_machine_is_asked_once(double):
    from gce_google import MachineMetadata

    asked = []

    def send(request):
        asked.append(request.url)
        return MachineMetadata()(request)

    location = Location(GceConfig(), Metadata(send))

    assert [location.project, location.project, location.region] == ["shop-project", "shop-project", "us-central1"]
    assert location.network.endswith("/projects/shop-project/global/networks/default")
    assert len(asked) == 3
    assert asked[0] == "http://metadata.google.internal/computeMetadata/v1/project/project-id"


def test_another_machine_than_googles_is_told(double):
    from hyperkube_testing.rest_cloud import answer

    location = Location(GceConfig(), Metadata(lambda _request: answer(200, b"a captive portal")))

    with pytest.raises(CloudUnavailable, match="the metadata server does not tell project/project-id"):
        assert location.project
    with pytest.raises(CloudUnavailable, match="unexpected zone: nowhere"):
        region_of("nowhere")
