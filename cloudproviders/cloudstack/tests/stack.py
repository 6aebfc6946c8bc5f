"""CloudStack in this process: keeps what it is told, in the shapes of its API documentation and its own clients' data.

A parameter that a command does not have is refused, a request whose signature is wrong, too. What is changed is a job,
and each fifth is found pending once; a public address is allocated only when it has been looked at.
Sources: https://cloudstack.apache.org/api/apidocs-4.20/, cloudstack ``api/command/user``, cloudstack-go
``test/testdata``.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import itertools
import re
from urllib.parse import parse_qsl, quote

from hyperkube_cloud.cloudstack import CloudStack
from hyperkube_cloud.cloudstack.load_balancers.addresses import ID, OURS
from hyperkube_testing.rest_cloud import RestDouble, answer

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs import cloud as specs
from hyperkube.kinds.resources import SERVICES
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.objects import annotations_of
from hyperkube.plugin import PluginContext, PluginHost

KEY, SECRET = "key-of-the-test", "secret-of-the-test"
PARAMETERS = {
    "listVirtualMachines": "id name keyword details",
    "listNetworks": "id",
    "listNetworkACLLists": "id",
    "listNetworkACLs": "aclid networkid traffictype",
    "listFirewallRules": "ipaddressid networkid",
    "listLoadBalancerRules": "id keyword publicipid name",
    "listLoadBalancerRuleInstances": "id applied",
    "listPublicIpAddresses": "id ipaddress state allocatedonly forvirtualnetwork zoneid vpcid associatednetworkid",
    "queryAsyncJobResult": "jobid",
    "associateIpAddress": "networkid vpcid zoneid projectid ipaddress",
    "disassociateIpAddress": "id",
    "createLoadBalancerRule": "algorithm name description privateport publicport publicipid networkid zoneid protocol "
    "openfirewall cidrlist",
    "updateLoadBalancerRule": "id algorithm name description protocol cidrlist",
    "deleteLoadBalancerRule": "id",
    "assignToLoadBalancerRule": "id virtualmachineids",
    "removeFromLoadBalancerRule": "id virtualmachineids",
    "createFirewallRule": "ipaddressid protocol cidrlist startport endport",
    "deleteFirewallRule": "id",
    "createNetworkACL": "aclid networkid protocol action traffictype cidrlist startport endport number reason",
    "deleteNetworkACL": "id",
}
SIGNED = {"apiKey", "signature", "signatureVersion", "expires", "response", "command"}
OF_LISTS = {"listall", "projectid", "page", "pagesize"}


class Refusal(Exception):
    """An error of CloudStack's: HTTP status and error code are one."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code, self.text = code, text


def no_such(command, parameter, value):
    text = (
        f"Unable to execute API command {command.lower()} due to invalid value. Invalid parameter {parameter} value={value} due to "
        "incorrect long value format, or entity does not exist or due to incorrect parameter annotation for the field in api cmd class."
    )
    return Refusal(431, text)


