"""Webhooks: which are about a request, and what asking one of them means.

Source: kubernetes apiserver ``pkg/admission/plugin/webhook/generic/webhook.go``,
``pkg/admission/configuration``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import orjson
from hyperkube_lib.dynamic_admission.deadlocks import Deadlocks, is_own_event
from hyperkube_lib.dynamic_admission.matching import (
    OWN_VERSION,
    Match,
    MatchFailed,
    first_match,
    is_own_configuration,
    selectors_match,
)
from hyperkube_lib.dynamic_admission.namespaces import Namespaces

from hyperkube.client.client import Client
from hyperkube.client.informer import Informer, InformerFactory
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.hookspecs.authz import Authorizer
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.dial import Dial
from hyperkube.machinery.errors import ApiError, BadRequest, Forbidden, InternalError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, name_of, resource_version_of

if TYPE_CHECKING:
    from hyperkube_lib.dynamic_admission.evaluation import Conditions
    from hyperkube_lib.dynamic_admission.reviews import Answer
    from hyperkube_lib.webhooks.caller import Caller

_DEFAULT_TIMEOUT = 10


class NoAnswer(Exception):
    """A webhook could not be asked; ``str()`` is Kubernetes' text.

    Attributes:
        unreachable: whether no backend could be reached.
    """

    def __init__(self, text: str, *, unreachable: bool = False) -> None:
        super().__init__(text)
        self.unreachable = unreachable


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook of a configuration; `index` counts those of its sort."""

    configuration: str
    index: int
    declared: Object
    conditions: Conditions | None
    match: Match = OWN_VERSION

    @property
    def name(self) -> str:
        """Its name, which refusals carry."""
        return str(self.declared["name"])

    @property
    def fails_open(self) -> bool:
        """Whether a request passes when this webhook cannot be asked."""
        return self.declared.get("failurePolicy") == "Ignore"


