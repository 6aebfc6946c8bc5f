"""The client of CRI against a small server."""

import pytest
from hyperkube_lib.cri import IMAGE_SERVICE, RUNTIME_SERVICE, CriClient, cri_schema
from hyperkube_lib.grpc_messages import GrpcServer, RpcFailed, from_mapping, to_mapping

VERSION = {"version": "0.1.0", "runtime_name": "small", "runtime_version": "1", "runtime_api_version": "v1"}
EVENT = {"container_id": "a", "container_event_type": "CONTAINER_STARTED_EVENT"}


def serve(path, service, handlers):
    server = GrpcServer()
    server.add_service(cri_schema().service(service), handlers)
    server.listen(str(path))
    server.start()
    return server


@pytest.fixture
def client(tmp_path):
    runtime = serve(
        tmp_path / "runtime.sock",
        RUNTIME_SERVICE,
        {"Version": lambda _: VERSION, "GetContainerEvents": lambda _: iter([EVENT])},
    )
    images = serve(
        tmp_path / "images.sock", IMAGE_SERVICE, {"PullImage": lambda asked: {"image_ref": asked["image"]["image"]}}
    )
    client = CriClient(f"unix://{tmp_path}/runtime.sock", f"unix://{tmp_path}/images.sock", 5)
    yield client
    client.close()
    runtime.stop()
    images.stop()


def test_both_services_are_called_at_their_own_sockets(client):
    assert client.call("Version", {"version": "v1"}) == VERSION
    assert client.call_message("Version", {}).runtime_name == "small"
    assert client.call_image("PullImage", {"image": {"image": "a"}}) == {"image_ref": "a"}


def test_events_are_streamed(client):
    with client.events() as events:
        found = list(events)

    assert found == [EVENT | {"container_event_type": "CONTAINER_STARTED_EVENT"}]


def test_what_the_runtime_does_not_know_is_unimplemented(client):
    with pytest.raises(RpcFailed) as caught:
        client.call("RuntimeConfig", {})

    assert caught.value.code == "UNIMPLEMENTED"


def test_a_config_keeps_wrapped_zeros_and_enumerations():
    config = {
        "linux": {"security_context": {"run_as_user": {"value": 0}, "namespace_options": {"network": "NODE"}}},
        "port_mappings": [{"protocol": "UDP", "container_port": 1}],
        "labels": {"a": "b"},
    }
    message = cri_schema().message("PodSandboxConfig")

    assert to_mapping(message.FromString(from_mapping(message, config).SerializeToString())) == config