class Stack(RestDouble):
    """One account; `things` is (kind, id) → what a list shows of it."""

    def __init__(self, page=50):
        super().__init__()
        self.things, self.page, self._numbers, self.jobs = {}, page, itertools.count(9), {}
        self.members = {}
        self.put("network", "n-1", zoneid="z-1", service=[{"name": "Firewall"}, {"name": "Lb"}])
        self.put(
            "network", "n-2", zoneid="z-1", vpcid="v-1", aclid="acl-1", service=[{"name": "NetworkACL"}, {"name": "Lb"}]
        )
        self.put("networkacllist", "acl-1", name="shop", vpcid="v-1")
        for last in range(50, 56):
            self.put("publicipaddress", f"ip-{last}", ipaddress=f"203.0.113.{last}", state="Free", zoneid="z-1", issourcenat=False,
                     isstaticnat=False)  # fmt: skip

    def put(self, kind, ident, **thing):
        self.things[kind, ident] = {"id": ident, **thing}
        return self.things[kind, ident]

    def all(self, kind):
        return [thing for (held, _), thing in self.things.items() if held == kind]

    def machine(self, name="node-1", network="n-1", **more):
        """Run a machine and return its node."""
        last = next(self._numbers)
        ident = f"11111111-0000-4000-8000-{last:012}"
        nic = {"id": f"nic-{last}", "networkid": network, "ipaddress": f"10.0.0.{last}", "isdefault": True}
        self.put(
            "virtualmachine", ident, **{"name": name, "displayname": name, "state": "Running", "zonename": "zone one",
            "serviceofferingname": "Medium Instance", "nic": [nic], **more},
        )  # fmt: skip
        return {"metadata": {"name": name}, "spec": {"providerID": f"cloudstack://{ident}"}, "status": {}}

    def everything(self):
        kept = {key: {**thing} for key, thing in self.things.items() if key[0] != "virtualmachine"}
        for key, thing in kept.items():
            if key[0] == "publicipaddress" and thing["state"] == "Allocating":
                thing["state"] = "Allocated"
        return kept, {rule: sorted(held) for rule, held in self.members.items()}

    def changes(self, method, path):
        return not method.startswith(("list", "query"))

    def told(self, request):
        """Return the command and its parameters; a request that is signed wrongly is none."""
        assert (request.method, request.url) == ("POST", "https://cloud.example/client/api")
        given = dict(parse_qsl(request.body.decode(), strict_parsing=True))
        pairs = sorted((key, value) for key, value in given.items() if key != "signature")
        signed = "&".join(f"{key}={quote(value, safe='*')}" for key, value in pairs).lower()
        digest = hmac.new(SECRET.encode(), signed.encode(), hashlib.sha1).digest()
        assert given["signature"] == base64.b64encode(digest).decode()
        assert (given["apiKey"], given["response"]) == (KEY, "json")
        return given["command"], "/client/api", {key: value for key, value in given.items() if key not in SIGNED}

    def answered(self, method, path, body):
        name = f"{method.lower()}response"
        known = set(PARAMETERS[method].split()) | (OF_LISTS if method.startswith("list") else set())
        if unknown := set(body) - known:
            raise AssertionError(f"{method} has no {sorted(unknown)}")
        try:
            return answer(200, {name: self._played(method, body)})
        except Refusal as error:
            told = {"uuidList": [], "errorcode": error.code, "cserrorcode": 9999, "errortext": error.text}
            return answer(error.code, {name: told})

    def _played(self, command, given):
        if command == "queryAsyncJobResult":
            job = self.jobs[given["jobid"]]
            job["looked"] += 1
            if job["looked"] < 2:
                return {"jobid": given["jobid"], "jobstatus": 0}
            return {"jobid": given["jobid"], "jobstatus": job["status"], "jobresultcode": 0, "jobresult": job["result"]}
        if command.startswith("list"):
            return self._listed(command, given)
        ident, result = getattr(self, "_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", command).lower())(given)
        job = f"job-{len(self.jobs)}"
        self.jobs[job] = {"looked": len(self.jobs) % 5, "status": 1, "result": result}
        return {"jobid": job, **({"id": ident} if ident else {})}

    def _thing(self, command, kind, given, parameter="id"):
        found = self.things.get((kind, given[parameter]))
        if found is None:
            raise no_such(command, parameter, given[parameter])
        return found

    def _listed(self, command, given):
        if command == "listLoadBalancerRuleInstances":
            rule = self._thing(command, "loadbalancerrule", given)
            rows = [self.things["virtualmachine", each] for each in sorted(self.members.get(rule["id"], ()))]
            return self._page("loadbalancerruleinstance", rows, given)
        kind = {
            "listVirtualMachines": "virtualmachine", "listNetworks": "network", "listNetworkACLLists": "networkacllist",
            "listNetworkACLs": "networkacl", "listFirewallRules": "firewallrule", "listLoadBalancerRules": "loadbalancerrule",
            "listPublicIpAddresses": "publicipaddress",
        }[command]  # fmt: skip
        rows = [self._thing(command, kind, given)] if "id" in given else self.all(kind)
        for key in ("aclid", "ipaddressid", "publicipid", "ipaddress", "state", "traffictype", "zoneid"):
            rows = [row for row in rows if key not in given or row.get(key) == given[key]]
        for key in ("name", "keyword"):  # the database compares with LIKE
            rows = [row for row in rows if given.get(key, "").lower() in row.get("name", "").lower()]
        if kind == "publicipaddress" and given.get("allocatedonly") != "false":
            rows = [row for row in rows if row["state"] != "Free"]
        shown = self._page(kind, [{**row} for row in rows], given)
        for row in rows:
            if row.get("state") == "Allocating":
                row["state"] = "Allocated"
        return shown

    def _page(self, member, rows, given):
        size = int(given.get("pagesize", self.page))
        start = (int(given.get("page", 1)) - 1) * size
        shown = rows[start : start + size]
        return {"count": len(rows), member: shown} if shown else {}

    def _named(self, kind, plain):
        names = itertools.chain([plain], (f"{plain}-{number}" for number in itertools.count(2)))
        return next(name for name in names if (kind, name) not in self.things)

    def _associate_ip_address(self, given):
        free = [row for row in self.all("publicipaddress") if row["state"] == "Free"]
        if "ipaddress" in given:
            free = [row for row in free if row["ipaddress"] == given["ipaddress"]]
            if not free:
                raise Refusal(431, "Can't assign ip address, ip address is not available")
        if not free:
            raise Refusal(533, "Insufficient address capacity")
        place = {"vpcid": given["vpcid"]} if "vpcid" in given else {"associatednetworkid": given["networkid"]}
        free[0].update(place, state="Allocating")
        return free[0]["id"], {"ipaddress": {**free[0]}}

    def _disassociate_ip_address(self, given):
        held = self._thing("disassociateIpAddress", "publicipaddress", given)
        for kind, key in (("loadbalancerrule", "publicipid"), ("firewallrule", "ipaddressid")):
            for row in self.all(kind):
                if row[key] == held["id"]:
                    del self.things[kind, row["id"]]
                    self.members.pop(row["id"], None)
        for key in ("vpcid", "associatednetworkid"):
            held.pop(key, None)
        held["state"] = "Free"
        return None, {"success": True}

    def _create_load_balancer_rule(self, given):
        address = self._thing("createLoadBalancerRule", "publicipaddress", given, "publicipid")
        if address["state"] != "Allocated":
            raise Refusal(431, f"Unable to create load balancer rule, invalid IP address ID {address['id']}")
        for row in self.all("loadbalancerrule"):
            if (row["publicipid"], row["publicport"]) == (address["id"], given["publicport"]):
                raise Refusal(
                    537, f"The range specified, {given['publicport']}-{given['publicport']}, conflicts with rule 7"
                )
        assert given["openfirewall"] == "false"
        assert given["protocol"] in {"tcp", "udp", "tcp-proxy"}
        ident = self._named("loadbalancerrule", f"rule-{given['name']}")
        row = {key: given[key] for key in ("name", "algorithm", "privateport", "publicport", "protocol", "networkid")}
        made = self.put(
            "loadbalancerrule", ident, **row, cidrlist=given.get("cidrlist", ""), publicip=address["ipaddress"], publicipid=address["id"],
            state="Add",
        )  # fmt: skip
        self.members[ident] = set()
        return ident, {"loadbalancer": {**made}}

    def _update_load_balancer_rule(self, given):
        held = self._thing("updateLoadBalancerRule", "loadbalancerrule", given)
        held |= {key: given[key] for key in ("algorithm", "name", "protocol")}
        return None, {"loadbalancer": {**held}}

    def _delete_load_balancer_rule(self, given):
        held = self._thing("deleteLoadBalancerRule", "loadbalancerrule", given)
        del self.things["loadbalancerrule", held["id"]], self.members[held["id"]]
        return None, {"success": True}

    def _assign_to_load_balancer_rule(self, given):
        held = self._thing("assignToLoadBalancerRule", "loadbalancerrule", given)
        self.members[held["id"]] |= set(given["virtualmachineids"].split(","))
        return None, {"success": True}

    def _remove_from_load_balancer_rule(self, given):
        held = self._thing("removeFromLoadBalancerRule", "loadbalancerrule", given)
        self.members[held["id"]] -= set(given["virtualmachineids"].split(","))
        return None, {"success": True}

    def _create_firewall_rule(self, given):
        self._thing("createFirewallRule", "publicipaddress", given, "ipaddressid")
        key = ("ipaddressid", "protocol", "startport", "endport")
        row = {**given, "startport": int(given["startport"]), "endport": int(given["endport"])}
        if any(all(held[each] == row[each] for each in key) for held in self.all("firewallrule")):
            raise Refusal(537, "There is already a firewall rule specified with the same port range")
        ident = self._named("firewallrule", f"fw-{given['ipaddressid']}-{given['startport']}-{given['protocol']}")
        return ident, {"firewallrule": {**self.put("firewallrule", ident, **row, state="Active")}}

    def _delete_firewall_rule(self, given):
        held = self._thing("deleteFirewallRule", "firewallrule", given)
        del self.things["firewallrule", held["id"]]
        return None, {"success": True}

    def _create_network_acl(self, given):
        acl = self._thing("createNetworkACL", "networkacllist", given, "aclid")
        if acl["name"] in {"default_allow", "default_deny"}:
            raise Refusal(431, "Unable to create network ACL item in the default list")
        ident = self._named("networkacl", f"acl-{given['startport']}-{given['protocol']}")
        return ident, {"networkacl": {**self.put("networkacl", ident, **given, state="Active")}}

    def _delete_network_acl(self, given):
        held = self._thing("deleteNetworkACL", "networkacl", given)
        del self.things["networkacl", held["id"]]
        return None, {"success": True}


