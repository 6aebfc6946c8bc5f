"""Policies, their bindings and their parameters, as both kinds of policy plugin use them.

Source: kubernetes apiserver ``pkg/admission/plugin/policy/generic``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import orjson
from hyperkube_lib.dynamic_admission.matching import (
    OWN_VERSION,
    Match,
    MatchFailed,
    NamespaceOf,
    policy_match,
    policy_matches,
)

from hyperkube.client.client import Client
from hyperkube.client.informer import Informer, InformerFactory
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.groups import GroupVersion, GroupVersionResource
from hyperkube.machinery.labels import from_label_selector
from hyperkube.machinery.objects import Object, labels_of, name_of, resource_version_of

Evaluator = TypeVar("Evaluator")
NO_PARAMS = "no params found for policy binding with `Deny` parameterNotFoundAction"


class Misconfigured(Exception):
    """A policy or binding cannot be used as it is; ``str()`` says why."""


@dataclass(frozen=True, slots=True)
class Resource:
    """Where the objects of a parameter kind are."""

    resource: GroupVersionResource
    namespaced: bool


class Parameters:
    """Finds the objects that bindings refer to."""

    def __init__(self, client: Client, informers: InformerFactory) -> None:
        self._client = client
        self._informers = informers
        self._lock = threading.Lock()
        self._resources: dict[tuple[str, str], Resource] = {}

    def of(self, policy: Object, binding: Object, namespace: str) -> list[Object | None]:
        """Return what a policy is asked with: once per parameter, or once without any.

        Raises:
            Misconfigured: the parameters cannot be told, or are missing where they must not be.
        """
        kind, reference = policy["spec"].get("paramKind"), binding["spec"].get("paramRef")
        if not kind or not reference:
            return [None]
        where = self._resource(kind)
        inside = self._namespace(where, reference, namespace)
        found = (
            self._named(where, reference["name"], inside)
            if reference.get("name")
            else self._selected(where, reference, inside)
        )
        if not found and reference.get("parameterNotFoundAction") == "Deny":
            raise Misconfigured(NO_PARAMS)
        api_version, name = kind["apiVersion"], kind["kind"]
        return [{"apiVersion": api_version, "kind": name, **one} for one in found]

    def _namespace(self, where: Resource, reference: Object, namespace: str) -> str:
        given = reference.get("namespace") or ""
        if not where.namespaced:
            if given:
                raise Misconfigured("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
            return ""
        if not given and not namespace:
            raise Misconfigured(
                "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
            )
        return given or namespace

    def _named(self, where: Resource, name: str, namespace: str) -> list[Object]:
        try:
            return [self._client.get(where.resource, name, namespace)]
        except NotFound:
            return []
        except ApiError as error:
            raise Misconfigured(str(error)) from error

    def _selected(self, where: Resource, reference: Object, namespace: str) -> list[Object]:
        selector = from_label_selector(reference.get("selector") or {})
        listed = self._client.list(where.resource, namespace).items
        return [one for one in listed if selector.matches(labels_of(one))]

    def _resource(self, kind: Object) -> Resource:
        key = (str(kind.get("apiVersion") or ""), str(kind.get("kind") or ""))
        with self._lock:
            known = self._resources.get(key)
        if known is None:
            known = self._discover(*key)
            with self._lock:
                self._resources[key] = known
        return known

    def _discover(self, api_version: str, kind: str) -> Resource:
        version = GroupVersion.parse(api_version)
        root = GroupVersionResource(version.group, version.version, "").root
        answer = self._client.request("GET", root)
        listed = orjson.loads(answer.body).get("resources", []) if answer.status == 200 else []
        for one in listed:
            if one["kind"] == kind and "/" not in one["name"]:
                return Resource(GroupVersionResource(*version, one["name"]), bool(one["namespaced"]))
        raise Misconfigured(f"failed to find resource referenced by paramKind: '{api_version}, Kind={kind}'")


@dataclass(frozen=True, slots=True)
class Invocation(Generic[Evaluator]):
    """A policy to be asked: by which binding, with which parameter."""

    policy: Object
    binding: Object
    evaluator: Evaluator
    param: Object | None
    match: Match = OWN_VERSION


@dataclass(frozen=True, slots=True)
class Problem:
    """A policy that should be asked but cannot be."""

    policy: Object
    binding: Object | None
    message: str


class Policies(Generic[Evaluator]):
    """The policies of one kind with their bindings; each is compiled once per change."""

    def __init__(
        self,
        policies: Informer,
        bindings: Informer,
        parameters: Parameters,
        namespace_of: NamespaceOf,
        compile_policy: Callable[[Object], Evaluator],
    ) -> None:
        self._policies = policies
        self._bindings = bindings
        self._parameters = parameters
        self._namespace_of = namespace_of
        self._compile_policy = compile_policy
        self._compiled: dict[str, tuple[str, Evaluator]] = {}
        bindings.add_index("policy", lambda binding: [str(binding["spec"].get("policyName") or "")])

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to ask."""
        return not len(self._policies) or not len(self._bindings)

    def invocations(self, request: AdmissionRequest) -> Iterator[Invocation[Evaluator] | Problem]:
        """Yield what is to be asked about a request, in the order of names."""
        for policy in sorted(self._policies.list(), key=name_of):
            bindings = sorted(self._bindings.by_index("policy", name_of(policy)), key=name_of)
            if not bindings:
                continue
            try:
                match = policy_match(policy["spec"].get("matchConstraints") or {}, request, self._namespace_of)
                if match is None:
                    continue
            except MatchFailed as error:
                yield Problem(policy, None, f"failed to configure policy: {error}")
                continue
            for binding in bindings:
                yield from self._bound(policy, binding, request, match)

    def _bound(
        self, policy: Object, binding: Object, request: AdmissionRequest, match: Match
    ) -> Iterator[Invocation[Evaluator] | Problem]:
        try:
            if not policy_matches(binding["spec"].get("matchResources") or {}, request, self._namespace_of):
                return
            params = self._parameters.of(policy, binding, request.namespace)
        except (MatchFailed, Misconfigured) as error:
            yield Problem(policy, binding, f"failed to configure binding: {error}")
            return
        evaluator = self._evaluator(policy)
        for param in params:
            yield Invocation(policy, binding, evaluator, param, match)

    def _evaluator(self, policy: Object) -> Evaluator:
        name, version = name_of(policy), resource_version_of(policy)
        known = self._compiled.get(name)
        if known is None or known[0] != version:
            known = self._compiled[name] = (version, self._compile_policy(policy))
        return known[1]


def fails_closed(policy: Object) -> bool:
    """Tell whether a policy that cannot be asked refuses the request."""
    return (policy["spec"].get("failurePolicy") or "Fail") != "Ignore"


def namespace_for(request: AdmissionRequest, namespace_of: NamespaceOf) -> Object | None:
    """Return the namespace expressions see: none for a namespace itself and outside of namespaces."""
    if not request.namespace or (request.kind.group == "" and request.kind.kind == "Namespace"):
        return None
    return namespace_of(request.namespace)
