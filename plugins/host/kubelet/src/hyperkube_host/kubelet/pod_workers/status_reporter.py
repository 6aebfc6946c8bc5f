"""From what the kubelet knows of a pod to the status that is written of it.

Source: kubernetes ``pkg/kubelet/kubelet_pods.go`` (generateAPIPodStatus), ``pkg/kubelet/container/helpers.go``
(ShouldAllContainersRestart).
"""

from __future__ import annotations

import logging
from functools import partial
from typing import NamedTuple

from hyperkube_host.kubelet.container.pod_status import PodStatus
from hyperkube_host.kubelet.pod.pod_entry import PodEntry, PodState
from hyperkube_host.kubelet.pod_workers.pod_sync import address_of
from hyperkube_host.kubelet.pod_workers.worker_services import WorkerServices
from hyperkube_host.kubelet.types.pod_spec import all_containers_of, containers_of, could_restart_all, restarts_all
from hyperkube_host.kubelet.types.pod_status import ALL_CONTAINERS_RESTARTING, READY_TO_START
from hyperkube_host.kubelet.types.pod_update import describe, is_static

from hyperkube.hookspecs.runtime import ContainerState
from hyperkube.kinds.conditions import condition, is_true, with_condition
from hyperkube.machinery.errors import ApiError, Conflict
from hyperkube.machinery.objects import Object, uid_of

REPORT_RETRY_SECONDS = 1.0
CONFLICT_RETRY_SECONDS = 0.1
"""The time for the watch to deliver the version of a pod that another component wrote."""


class Report(NamedTuple):
    """A status to write, and what it follows from.

    Attributes:
        status: to write.
        phase: that the pod has come to; the status tells it only once no container of it can run.
        restarts_all: all containers are to be removed, to start anew.
    """

    status: Object
    phase: str
    restarts_all: bool


class StatusReporter:
    """Computes and writes the statuses of pods."""

    def __init__(self, services: WorkerServices) -> None:
        self._services = services
        self._logger = logging.getLogger("hyperkube.kubelet")

    def compute(self, entry: PodEntry, pod_status: PodStatus, *, is_terminal: bool = False) -> Report:
        """Return the status of a pod; probes of containers that were found running begin."""
        from hyperkube_host.kubelet.status.api_pod_status import api_pod_status, phase_of
        from hyperkube_host.kubelet.status.status_input import StatusInput

        services = self._services
        pod = services.allocations.allocated(entry.pod)
        if pod_status.sandbox is not None and entry.state not in {PodState.TERMINATING, PodState.TERMINATED}:
            services.probes.add_pod(pod, pod_status, address_of(pod, pod_status.sandbox, services.host_ips))
        view = {**pod, "status": entry.view().get("status") or {}}
        was_restarting = is_true(view["status"], ALL_CONTAINERS_RESTARTING)
        restarting = not is_terminal and could_restart_all(pod) and _restarts_all(pod, pod_status, was=was_restarting)
        handler = pod_status.sandbox.runtime_handler if pod_status.sandbox is not None else ""
        given = StatusInput(
            pod_status=pod_status,
            waiting=entry.waiting,
            messages=services.messages.read(entry, pod_status),
            is_ready=services.probes.is_ready,
            is_started=services.probes.is_started,
            is_terminal=is_terminal,
            could_run=not is_terminal,
            restarts_all=restarting,
            is_restarting_all=was_restarting,
            failure=entry.failure,
            disruption=entry.disruption,
            resize_conditions=services.allocations.conditions(entry),
            host_ips=services.host_ips,
            runtime_name=services.runtime.name,
            supports_recursive_read_only=partial(services.supports_recursive_read_only, handler),
            now=services.clock.now(),
        )
        status = api_pod_status(view, given)
        init, by_name = (
            status.get("initContainerStatuses") or (),
            {one["name"]: one for one in status["containerStatuses"]},
        )
        regular = [by_name[container["name"]] for container in containers_of(pod)]
        services.container_manager.allocated_resources_status(pod, [*init, *regular])
        return Report(status, phase_of(view, init, regular, given), restarting)

    def report(self, entry: PodEntry, report: Report) -> bool:
        """Write the status if it changed; tell whether the API has it now."""
        return self.write(entry, report.status)

    def sandbox_is_ready(self, entry: PodEntry) -> None:
        """Report of a pod that its sandbox is there, before what may take long; its addresses come with the rest.

        Source: kubernetes ``pkg/kubelet/kubelet.go`` (OnPodSandboxReady).
        """
        if entry.reported is None:
            return
        known = condition(entry.reported, READY_TO_START)
        if known is not None and known["status"] != "True":
            changed = {**known, "status": "True"}
            conditions = with_condition(entry.reported["conditions"], changed, self._services.clock.now())
            self.write(entry, {**entry.reported, "conditions": conditions})

    def write(self, entry: PodEntry, status: Object) -> bool:
        """Write a status if it is not the one that was written last; tell whether the API has it now."""
        if entry.removed and not is_static(entry.pod):
            return True  # the pod is not in the API any more
        try:
            self._services.statuses.set_pod_status(entry, self._services.status_target(entry.pod), status)
        except Conflict:
            self._services.requeue_after(uid_of(entry.pod), CONFLICT_RETRY_SECONDS)
            return False
        except (ApiError, ConnectionError) as error:
            self._logger.warning("status of pod %s could not be written yet: %s", describe(entry.pod), error)
            self._services.requeue_after(uid_of(entry.pod), REPORT_RETRY_SECONDS)
            return False
        return True


def _restarts_all(pod: Object, pod_status: PodStatus, *, was: bool) -> bool:
    """Tell whether containers are to be removed because one asked for a restart of all.

    It lasts from the exit that asks for it until the last container is removed.
    """
    latest = [(container, pod_status.latest(container["name"])) for container in all_containers_of(pod)]
    if was:
        return any(status is not None for _, status in latest)
    return any(
        status is not None and status.state == ContainerState.EXITED and restarts_all(container, status.exit_code)
        for container, status in latest
    )
