"""Acting as another user: the ``Impersonate-*`` headers, allowed by whom they name and, if wanted, by what is done.

There are several ways to be allowed, tried in turn. The constrained ones ask twice: whether the requester may do *this*
as another user (``impersonate-on:user-info:list`` on pods) and whether they may be *that* user
(``impersonate:user-info`` on users). The old way asks only for ``impersonate`` and then allows everything. The refusal
that is told is the first one, of the way that worked for the requester last.

Source: kubernetes apiserver ``pkg/endpoints/filters/impersonation`` (mode.go, constrained_impersonation.go,
impersonation.go); the gate ConstrainedImpersonation is on since 1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from hyperkube_host.apiserver.authorization.union import Authorization, refusal
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, BadRequest
from hyperkube.machinery.field import quote
from hyperkube.machinery.names import dns1123_label, dns1123_subdomain, domain_prefixed_path
from hyperkube.machinery.users import (
    ANONYMOUS,
    AUTHENTICATED_GROUP,
    NODE_PREFIX,
    NODES_GROUP,
    PRIVILEGED_GROUP,
    SERVICE_ACCOUNT_PREFIX,
    SERVICE_ACCOUNTS_GROUP,
    UNAUTHENTICATED_GROUP,
    UserInfo,
    unescape_extra_key,
)

_USER, _UID, _GROUP, _EXTRA = "impersonate-user", "impersonate-uid", "impersonate-group", "impersonate-extra-"
_AUTHENTICATION = "authentication.k8s.io"
_NODE_OF = "authentication.kubernetes.io/node-name"
_KEYS_OF = "authentication.kubernetes.io/associated-node-keys"
_MANY = 4
"""From so many groups or extra values on, the right to all of them is asked for first."""
_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Acting:
    """Whom a request acts as, and the verb that allowed it: empty for the old way, which allows everything."""

    user: UserInfo
    constraint: str = ""


@dataclass(frozen=True, slots=True)
class _Mode:
    """One way to be allowed; `fits` says whether it is meant for the user who is wanted and the requester."""

    name: str
    fits: Callable[[UserInfo, UserInfo], bool]


def impersonates(headers: Mapping[str, str]) -> bool:
    """Tell whether a request says that it acts as another user."""
    for name in headers:  # noqa: SIM110  a loop costs half of what a generator does, with every request
        if name.startswith("impersonate-"):
            return True
    return False


class Impersonation:
    """Decides who may act as whom.

    Args:
        authorization: is asked.
        constrained: whether the constrained ways are open.
    """

    def __init__(self, authorization: Authorization, *, constrained: bool = True) -> None:
        self._authorization = authorization
        self._constrained = constrained
        self._modes: tuple[_Mode | None, ...] = (*_MODES, None) if constrained else (None,)
        self._worked: dict[str, int] = {}

    def act_as(self, request: HttpRequest, requester: UserInfo, attributes: Callable[[], Attributes]) -> Acting:
        """Return whom a request acts as: the requester unless it names another user.

        Args:
            request: what came in.
            requester: who sent it.
            attributes: returns what it asks for.

        Raises:
            BadRequest: a group, uid or extra value without a user.
            Forbidden: `requester` may not act so.
        """
        if not impersonates(request.headers):
            return Acting(requester)
        wanted = _wanted(request.lines())
        if not wanted.name:
            if not (wanted.uid or wanted.groups or wanted.extra):
                return Acting(requester)
            if self._constrained:
                raise BadRequest(f"requested {_as_go_writes(wanted)} without impersonating a user name")
            raise BadRequest(f"requested {_as_references(wanted)} without impersonating a user")
        return self._allowed(wanted, requester, attributes())

    def _allowed(self, wanted: UserInfo, requester: UserInfo, asked: Attributes) -> Acting:
        first: ApiError | None = None
        for number in self._order(requester.name):
            mode = self._modes[number]
            if mode is not None and not mode.fits(wanted, requester):
                continue
            try:
                acting = self._old(wanted, requester) if mode is None else self._new(mode, wanted, requester, asked)
            except ApiError as error:
                first = first or error
                continue
            if len(self._worked) >= _REMEMBERED:
                self._worked.clear()
            self._worked[requester.name] = number
            return acting
        assert first is not None  # noqa: S101 -- the old way fits every user
        raise first

    def _order(self, name: str) -> list[int]:
        best = self._worked.get(name)
        rest = [number for number in range(len(self._modes)) if number != best]
        return rest if best is None else [best, *rest]

    def _old(self, wanted: UserInfo, requester: UserInfo) -> Acting:
        account = service_account_of(wanted.name)
        question = _question(requester, "impersonate", "", "users", wanted.name)
        if account is not None:
            question = replace(question, resource="serviceaccounts", namespace=account[0], name=account[1])
        self._insist(question)
        if wanted.uid:
            self._insist(_question(requester, "impersonate", _AUTHENTICATION, "uids", wanted.uid))
        for group in wanted.groups:
            self._insist(_question(requester, "impersonate", "", "groups", group))
        for question in _extra_questions(requester, "impersonate", wanted):
            self._insist(question)
        groups = wanted.groups or (_groups_of(account[0]) if account is not None else ())
        return Acting(replace(wanted, groups=_completed(wanted.name, groups)))

    def _new(self, mode: _Mode, wanted: UserInfo, requester: UserInfo, asked: Attributes) -> Acting:
        if mode.name == _ASSOCIATED:  # any node will do, so the decision counts for all the account's pods
            requester = replace(requester, extra={_KEYS_OF: tuple(sorted(requester.extra))})
        self._insist(replace(asked, user=requester, verb=f"impersonate-on:{mode.name}:{asked.verb}"))
        verb = f"impersonate:{mode.name}"
        question = _question(requester, verb, _AUTHENTICATION, "users", wanted.name)
        groups = wanted.groups
        if (node := node_of(wanted.name)) is not None:
            question = replace(question, resource="nodes", name="*" if mode.name == _ASSOCIATED else node)
            groups = (NODES_GROUP,)
        if (account := service_account_of(wanted.name)) is not None:
            question = replace(question, resource="serviceaccounts", namespace=account[0], name=account[1])
            groups = _groups_of(account[0])
        self._insist(question)
        if wanted.uid:
            self._insist(_question(requester, verb, _AUTHENTICATION, "uids", wanted.uid))
        self._insist_on_groups(requester, verb, wanted.groups)
        self._insist_on_extra(requester, verb, wanted)
        return Acting(replace(wanted, groups=_completed(wanted.name, groups)), verb)

    def _insist_on_groups(self, requester: UserInfo, verb: str, groups: tuple[str, ...]) -> None:
        questions = [_question(requester, verb, _AUTHENTICATION, "groups", group) for group in groups]
        if PRIVILEGED_GROUP in groups:
            question = _question(requester, verb, _AUTHENTICATION, "groups", PRIVILEGED_GROUP)
            raise refusal(question, "impersonating the system:masters group is not allowed")
        if len(groups) >= _MANY and self._may(replace(questions[0], name="*")):
            return
        for question in questions:
            self._insist(question)

    def _insist_on_extra(self, requester: UserInfo, verb: str, wanted: UserInfo) -> None:
        questions = list(_extra_questions(requester, verb, wanted))
        if not wanted.extra:
            return
        if (fault := _fault_in(wanted.extra)) is not None:
            raise refusal(_question(requester, verb, _AUTHENTICATION, "userextras", ""), fault)
        if max(len(questions), len(wanted.extra)) >= _MANY and self._may(
            replace(questions[0], subresource="*", name="*")
        ):
            return
        for question in questions:
            self._insist(question)

    def _may(self, question: Attributes) -> bool:
        return self._authorization.authorize(question).allowed

    def _insist(self, question: Attributes) -> None:
        decision = self._authorization.authorize(question)
        if not decision.allowed:
            raise refusal(question, decision.reason)


def _wanted(lines: Mapping[str, Sequence[str]]) -> UserInfo:
    """Return the user that the headers name, as they name it: each line is one value, with its commas."""
    extra: dict[str, tuple[str, ...]] = {}
    for header, values in lines.items():
        if header.startswith(_EXTRA):
            key = unescape_extra_key(header[len(_EXTRA) :])
            extra[key] = (*extra.get(key, ()), *values)
    return UserInfo(lines.get(_USER, ("",))[0], lines.get(_UID, ("",))[0], tuple(lines.get(_GROUP, ())), extra)


def _question(requester: UserInfo, verb: str, group: str, resource: str, name: str) -> Attributes:
    return Attributes(requester, verb, group, "v1", resource, "", "", name)


def _extra_questions(requester: UserInfo, verb: str, wanted: UserInfo) -> Iterable[Attributes]:
    for key, values in wanted.extra.items():
        for value in values:
            yield replace(_question(requester, verb, _AUTHENTICATION, "userextras", value), subresource=key)


def _fault_in(extra: Mapping[str, tuple[str, ...]]) -> str | None:
    """Return what no constrained way allows in extra values."""
    for key, values in extra.items():
        if not key:
            return "impersonating the empty string key in extra is not allowed"
        if faults := domain_prefixed_path(key):
            text = aggregate(f"extra.key: Invalid value: {quote(key)}: {fault}" for fault in faults)
            return f"impersonating an invalid key in extra is not allowed: {text}"
        if key != key.lower():
            return f"impersonating a non-lowercase key in extra is not allowed: {quote(key)}"
        if not values:
            return "impersonating empty values in extra is not allowed"
    return None


def _groups_of(namespace: str) -> tuple[str, ...]:
    return (SERVICE_ACCOUNTS_GROUP, f"{SERVICE_ACCOUNTS_GROUP}:{namespace}")


def _completed(name: str, groups: tuple[str, ...]) -> tuple[str, ...]:
    """Return the groups with the one that the server adds."""
    if UNAUTHENTICATED_GROUP in groups:
        return groups
    added = UNAUTHENTICATED_GROUP if name == ANONYMOUS else AUTHENTICATED_GROUP
    return groups if added in groups else (*groups, added)


def service_account_of(username: str) -> tuple[str, str] | None:
    """Return namespace and name of the service account that a username stands for, None for another user."""
    parts = username.removeprefix(SERVICE_ACCOUNT_PREFIX).split(":")
    if not username.startswith(SERVICE_ACCOUNT_PREFIX) or len(parts) != 2:
        return None
    namespace, name = parts
    return None if dns1123_label(namespace) or dns1123_subdomain(name) else (namespace, name)


def node_of(username: str) -> str | None:
    """Return the node that a username stands for, None for another user."""
    name = username.removeprefix(NODE_PREFIX)
    return name if username.startswith(NODE_PREFIX) and not dns1123_subdomain(name) else None


def _only_named(wanted: UserInfo) -> bool:
    return not (wanted.uid or wanted.groups or wanted.extra)


def _is_own_node(wanted: UserInfo, requester: UserInfo) -> bool:
    node = node_of(wanted.name)
    if node is None or not _only_named(wanted) or service_account_of(requester.name) is None:
        return False
    return tuple(requester.extra.get(_NODE_OF, ())) == (node,)


_ASSOCIATED = "associated-node"
_MODES = (
    _Mode(_ASSOCIATED, _is_own_node),
    _Mode("arbitrary-node", lambda wanted, _: _only_named(wanted) and node_of(wanted.name) is not None),
    _Mode("serviceaccount", lambda wanted, _: _only_named(wanted) and service_account_of(wanted.name) is not None),
    _Mode("user-info", lambda wanted, _: node_of(wanted.name) is None and service_account_of(wanted.name) is None),
)


def _as_go_writes(wanted: UserInfo) -> str:
    """Return the user as Go's ``%#v`` writes it, which is what the refusal shows."""
    extra = ", ".join(f"{quote(key)}:{_strings(wanted.extra[key])}" for key in sorted(wanted.extra))
    shown = f"{{{extra}}}" if wanted.extra else "(nil)"
    return (
        f"&user.DefaultInfo{{Name:{quote(wanted.name)}, UID:{quote(wanted.uid)}, Groups:{_strings(wanted.groups)}, "
        f"Extra:map[string][]string{shown}}}"
    )


def _strings(values: tuple[str, ...]) -> str:
    return f"[]string{{{', '.join(map(quote, values))}}}" if values else "[]string(nil)"


def _as_references(wanted: UserInfo) -> str:
    """Return the user's parts as Go's ``%v`` writes object references."""
    parts = [f"{{Group  {group}    }}" for group in wanted.groups]
    for key, values in wanted.extra.items():
        parts += [f"{{UserExtra  {value}  {_AUTHENTICATION}/v1  {key}}}" for value in values]
    parts += [f"{{UID  {wanted.uid}  {_AUTHENTICATION}/v1  }}"] if wanted.uid else []
    return f"[{' '.join(parts)}]"