class ClockThatSleeps(FakeClock):
    """Time goes on by sleeping alone."""

    def sleep(self, seconds):
        self.advance(seconds)


KEYS = f"api-url = https://cloud.example/client/api\napi-key = {KEY}\nsecret-key = {SECRET}\n"


def built(stack, folder, text="", client=None, router=None, keys=KEYS):
    """Return the plugin, which talks to that double, and to that virtual router."""
    file = folder / "cloud.conf"
    file.write_text(f"[Global]\n{keys}{text}")

    class Played(CloudStack):
        def ways(self, config):
            return stack, router or stack

    settings = {"cloud_config": str(file)}
    return Played(
        PluginContext(name="cloudstack", settings=settings, client=client or FakeClient(), clock=ClockThatSleeps())
    )


def provider(plugin):
    return PluginHost("cloud", specs, [("cloudstack", plugin)]).hook.cloud_provider()


class AsWatched:
    """Balancers as the service controller calls them: with the Service as it stands now, the provider's notes included."""

    def __init__(self, balancers, client):
        self._balancers, self._client = balancers, client

    def _now(self, service):
        name = service["metadata"]["name"]
        held = [each for each in self._client.objects(SERVICES) if each["metadata"]["name"] == name]
        if not held:
            held = self._client.seed(SERVICES, service)
        noted = {key: value for key, value in annotations_of(held[0]).items() if key in {ID, OURS}}
        annotations = {**annotations_of(service), **noted}
        return {**service, "metadata": {**service["metadata"], "annotations": annotations}}

    def name(self, cluster, service):
        return self._balancers.name(cluster, service)

    def get(self, cluster, service):
        return self._balancers.get(cluster, self._now(service))

    def ensure(self, cluster, service, nodes):
        return self._balancers.ensure(cluster, self._now(service), nodes)

    def update(self, cluster, service, nodes):
        self._balancers.update(cluster, self._now(service), nodes)

    def ensure_deleted(self, cluster, service):
        self._balancers.ensure_deleted(cluster, self._now(service))
