"""OpenStack in this process: Nova, Neutron, Octavia and Cinder keep what they are told, in the shapes of their references.

A field that the reference does not have is refused; a balancer takes no change until it was looked at after the last.
"""

from __future__ import annotations

import itertools
import re

from hyperkube_cloud.openstack import OpenStack
from hyperkube_testing.rest_cloud import RestDouble

from hyperkube.hookspecs import cloud as specs
from hyperkube.machinery.clock import FakeClock
from hyperkube.plugin import PluginContext, PluginHost

BASE = {
    "compute": "/compute/v2.1",
    "network": "/network",
    "load-balancer": "/load-balancer",
    "volumev3": "/volume/v3/shop",
}
FIELDS = {
    "loadbalancer": "name description provider tags listeners vip_port_id vip_network_id vip_subnet_id vip_address flavor_id "
    "availability_zone admin_state_up project_id pools",
    "listener": "name protocol protocol_port connection_limit allowed_cidrs tags timeout_client_data timeout_member_connect "
    "timeout_member_data timeout_tcp_inspect insert_headers default_tls_container_ref default_pool loadbalancer_id",
    "pool": "name protocol lb_algorithm session_persistence members healthmonitor listener_id",
    "healthmonitor": "name type delay timeout max_retries max_retries_down url_path http_method expected_codes pool_id",
    "member": "address protocol_port name subnet_id monitor_port weight backup",
    "floatingip": "floating_network_id port_id description floating_ip_address subnet_id fixed_ip_address",
    "volume": "name size description volume_type availability_zone metadata snapshot_id",
    "snapshot": "name volume_id force description metadata",
}
SINGULAR = {
    "loadbalancers": "loadbalancer",
    "listeners": "listener",
    "pools": "pool",
    "healthmonitors": "healthmonitor",
}
PROTOCOLS = ("TCP", "UDP", "SCTP", "HTTP", "HTTPS", "TERMINATED_HTTPS", "PROXY")


def nova_error(status, name, text):
    return status, {name: {"code": status, "message": text}}


def neutron_error(status, kind, text):
    return status, {"NeutronError": {"type": kind, "message": text, "detail": ""}}


def octavia_error(status, text):
    return status, {"faultcode": "Client", "faultstring": text, "debuginfo": None}


