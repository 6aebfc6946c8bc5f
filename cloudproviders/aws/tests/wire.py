"""Amazon between the SDK and moto: what is asked is kept, call by call, and calls fail when they are told to."""

from __future__ import annotations

import itertools
import json
import re
from urllib.parse import parse_qsl, urlencode, urlsplit

from hyperkube_testing.cloud_faults import Fault
from hyperkube_testing.rest_cloud import RestDouble, answer

ACCOUNT, REGION = "123456789012", "us-east-1"
_UNTOLD = {"Action", "Version"}
_ARN = re.compile(
    r"arn:aws:elasticloadbalancing:[a-z0-9-]+:\d+:((?:targetgroup|loadbalancer/(?:app|net))/[\w.-]+)/[0-9a-f]+"
)
_ID = re.compile(r"\b(vpc|subnet|sg|i|rtb|eni|vol)-[0-9a-f]{8,17}\b")


class Wire(RestDouble):
    """Stands before moto in the clients that are made of a session from now on; `amazon` is what lies behind.

    A call in `sent` is the service, the action and its parameters.
    """

    def __init__(self, amazon):
        super().__init__()
        self.amazon = amazon

    def register(self):
        self.amazon.session.events.register_first("before-send.*.*", self.before_send, unique_id="wire")

    def unregister(self):
        from moto.core.models import botocore_stubber

        botocore_stubber.enabled = True
        self.amazon.session.events.unregister("before-send.*.*", self.before_send, unique_id="wire")

    def before_send(self, request, **_told):
        """Return what the client gets to see in place of moto's answer, None for that.

        The SDK asks all who may answer, and takes the first answer: moto must not act where it is not asked.
        """
        from moto.core.models import botocore_stubber

        botocore_stubber.enabled = True
        answered = self._answer(request)
        botocore_stubber.enabled = answered is None
        return answered

    def _answer(self, request):
        service = urlsplit(request.url).hostname.partition(".")[0]
        parameters = dict(parse_qsl(request.body if isinstance(request.body, str) else request.body.decode()))
        action = parameters["Action"]
        told = {key: value for key, value in parameters.items() if key not in _UNTOLD}
        self.sent.append((service, action, told))
        if self._always is not None:
            return _response(request, self._always)
        self.let_another_in(service, action)
        due = self.due(service, action)
        if due is Fault.FAIL:
            return _response(request, answer(503, refusal("InternalError")))
        if due is Fault.LOSE:
            from botocore.exceptions import ConnectionClosedError
            from moto.core.models import botocore_stubber

            assert botocore_stubber("before-send", request).status_code < 300
            raise ConnectionClosedError(endpoint_url=request.url)
        return self._mended(request, action, told)

    def _mended(self, request, action, told):
        """Return Amazon's answer where moto has another: None where they agree.

        Source: API reference of Elastic Load Balancing 2012-06-01 (error LoadBalancerNotFound of each action) and
        2015-12-01 (CreateLoadBalancer is idempotent).
        """
        name = told.get("LoadBalancerName")
        if name and action not in {"CreateLoadBalancer", "DeleteLoadBalancer"} and name not in self._classic():
            return _response(request, answer(400, refusal("LoadBalancerNotFound")))
        if action == "CreateLoadBalancer" and told.get("Name") in self._networks():
            from moto.core.models import botocore_stubber

            request.body = urlencode(
                {"Action": "DescribeLoadBalancers", "Version": "2015-12-01", "Names.member.1": told["Name"]}
            )
            found = botocore_stubber("before-send", request)
            body = found.content.replace(b"DescribeLoadBalancers", b"CreateLoadBalancer")
            return _response(request, answer(200, body))
        return None

    def _classic(self):
        from moto.elb.models import elb_backends

        return set(elb_backends[ACCOUNT][REGION].load_balancers)

    def _networks(self):
        from moto.elbv2.models import elbv2_backends

        return {each.name for each in elbv2_backends[ACCOUNT][REGION].load_balancers.values()}

    def changes(self, method, path):
        return not path.startswith("Describe")

    def everything(self):
        """Return all that Services have made, by names: ids differ from one making to the next."""
        amazon = self.amazon
        classic = [
            {key: each.get(key) for key in ("LoadBalancerName", "Scheme", "HealthCheck", "Subnets")}
            | {"Instances": sorted({row["InstanceId"] for row in each["Instances"]})}  # moto keeps some twice
            | {"listeners": sorted(json.dumps(row["Listener"], sort_keys=True) for row in each["ListenerDescriptions"])}
            for each in amazon.elb.describe_load_balancers()["LoadBalancerDescriptions"]
        ]
        return json.loads(json.dumps({**amazon.everything(), "classic": classic, "network": self._network()}))

    def _network(self):
        elbv2, found = self.amazon.elbv2, {}
        for each in elbv2.describe_load_balancers()["LoadBalancers"]:
            listeners = elbv2.describe_listeners(LoadBalancerArn=each["LoadBalancerArn"])["Listeners"]
            found[each["LoadBalancerName"]] = sorted(
                [row["Port"], row["Protocol"], self._group(row["DefaultActions"][0]["TargetGroupArn"])]
                for row in listeners
            )
        return found

    def _group(self, arn):
        elbv2 = self.amazon.elbv2
        (group,) = elbv2.describe_target_groups(TargetGroupArns=[arn])["TargetGroups"]
        targets = elbv2.describe_target_health(TargetGroupArn=arn)["TargetHealthDescriptions"]
        told = {
            key: value for key, value in group.items() if key.startswith("HealthCheck") or key in {"Port", "Protocol"}
        }
        return [group["TargetGroupName"], told, sorted(row["Target"]["Id"] for row in targets)]


def refusal(code):
    """Return the body of an error as Amazon's query APIs word it."""
    return f"<ErrorResponse><Error><Code>{code}</Code><Message>why</Message></Error></ErrorResponse>".encode()


def without_ids(text):
    """Return a text with the ids in it numbered by their order, and without the random part of names."""
    numbers, names = itertools.count(1), {}

    def numbered(found):
        return names.setdefault(found[0], f"{found[1]}-{next(numbers)}")

    return _ID.sub(numbered, _ARN.sub(r"\1", text))


def _response(request, told):
    from botocore.awsrequest import AWSResponse, HeadersDict
    from moto.core.botocore_stubber import MockRawResponse

    return AWSResponse(request.url, told.status, HeadersDict(told.headers), MockRawResponse(told.body))
