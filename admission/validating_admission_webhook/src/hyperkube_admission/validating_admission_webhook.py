"""ValidatingAdmissionWebhook: an external server may refuse what is written.

All webhooks that are about a request are asked at the same time; the first refusal, in the order of their
configurations' names, is the answer. Source: kubernetes apiserver ``pkg/admission/plugin/webhook/validating``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hyperkube_lib.dynamic_admission.deadlocks import Deadlocks
from hyperkube_lib.dynamic_admission.webhooks import NoAnswer, Webhook, Webhooks

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin, PluginContext

if TYPE_CHECKING:
    from hyperkube_lib.dynamic_admission.reviews import Answer

CONFIGURATIONS = GroupVersionResource("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations")
FAILED_OPEN = "failed-open.validating.webhook.admission.k8s.io/"


class Settings(Record):
    """Whether what the pods of a webhook that is down need is let through."""

    break_webhook_deadlocks: bool = False


class ValidatingAdmissionWebhook(Plugin):
    """Asks the validating webhooks that are about a request."""

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
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Ask each webhook; refuse what one of them refuses."""
        self._webhooks.check(request)
        asked = [*self._webhooks.matching(request)]
        if not asked:
            return
        ask = partial(self._answer, request=request)
        if len(asked) == 1:
            answers = [ask(asked[0])]
        else:
            from concurrent.futures import ThreadPoolExecutor  # where there is more than one webhook

            with ThreadPoolExecutor(len(asked)) as pool:
                answers = [*pool.map(ask, asked)]
        refusals = [error for pair in zip(asked, answers, strict=True) if (error := self._taken(request, *pair))]
        if refusals:
            raise refusals[0]

    def _answer(self, webhook: Webhook, *, request: AdmissionRequest) -> Answer | NoAnswer | ApiError:
        try:
            return self._webhooks.answer(webhook, request, mutating=False)
        except (NoAnswer, ApiError) as error:
            return error

    def _taken(
        self, request: AdmissionRequest, webhook: Webhook, answer: Answer | NoAnswer | ApiError
    ) -> ApiError | None:
        """Take over one answer; return the refusal it amounts to."""
        if isinstance(answer, ApiError):
            return answer
        if isinstance(answer, NoAnswer):
            if not webhook.fails_open:
                return self._webhooks.refusal(webhook, request, answer)
            self.context.logger.warning("failing open: %s", answer)
            request.annotations[f"{FAILED_OPEN}round_0_index_{webhook.index}"] = webhook.name
            return None
        try:
            self._webhooks.note(webhook, request, answer)
        except ApiError as error:
            return error
        return None