class Webhooks:
    """The webhooks of one sort of configuration."""

    def __init__(
        self,
        resource: GroupVersionResource,
        client: Client,
        informers: InformerFactory,
        clock: Clock,
        authorizer: Authorizer | None,
        deadlocks: Deadlocks | None = None,
        egress: Mapping[str, Dial] | None = None,
    ) -> None:
        self._kind = f"{resource.resource.removesuffix('webhookconfigurations').capitalize()}WebhookConfiguration"
        self._deadlocks = deadlocks
        self._configurations: Informer = informers.informer(resource)
        self._namespaces = Namespaces(client, informers)
        self._authorizer = authorizer
        self._client = client
        self._clock = clock
        self._egress = egress
        self._caller: Caller | None = None
        self._compiled: dict[str, tuple[str, list[Conditions | None]]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether there are no webhooks at all."""
        return not len(self._configurations)

    def has_nothing_to_do(self, request: AdmissionRequest) -> bool:
        """Tell whether no webhook can be meant by a request, nor is any written with it."""
        return not len(self._configurations) and not is_own_configuration(request)

    def matching(self, request: AdmissionRequest) -> Iterator[Webhook]:
        """Yield the webhooks that are about a request, as it is when each one's turn comes.

        Raises:
            ApiError: it cannot be told, and the webhook fails closed.
        """
        if self.is_empty or is_own_configuration(request) or is_own_event(request):
            return
        index = 0
        for configuration in sorted(self._configurations.list(), key=name_of):
            conditions = self._conditions(configuration)
            for place, declared in enumerate(configuration.get("webhooks") or ()):
                webhook = Webhook(name_of(configuration), index, declared, conditions[place])
                index += 1
                meant = self._meant(webhook, request)
                if meant is not None:
                    yield meant

    def _conditions(self, configuration: Object) -> list[Conditions | None]:
        name, version = name_of(configuration), resource_version_of(configuration)
        known = self._compiled.get(name)
        if known is None or known[0] != version:
            known = self._compiled[name] = (version, [_compile(one) for one in configuration.get("webhooks") or ()])
        return known[1]

    def _meant(self, webhook: Webhook, request: AdmissionRequest) -> Webhook | None:
        """Return the webhook with how it is about a request, None if it is not."""
        declared = webhook.declared
        match = first_match(declared.get("rules") or (), str(declared.get("matchPolicy") or ""), request)
        if match is None:
            return None
        try:
            if not selectors_match(declared, request, self._namespaces):
                return None
        except MatchFailed as error:
            raise InternalError.because(str(error)) from error
        if webhook.conditions is not None:
            seen = match.seen(request)
            if not self._conditions_hold(webhook, webhook.conditions, seen):
                return None
        return replace(webhook, match=match)

    def _conditions_hold(self, webhook: Webhook, conditions: Conditions, request: AdmissionRequest) -> bool:
        from hyperkube_lib.dynamic_admission.context import names
        from hyperkube_lib.dynamic_admission.evaluation import Evaluation, Failed

        try:
            return conditions.hold(Evaluation(names(request, self._authorizer), {}))
        except Failed as error:
            if webhook.fails_open:
                return False
            raise Forbidden(str(error)) from error

    def ask(self, webhook: Webhook, request: AdmissionRequest, *, mutating: bool) -> Answer:
        """Ask a webhook, and take over its warnings and audit annotations.

        Raises:
            ApiError: it refuses, or must not be asked in a dry run.
            NoAnswer: it could not be asked.
        """
        answer = self.answer(webhook, request, mutating=mutating)
        self.note(webhook, request, answer)
        return answer

    def answer(self, webhook: Webhook, request: AdmissionRequest, *, mutating: bool) -> Answer:
        """Ask a webhook and only that: safe to call for one request on many threads."""
        from hyperkube_lib.dynamic_admission.reviews import InvalidAnswer, chosen_version, read_answer, review
        from hyperkube_lib.webhooks.caller import Caller, CallFailed, NoAddress, Resolver

        declared = webhook.declared
        if request.dry_run and declared.get("sideEffects") not in {"None", "NoneOnDryRun"}:
            raise BadRequest(f'admission webhook "{webhook.name}" does not support dry run')
        if self._caller is None:
            self._caller = Caller(Resolver(self._client), self._clock, self._egress)
        uid = str(uuid4())
        try:
            version = chosen_version(declared)
            body = orjson.dumps(review(webhook.match.seen(request), version, uid))
            timeout = int(declared.get("timeoutSeconds") or _DEFAULT_TIMEOUT)
            received = self._caller.post(declared.get("clientConfig") or {}, body, timeout)
            return read_answer(received, version, uid, mutating=mutating)
        except CallFailed as error:
            text = f'failed calling webhook "{webhook.name}": failed to call webhook: {error}'
            unreachable = isinstance(error.__cause__, NoAddress | OSError)
            raise NoAnswer(text, unreachable=unreachable) from error
        except InvalidAnswer as error:
            raise NoAnswer(f'failed calling webhook "{webhook.name}": {error}') from error

    def refusal(self, webhook: Webhook, request: AdmissionRequest, error: NoAnswer) -> ApiError | None:
        """Return what becomes of a request when a webhook that fails closed could not be asked.

        None when the webhook keeps its own backend from starting and this request is one that the backend needs.
        """
        if error.unreachable and self._deadlocks is not None:
            configuration, declared = webhook.configuration, webhook.declared
            if self._deadlocks.breaks(self._kind, configuration, declared, request):
                return None
        return closed(error)

    def check(self, request: AdmissionRequest) -> None:
        """Warn the client that writes a configuration of webhooks that could keep their own backends from starting."""
        if (
            self._deadlocks is not None
            and is_own_configuration(request)
            and request.writes(self._configurations.resource.resource, self._configurations.resource.group)
        ):
            self._deadlocks.warn(request)

    def note(self, webhook: Webhook, request: AdmissionRequest, answer: Answer) -> None:
        """Take over an answer's warnings and annotations.

        Raises:
            ApiError: it is a refusal.
        """
        from hyperkube_lib.dynamic_admission.reviews import rejection

        request.annotations.update({f"{webhook.name}/{key}": value for key, value in answer.annotations.items()})
        request.warnings.extend(text for text in answer.warnings if text not in request.warnings)
        if not answer.allowed:
            raise rejection(webhook.name, answer.status)


def _compile(declared: Object) -> Conditions | None:
    conditions: list[Any] = declared.get("matchConditions") or []
    if not conditions:
        return None
    from hyperkube_lib.cel.admission import environment
    from hyperkube_lib.dynamic_admission.evaluation import Conditions

    scope = environment(params=False, authorizer=True, patches=False)
    return Conditions(scope, conditions)


def closed(error: NoAnswer) -> ApiError:
    """Return the refusal for a webhook that could not be asked and fails closed."""
    return InternalError.because(str(error))
