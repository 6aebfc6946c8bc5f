"""kube-event-logger: a server beside Kubernetes' own that writes the events of a cluster as lines of JSON.

A server is a `ServerCommand`: its name, its long help, its flags and what runs it. The entry point makes it a word of
``hyperkube`` and, through a link or script of that name, a program.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, TextIO

import orjson

from hyperkube.command.common_flags import API_CLIENT, GLOBAL
from hyperkube.command.lifecycle import Lifecycle, start_up, stop_signal
from hyperkube.command.remote import remote_client
from hyperkube.command.server_command import ServerCommand
from hyperkube.kinds.resources import EVENTS
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object
from hyperkube.plugin.flags import STRING, Flag, FlagValues, section

NAME = "kube-event-logger"
TYPES = ("", "Normal", "Warning")


@dataclass(frozen=True, slots=True)
class Options:
    """What is logged.

    Attributes:
        namespace: only events of this namespace; of all with an empty one.
        event_type: only events of this type; of both with an empty one.
    """

    namespace: str
    event_type: str

    @classmethod
    def of(cls, values: FlagValues) -> Self:
        """Return the options that the flags give.

        Raises:
            UsageError: there is no such type of events.
        """
        if values["event-type"] not in TYPES:
            raise UsageError(f"--event-type must be Normal or Warning, not {values['event-type']!r}")
        return cls(values["namespace"], values["event-type"])


def logged(event: Object, options: Options) -> bool:
    """Tell whether an event is one that the options ask for."""
    return options.event_type in {"", event.get("type")}


def line(event: Object) -> bytes:
    """Return an event as one line."""
    about = event.get("involvedObject") or {}
    return orjson.dumps(
        {
            "type": event.get("type"),
            "reason": event.get("reason"),
            "object": f"{about.get('kind')}/{about.get('name')}",
            "namespace": event["metadata"].get("namespace"),
            "message": event.get("message"),
        },
        option=orjson.OPT_APPEND_NEWLINE,
    )


def writer(out: TextIO, options: Options) -> Callable[[Object], None]:
    """Return what writes each event that is asked for to `out`."""

    def write(event: Object) -> None:
        if logged(event, options):
            out.write(line(event).decode())
            out.flush()

    return write


def run(values: FlagValues) -> None:
    """Log until a signal."""
    from hyperkube.client.informer import InformerFactory

    options = Options.of(values)
    with stop_signal() as stopped, Lifecycle() as life:
        with start_up():
            informers = InformerFactory(remote_client({**values}, NAME))
            write = writer(sys.stdout, options)
            informers.informer(EVENTS, options.namespace).add_handler(write, lambda _old, new: write(new))
            life.on_close("the informers", informers.stop)
            informers.start()
        stopped.wait()


COMMAND = ServerCommand(
    name=NAME,
    long="The event logger watches the events of a cluster and writes each as a line of JSON to standard output.",
    example="kube-event-logger --kubeconfig=admin.kubeconfig --event-type=Warning",
    flags=(
        *section(
            "Events",
            Flag("namespace", STRING, "", "log events of this namespace only"),
            Flag("event-type", STRING, "", "log events of this type only: Normal or Warning"),
        ),
        *API_CLIENT,
        *GLOBAL,
    ),
    run=run,
)
