"""The one way to an oVirt engine: tokens of its single sign-on, and its machines as XML.

What an engine says of a machine that it has not is an empty 404, which any proxy says; and an empty list is ``{}`` in
JSON. In XML it is ``<vms/>``, which nothing but an engine says: so machines are searched for, by id too, and in XML.
Sources: oVirt's ``ovirtsdk4/__init__.py`` (_get_access_token), ``services.py`` (VmsService.list), ``readers.py``
(VmReader, ReportedDeviceReader, FaultReader); ovirt-engine ``VmConditionFieldAutoCompleter.java`` (search by id).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Final, NoReturn
from urllib.parse import urlencode, urlsplit
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from hyperkube_cloud.ovirt.config import OVirtConfig
from hyperkube_lib.cloud_provider.rest import Answer, Request, Send, refusal

from hyperkube.hookspecs.cloud import CloudUnavailable

SIGN_ON: Final = "/ovirt-engine/sso/oauth/token"
SCOPE: Final = "ovirt-app-api"
FOLLOW: Final = "nics,reported_devices"
MOST: Final = "100000"
"""Machines that an engine is asked for at once: what it would cut off would count as gone."""


class Tokens:
    """Access tokens for a user and a password; thread-safe."""

    def __init__(self, send: Send, config: OVirtConfig) -> None:
        self._send, self._config = send, config
        self._lock = threading.Lock()
        self._token = ""

    def headers(self, renew: bool) -> Mapping[str, str]:
        """Return the headers that authorize.

        Raises:
            CloudUnavailable: the engine gives no token.
        """
        with self._lock:
            if renew or not self._token:
                self._token = ""  # what fails below leaves none behind
                self._token = self._issued()
            return {"Authorization": f"Bearer {self._token}"}

    def _issued(self) -> str:
        config, where = self._config, urlsplit(self._config.uri)
        form = {"grant_type": "password", "scope": SCOPE, "username": config.username, "password": config.password}
        answer = self._send(
            Request(
                method="POST",
                url=where._replace(path=SIGN_ON, query="", fragment="").geturl(),
                headers={"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"},
                body=urlencode(form).encode(),
            )
        )
        try:
            told = json.loads(answer.body)
            token = told["access_token"] if answer.status == 200 else None
        except (ValueError, KeyError, TypeError, RecursionError):
            told = token = None
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            code = told.get("error_code") or told.get("error") if isinstance(told, dict) else None
            raise CloudUnavailable(f"the engine gives no token: {answer.status}{f' {code}' if code else ''}")
        return token


class _Strict(TreeBuilder):
    """Refuses a document type: an engine's answers have none, and entities grow."""

    def doctype(self, *_declaration: object) -> NoReturn:
        raise ValueError("a document type")


class Engine:
    """Searches; thread-safe if its `Send` is."""

    def __init__(self, send: Send, uri: str) -> None:
        self._send, self._uri = send, uri

    def machines(self, search: str, *, with_devices: bool = False) -> list[Element]:
        """Return the ``vm`` elements of the machines that a search finds, with their cards and addresses if asked.

        Raises:
            Refused: the search is none.
            CloudThrottled, CloudUnavailable: as `rest.refusal`; also where the answer is no engine's.
        """
        query = {"search": search, "max": MOST, **({"follow": FOLLOW} if with_devices else {})}
        headers = {"Accept": "application/xml", "Version": "4"}
        answer = self._send(Request(method="GET", url=f"{self._uri}/vms?{urlencode(query)}", headers=headers))
        root = _parsed(answer)
        if answer.status >= 300:
            raise refusal("GET vms", answer, _told(root))
        if root is None or root.tag != "vms" or any(vm.tag != "vm" or not _is_sound(vm) for vm in root):
            raise CloudUnavailable("GET vms: answered with what is no list of machines")
        return list(root)


def _is_sound(machine: Element) -> bool:
    return bool(machine.get("id") and machine.findtext("name") and machine.findtext("status"))


def _parsed(answer: Answer) -> Element | None:
    parser = XMLParser(target=_Strict())  # noqa: S314 - it takes no entities
    try:
        parser.feed(answer.body)
        found: Element = parser.close()
    except (ParseError, ValueError):
        return None
    return found


def _told(root: Element | None) -> tuple[str, str] | None:
    """Return reason and detail of a fault; None if it is none of an engine's."""
    if root is None or root.tag != "fault":
        return None
    return root.findtext("reason") or "fault", root.findtext("detail") or ""
