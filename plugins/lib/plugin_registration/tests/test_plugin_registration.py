"""A plugin introduces itself, and is told what came of it."""

from hyperkube_lib.grpc_messages import GrpcServer, Stub, unix_channel
from hyperkube_lib.plugin_registration import PluginInfo, ask_plugin, registration_schema, serve_registration


def test_both_ends_of_a_registration(tmp_path):
    socket, told, server = str(tmp_path / "reg.sock"), [], GrpcServer(2)
    info = PluginInfo("CSIPlugin", "x.example.com", "/run/x.sock", ("1.0.0",))
    serve_registration(server, info, lambda used, why: told.append((used, why)))
    server.listen(socket)
    server.start()
    try:
        assert ask_plugin(socket) == info
        with unix_channel(socket) as channel:
            stub = Stub(channel, registration_schema().service("Registration"))
            stub.call("NotifyRegistrationStatus", {"plugin_registered": True}, 5)
            stub.call("NotifyRegistrationStatus", {"error": "too old"}, 5)
    finally:
        server.stop()

    assert told == [(True, ""), (False, "too old")]
