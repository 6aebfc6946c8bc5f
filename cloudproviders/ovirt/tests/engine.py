"""An oVirt engine in this process: its machines as XML, in the shapes that oVirt's own library reads.

Sources: ``ovirtsdk4`` 4.6 ``writers.py`` and ``readers.py`` (Vm, Nic, ReportedDevice, Ip, Mac, Fault), ``types.py``
(VmStatus); ovirt-engine ``VmConditionFieldAutoCompleter.java``.
"""

from __future__ import annotations

import itertools
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape

from hyperkube_cloud.ovirt import OVirt
from hyperkube_testing.rest_cloud import RestDouble, answer

from hyperkube.hookspecs import cloud as specs
from hyperkube.plugin import PluginContext, PluginHost

HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
URI = "https://engine.example/ovirt-engine/api"


class Engine(RestDouble):
    """One engine; `vms` is id → what it knows of a machine."""

    def __init__(self):
        super().__init__()
        self.vms, self._numbers = {}, itertools.count(9)

    def machine(self, name="node-1", status="up", **more):
        """Run a machine and return its node."""
        last = next(self._numbers)
        ident = f"11111111-0000-4000-8000-{last:012}"
        mac = f"56:6f:00:00:00:{last % 256:02x}"
        devices = [
            ("eth0", mac, [f"10.0.0.{last % 256}", f"fe80::{last}", f"2001:db8::{last}"]),
            ("cni0", "aa:aa:aa:aa:aa:aa", ["10.244.0.1"]),
        ]
        self.vms[ident] = {
            "name": name,
            "fqdn": name,
            "status": status,
            "macs": [mac],
            "devices": devices,
            "tag": "",
            **more,
        }
        return {"metadata": {"name": name}, "spec": {"providerID": f"ovirt:///{ident}"}, "status": {}}

    def answered(self, method, path, body):
        assert method == "GET"
        bare, _, query = path.partition("?")
        assert bare == "/ovirt-engine/api/vms"
        asked = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=True))
        assert set(asked) <= {"search", "follow", "max", "case_sensitive"}
        key, _, value = asked["search"].partition("=")
        if key not in {"", "id", "name", "tag", "cluster"}:
            return answer(400, fault("Operation Failed", f"[Invalid search text: {asked['search']}]"))
        follows = set(asked.get("follow", "").split(",")) - {""}
        assert follows <= {"nics", "reported_devices"}
        found = {ident: vm for ident, vm in self.vms.items() if not key or {"id": ident, **vm}[key] == value}
        rows = "".join(written(ident, vm, follows) for ident, vm in found.items())
        return answer(200, f"{HEAD}<vms>{rows}</vms>".encode() if rows else f"{HEAD}<vms/>".encode())


def fault(reason, detail):
    return f"{HEAD}<fault><detail>{escape(detail)}</detail><reason>{escape(reason)}</reason></fault>".encode()


def written(ident, vm, follows):
    """Return a machine as the engine writes it."""
    text = f'<vm href="/ovirt-engine/api/vms/{ident}" id="{ident}"><name>{escape(vm["name"])}</name>'
    if vm["fqdn"]:
        text += f"<fqdn>{escape(vm['fqdn'])}</fqdn>"
    text += f"<memory>1073741824</memory><status>{vm['status']}</status><type>server</type>"
    if "nics" in follows:
        nics = "".join(
            f'<nic id="{n}"><name>nic{n}</name><mac><address>{mac}</address></mac></nic>'
            for n, mac in enumerate(vm["macs"])
        )
        text += f"<nics>{nics}</nics>"
    if "reported_devices" in follows:
        rows = "".join(
            f'<reported_device id="{name}"><name>{name}</name><mac><address>{mac}</address></mac><type>network</type>'
            f"<ips>{''.join(ip(each) for each in ips)}</ips></reported_device>"
            for name, mac, ips in vm["devices"]
        )
        text += f"<reported_devices>{rows}</reported_devices>"
    return text + "</vm>"


def ip(address):
    return f"<ip><address>{address}</address><version>{'v6' if ':' in address else 'v4'}</version></ip>"


CONFIG = f"[connection]\nuri = {URI}\npassword = secret-of-the-test\n"


def built(engine, folder, text=""):
    """Return the plugin, which talks to that double."""
    file = folder / "cloud.conf"
    file.write_text(CONFIG + text)

    class Played(OVirt):
        def way(self, config):
            return engine

    return Played(PluginContext(name="ovirt", settings={"cloud_config": str(file)}))


def provider(plugin):
    return PluginHost("cloud", specs, [("ovirt", plugin)]).hook.cloud_provider()
