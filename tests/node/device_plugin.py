"""A device plugin, as a program of its own: two things, of which a container sees /dev/thing and a variable."""

import sys
import threading

from hyperkube_host.kubelet.apis import device_plugin
from hyperkube_lib.grpc_messages import GrpcServer, Stub, unix_channel

FOLDER = "/var/lib/kubelet/device-plugins"
NAME = "lab.example.com/thing"


def list_and_watch(_request):
    yield {"devices": [{"ID": name, "health": "Healthy"} for name in ("thing-0", "thing-1")]}
    threading.Event().wait()


def allocate(request):
    ids = ",".join(request["container_requests"][0]["devices_ids"])
    given = {
        "envs": {"THINGS": ids},
        "devices": [{"host_path": "/dev/zero", "container_path": "/dev/thing", "permissions": "r"}],
    }
    return {"container_responses": [given]}


def main():
    server = GrpcServer(threads=4)
    handlers = {
        "GetDevicePluginOptions": lambda _: {},
        "ListAndWatch": list_and_watch,
        "Allocate": allocate,
        "GetPreferredAllocation": lambda _: {},
        "PreStartContainer": lambda _: {},
    }
    server.add_service(device_plugin().service("DevicePlugin"), handlers)
    server.listen(f"{FOLDER}/thing.sock")
    server.start()
    with unix_channel(f"{FOLDER}/kubelet.sock") as channel:
        request = {"version": "v1beta1", "endpoint": "thing.sock", "resource_name": NAME, "options": {}}
        Stub(channel, device_plugin().service("Registration")).call("Register", request, 15)
    threading.Event().wait()


if __name__ == "__main__":
    sys.exit(main())