class Stack(RestDouble):
    """One project; `things` is (kind, id) → resource."""

    def __init__(self, page=2):
        super().__init__()
        self.things, self.page, self._numbers = {}, page, itertools.count(9)
        self._busy, self._moments = set(), itertools.count()
        self.put("network", id="outer", name="outer", **{"router:external": True})
        for name in ("public-1", "public-2", "private"):
            self.put("subnet", id=f"s-{name}", name=name, network_id="outer")
        self.put("router", id="r-1", name="r-1", routes=[])
        self.put("flavor", id="4", name="m1.large")

    def put(self, kind, **thing):
        self.things[kind, thing["id"]] = thing
        return thing

    def all(self, kind):
        return [thing for (held, _), thing in self.things.items() if held == kind]

    def names(self, kind):
        return sorted(thing["name"] for thing in self.all(kind))

    def machine(self, name="node-1", status="ACTIVE"):
        """Run a server and return its node."""
        last = next(self._numbers)
        ident, address = f"11111111-0000-4000-8000-{last:012}", f"10.0.0.{last}"
        row = {"addr": address, "version": 4, "OS-EXT-IPS:type": "fixed"}
        self.put(
            "server", id=ident, name=name, status=status, hostId="host-1", flavor={"id": "4"}, metadata={}, accessIPv4="", accessIPv6="",
            addresses={"inner": [row]}, **{"OS-EXT-AZ:availability_zone": "az 1", "os-extended-volumes:volumes_attached": []},
        )  # fmt: skip
        fixed = [{"ip_address": address, "subnet_id": "s-private"}]
        self.put(
            "port",
            id=f"port-{name}",
            name="",
            device_id=ident,
            fixed_ips=fixed,
            allowed_address_pairs=[],
            port_security_enabled=True,
        )
        status = {"addresses": [{"type": "InternalIP", "address": address}]}
        return {"metadata": {"name": name}, "spec": {"providerID": f"openstack:///{ident}"}, "status": status}

    def everything(self):
        volatile = {"provisioning_status", "created_at"}
        return {
            key: {name: value for name, value in thing.items() if name not in volatile}
            for key, thing in self.things.items()
            if key[0] not in {"server", "port"}
        }

    def moment(self):
        """Return the time of something that is made: each has a later one."""
        return f"2026-01-01T00:00:00.{next(self._moments):06}"

    def changes(self, method, path):
        return method != "GET"

    def play(self, method, path, query, body):
        service = next(name for name, base in BASE.items() if path.startswith(base + "/"))
        rest = path.removeprefix(BASE[service] + "/").removeprefix("v2.0/")
        return getattr(self, f"_{service.replace('-', '_')}")(method, rest.split("/"), query, body)

    def _page(self, member, rows, query):
        start = int(query.get("marker", 0))
        more = (
            [{"rel": "next", "href": f"https://x.example/?marker={start + self.page}"}]
            if start + self.page < len(rows)
            else []
        )
        return 200, {member: rows[start : start + self.page], **({f"{member}_links": more} if more else {})}

    def _refuse_unknown(self, kind, body):
        if unknown := set(body) - set(FIELDS[kind].split()):
            raise AssertionError(f"{kind} has no {sorted(unknown)}")

    def _named(self, kind, name):
        plain = f"{kind}-{name}"
        return next(
            each
            for each in itertools.chain([plain], (f"{plain}-{n}" for n in itertools.count(2)))
            if (kind, each) not in self.things
        )

    def _compute(self, method, parts, query, body):
        if parts[0] == "flavors":
            return 200, {"flavor": self.things["flavor", parts[1]]}
        if parts[1] == "detail":
            found = [each for each in self.all("server") if re.search(query.get("name", ""), each["name"])]
            return self._page("servers", found, query)
        server = self.things.get(("server", parts[1]))
        if server is None:
            return nova_error(404, "itemNotFound", f"Instance {parts[1]} could not be found.")
        held = server["os-extended-volumes:volumes_attached"]
        if len(parts) == 2:
            return 200, {"server": server}
        if method == "POST":
            ident = body["volumeAttachment"]["volumeId"]
            volume = self.things.get(("volume", ident))
            if volume is None:
                return nova_error(404, "itemNotFound", f"Volume {ident} could not be found.")
            volume["attachments"].append({"server_id": server["id"], "device": "/dev/vdb"})
            volume["status"] = "attaching"
            held.append({"id": volume["id"]})
            return 200, {"volumeAttachment": {"id": volume["id"], "device": "/dev/vdb"}}
        volume = self.things["volume", parts[3]]
        held.remove({"id": volume["id"]})
        volume["attachments"] = [row for row in volume["attachments"] if row["server_id"] != server["id"]]
        volume["status"] = "detaching"
        return 202, {}

    def _network(self, method, parts, query, body):
        kind = parts[0].removesuffix("s")
        if len(parts) == 1 and method == "GET":
            found = self.all(kind)
            for key, value in query.items():
                if key == "fixed_ips":
                    wanted = value.removeprefix("ip_address=")
                    found = [each for each in found if any(row["ip_address"] == wanted for row in each["fixed_ips"])]
                elif key != "marker":
                    found = [each for each in found if str(each.get(key, "")).lower() == value.lower()]
            return self._page(parts[0], found, query)
        if method == "POST":
            self._refuse_unknown(kind, body[kind])
            asked = body[kind]
            if asked.get("subnet_id") == "s-public-1":
                return neutron_error(
                    409, "IpAddressGenerationFailure", "No more IP addresses available on network outer."
                )
            if refused := self._port_refused(asked["port_id"]):
                return refused
            taken = {each["floating_ip_address"] for each in self.all("floatingip")}
            address = asked.get("floating_ip_address") or next(
                f"203.0.113.{n}" for n in range(50, 250) if f"203.0.113.{n}" not in taken
            )
            made = {
                **asked,
                "id": self._named("floatingip", asked["port_id"]),
                "name": "",
                "floating_ip_address": address,
            }
            return 201, {kind: self.put(kind, **made)}
        held = self.things.get((kind, parts[1]))
        if held is None:
            return neutron_error(404, f"{kind.capitalize()}NotFound", f"{kind} {parts[1]} could not be found")
        if method == "DELETE":
            del self.things[kind, parts[1]]
            return 204, {}
        if method == "PUT" and len(parts) == 3:
            rows = body["router"]["routes"]
            rest = [row for row in held["routes"] if row not in rows]
            held["routes"] = rest + rows if parts[2] == "add_extraroutes" else rest
        elif method == "PUT":
            held |= body[kind]
        return 200, {kind: held}

    def _port_refused(self, port):
        """Refuse a second floating IP on a balancer's port, and one on the port of a balancer that is gone."""
        if port not in {each["vip_port_id"] for each in self.all("loadbalancer")}:
            return neutron_error(404, "PortNotFound", f"Port {port} could not be found.")
        if any(each["port_id"] == port for each in self.all("floatingip")):
            text = f"Cannot associate floating IP with port {port}, as that fixed IP already has a floating IP"
            return neutron_error(409, "FloatingIPPortAlreadyAssociated", text)
        return None

    def _load_balancer(self, method, parts, query, body):
        _, collection, *rest = parts
        kind = SINGULAR[collection]
        if not rest and method == "GET":
            found = [
                each
                for each in self.all(kind)
                if all(each.get(key) == value for key, value in query.items() if key != "marker")
            ]
            return self._page(collection, found, query)
        if not rest:
            return self._create(kind, body[kind])
        held = self.things.get((kind, rest[0]))
        if held is None:
            return octavia_error(404, f"{kind} {rest[0]} not found.")
        if method == "GET" and len(rest) == 1:
            if kind == "loadbalancer":
                self._busy.discard(held["id"])
                held["provisioning_status"] = "ACTIVE"
            return 200, {kind: held}
        if method == "GET":
            return self._page("members", held["members"], query)
        if refused := self._immutable(kind, held):
            return refused
        if method == "DELETE":
            self._delete(kind, held)
            return 204, {}
        if len(rest) == 2:
            for member in body["members"]:
                self._refuse_unknown("member", member)
            held["members"] = [
                {**member, "id": f"{member['address']}-{member['protocol_port']}"} for member in body["members"]
            ]
            return 202, {}
        self._refuse_unknown(kind, body[kind])
        held |= body[kind]
        return 200, {kind: held}

    def _immutable(self, kind, thing):
        balancer = thing["id"] if kind == "loadbalancer" else thing["loadbalancer_id"]
        if balancer in self._busy:
            return octavia_error(409, f"Load Balancer {balancer} is immutable and cannot be updated.")
        self._busy.add(balancer)
        self.things["loadbalancer", balancer]["provisioning_status"] = "PENDING_UPDATE"
        return None

    def _create(self, kind, asked):
        self._refuse_unknown(kind, asked)
        if kind == "loadbalancer":
            return 201, {kind: self._create_balancer(asked)}
        parent = {"listener": "loadbalancer", "pool": "listener", "healthmonitor": "pool"}[kind]
        above = self.things.get((parent, asked[f"{parent}_id"]))
        if above is None:
            return octavia_error(404, f"{parent} {asked[f'{parent}_id']} not found.")
        if refused := self._immutable(parent, above):
            return refused
        balancer = above["id"] if parent == "loadbalancer" else above["loadbalancer_id"]
        if kind == "listener":
            if asked["protocol"] not in PROTOCOLS:
                return octavia_error(400, "invalid protocol")
            same = [
                each
                for each in self.all(kind)
                if (each["loadbalancer_id"], each["protocol_port"]) == (balancer, asked["protocol_port"])
            ]
            if any((each["protocol"] == "UDP") == (asked["protocol"] == "UDP") for each in same):
                return octavia_error(
                    409,
                    f"Another Listener on this Load Balancer is already using protocol_port {asked['protocol_port']}",
                )
        return 201, {kind: self._made(kind, asked, balancer)}

    def _create_balancer(self, asked):
        ident = self._named("loadbalancer", asked["name"])
        taken = {each["vip_address"] for each in self.all("loadbalancer")}
        address = asked.get("vip_address") or next(f"10.0.9.{n}" for n in range(5, 250) if f"10.0.9.{n}" not in taken)
        plain = {key: value for key, value in asked.items() if key != "listeners"}
        made = {
            **plain,
            "id": ident,
            "vip_address": address,
            "vip_port_id": f"vip-{ident}",
            "created_at": self.moment(),
            "provisioning_status": "PENDING_CREATE",
        }
        self.put("loadbalancer", **made)
        self._busy.add(ident)
        for listener in asked.get("listeners", ()):
            self._refuse_unknown("listener", listener)
            pool = listener["default_pool"]
            held = self._made(
                "listener", {key: value for key, value in listener.items() if key != "default_pool"}, ident
            )
            self._refuse_unknown("pool", pool)
            made_pool = self._made("pool", {**pool, "listener_id": held["id"]}, ident)
            if "healthmonitor" in pool:
                self._made("healthmonitor", {**pool["healthmonitor"], "pool_id": made_pool["id"]}, ident)
        return made

    def _made(self, kind, asked, balancer):
        made = {**asked, "id": self._named(kind, asked["name"]), "loadbalancer_id": balancer}
        if kind == "pool":
            members = made.pop("members", [])
            made.pop("healthmonitor", None)
            made["members"] = [{**member, "id": f"{member['address']}-{member['protocol_port']}"} for member in members]
            self.things["listener", made.pop("listener_id")]["default_pool_id"] = made["id"]
        if kind == "healthmonitor":
            self.things["pool", made.pop("pool_id")]["healthmonitor_id"] = made["id"]
        return self.put(kind, **made)

    def _delete(self, kind, held):
        if kind == "loadbalancer":
            self._busy.discard(held["id"])
            for key in [key for key, thing in self.things.items() if thing.get("loadbalancer_id") == held["id"]]:
                del self.things[key]
        for each in self.things.values():
            for key in ("default_pool_id", "healthmonitor_id"):
                if each.get(key) == held["id"]:
                    del each[key]
        monitor = held.get("healthmonitor_id")
        if monitor:
            del self.things["healthmonitor", monitor]
        del self.things[kind, held["id"]]

    def _snapshots(self, method, parts, query, body):
        if method == "POST":
            self._refuse_unknown("snapshot", body["snapshot"])
            volume = self.things["volume", body["snapshot"]["volume_id"]]
            made = {
                "name": body["snapshot"]["name"],
                "volume_id": volume["id"],
                "id": self._named("snapshot", body["snapshot"]["name"]),
                "size": volume["size"],
                "created_at": self.moment(),
                "status": "creating",
            }
            return 202, {"snapshot": self.put("snapshot", **made)}
        if parts[1] == "detail":
            return self._page(
                "snapshots", [each for each in self.all("snapshot") if each["name"] == query["name"]], query
            )
        held = self.things.get(("snapshot", parts[1]))
        if held is None:
            return nova_error(404, "itemNotFound", f"Snapshot {parts[1]} could not be found.")
        if method == "DELETE":
            del self.things["snapshot", parts[1]]
            return 202, {}
        held["status"] = "available"
        return 200, {"snapshot": held}

    def _volumev3(self, method, parts, query, body):
        if parts[0] == "snapshots":
            return self._snapshots(method, parts, query, body)
        if method == "POST" and len(parts) == 1:
            self._refuse_unknown("volume", body["volume"])
            made = {
                "availability_zone": "nova",
                **body["volume"],
                "id": self._named("volume", body["volume"]["name"]),
                "created_at": self.moment(),
                "status": "creating",
                "attachments": [],
            }
            return 202, {"volume": self.put("volume", **made)}
        if parts[1] == "detail":
            return self._page("volumes", [each for each in self.all("volume") if each["name"] == query["name"]], query)
        held = self.things.get(("volume", parts[1]))
        if held is None:
            return nova_error(404, "itemNotFound", f"Volume {parts[1]} could not be found.")
        if method == "DELETE":
            if held["attachments"]:
                return nova_error(400, "badRequest", "Invalid volume: it is attached.")
            del self.things["volume", parts[1]]
            return 202, {}
        if method == "POST":
            held["size"], held["status"] = body["os-extend"]["new_size"], "extending"
            return 202, {}
        shown = dict(held)
        held["status"] = "in-use" if held["attachments"] else "available"
        return 200, {"volume": shown}


class ClockThatSleeps(FakeClock):
    """Time goes on by sleeping alone."""

    def sleep(self, seconds):
        self.advance(seconds)


def built(stack, folder, text="", client=None):
    """Return the plugin, which talks to that double."""
    file = folder / "cloud.conf"
    file.write_text(
        "[Global]\nauth-url = https://keystone.example/v3\nregion = RegionOne\n[Route]\nrouter-id = r-1\n" + text
    )

    class Played(OpenStack):
        def ways(self, config):
            return stack, lambda service: f"https://stack.example{BASE[service]}"

    return Played(
        PluginContext(name="openstack", settings={"cloud_config": str(file)}, client=client, clock=ClockThatSleeps())
    )


def provider(plugin):
    return PluginHost("cloud", specs, [("openstack", plugin)]).hook.cloud_provider()
