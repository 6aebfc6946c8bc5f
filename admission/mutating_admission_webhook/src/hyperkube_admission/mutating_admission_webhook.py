"""MutatingAdmissionWebhook: an external server may change what is written, or refuse it.

Webhooks are asked one after the other, in the order of their configurations' names, each with what those before it made
of the object. Source: kubernetes apiserver ``pkg/admission/plugin/webhook/mutating``.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from hyperkube_lib.dynamic_admission.deadlocks import Deadlocks
from hyperkube_lib.dynamic_admission.reinvocation import Rounds
from hyperkube_lib.dynamic_admission.webhooks import NoAnswer, Webhook, Webhooks

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.errors import ApiError, InternalError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin, PluginContext

CONFIGURATIONS = GroupVersionResource("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations")
MUTATION = "mutation.webhook.admission.k8s.io/"
PATCH = "patch.webhook.admission.k8s.io/"
FAILED_OPEN = "failed-open.mutation.webhook.admission.k8s.io/"


class Settings(Record):
    """Whether what the pods of a webhook that is down need is let through."""

    break_webhook_deadlocks: bool = False


class MutatingAdmissionWebhook(Plugin):
    """Asks the mutating webhooks that are about a request."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        breaks = self.settings(Settings).break_webhook_deadlocks
        deadlocks = Deadlocks(self.client, self.informers, context.clock, context.logger, breaks=breaks)
        self._webhooks = Webhooks(
            CONFIGURATIONS, self.client, self.informers, context.clock, context.authorizer, deadlocks, context.egress
        )

    def is_idle(self, request: AdmissionRequest) -> bool:
        """Tell whether there are no webhooks, and this makes none."""
        return self._webhooks.has_nothing_to_do(request)

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Ask each webhook and apply its patch."""
        rounds: Rounds | None = None
        for webhook in self._webhooks.matching(request):
            rounds = rounds or Rounds.of(request, "MutatingAdmissionWebhook")
            key = (webhook.configuration, webhook.name)
            if rounds.skips(request, key):
                continue
            if self._ask(webhook, request):
                rounds.changed(request)
            rounds.note(key, if_needed=webhook.declared.get("reinvocationPolicy") == "IfNeeded")
        if rounds is not None:
            rounds.done(request)

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Warn of webhooks that could keep their own backends from starting."""
        self._webhooks.check(request)

    def _ask(self, webhook: Webhook, request: AdmissionRequest) -> bool:
        """Ask one webhook; tell whether it changed the object."""
        place = f"round_{int(request.is_reinvocation)}_index_{webhook.index}"
        try:
            answer = self._webhooks.ask(webhook, request, mutating=True)
        except NoAnswer as error:
            if not webhook.fails_open:
                refusal = self._webhooks.refusal(webhook, request, error)
                if refusal is not None:
                    raise refusal from error
                return False
            self.context.logger.warning("failing open: %s", error)
            request.annotations[FAILED_OPEN + place] = webhook.name
            return False
        changed = bool(answer.patch) and _patch(webhook, request, answer.patch)
        told = {"configuration": webhook.configuration, "webhook": webhook.name, "mutated": changed}
        request.annotations[MUTATION + place] = orjson.dumps(told).decode()
        if changed:
            told = {"configuration": webhook.configuration, "webhook": webhook.name, "patch": [*answer.patch]}
            request.annotations[PATCH + place] = orjson.dumps({**told, "patchType": "JSONPatch"}).decode()
        return changed


def _patch(webhook: Webhook, request: AdmissionRequest, operations: Sequence[Object]) -> bool:
    """Apply a patch in place; tell whether it changed anything."""
    seen = webhook.match.seen(request)
    obj = seen.object
    if obj is None:
        why = "attempted to modify the object, which is not supported for this operation"
        raise InternalError.because(f'admission webhook "{webhook.name}" {why}')
    from hyperkube.machinery.patch.json_patch import apply_json_patch  # the first patch asks for it

    try:
        patched = apply_json_patch(obj, [*operations])
    except ApiError as error:
        raise InternalError.because(error.message) from error
    if patched == obj:
        return False
    try:
        return request.take(patched)
    except ApiError as error:
        raise InternalError.because(error.message) from error
