"""`ApiServer`: builds one API server from its options, out of the plugins that they name, and runs it.

Nothing here is global: two servers in one process share nothing.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any, cast

from hyperkube_host.apiserver.admission.chain import AdmissionChain
from hyperkube_host.apiserver.admission.plugins import load_admission
from hyperkube_host.apiserver.aggregation.controller import Registrations
from hyperkube_host.apiserver.aggregation.descriptions import RemoteOpenApi
from hyperkube_host.apiserver.aggregation.remotes import Remotes
from hyperkube_host.apiserver.aggregation.route import Routes
from hyperkube_host.apiserver.authentication.authenticators import BASIC, load_authn
from hyperkube_host.apiserver.authentication.token_signer import TokenSigner
from hyperkube_host.apiserver.authentication.union import Authentication
from hyperkube_host.apiserver.authorization.authorizers import load_authz
from hyperkube_host.apiserver.authorization.reload import AuthorizersOfFile
from hyperkube_host.apiserver.authorization.union import ALWAYS_ALLOWED_PATHS, Authorization
from hyperkube_host.apiserver.beginning import Beginning
from hyperkube_host.apiserver.controlplane.bootstrap import Bootstrap
from hyperkube_host.apiserver.controlplane.presence import presence_of
from hyperkube_host.apiserver.custom.controller import Definitions
from hyperkube_host.apiserver.custom.definitions import RulesOf
from hyperkube_host.apiserver.encryption import EncryptedValues, live_rules
from hyperkube_host.apiserver.explain.reasons import Reasons
from hyperkube_host.apiserver.explain.records import Explanations
from hyperkube_host.apiserver.flowcontrol.configuration import FlowConfiguration
from hyperkube_host.apiserver.flowcontrol.flow_control import FlowControl
from hyperkube_host.apiserver.flowcontrol.options import limits_of
from hyperkube_host.apiserver.health.health import Check, Health
from hyperkube_host.apiserver.health.post_start_hooks import BEGUN, Done, Part, start_checks
from hyperkube_host.apiserver.in_process.client import InProcessClient
from hyperkube_host.apiserver.late import LateAuthorizer, LateClient
from hyperkube_host.apiserver.openapi import NoDescriptions
from hyperkube_host.apiserver.pipeline.audit_options import auditor_of
from hyperkube_host.apiserver.pipeline.handler import ApiHandler
from hyperkube_host.apiserver.pipeline.insecure import InsecureHandler
from hyperkube_host.apiserver.pipeline.pipeline import Pipeline
from hyperkube_host.apiserver.plugins import hooks, listed
from hyperkube_host.apiserver.resources.api_groups import load_api
from hyperkube_host.apiserver.resources.known_kinds import KnownKinds
from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_host.apiserver.resources.runtime_config import selected
from hyperkube_host.apiserver.rest.objects import StoredObjects
from hyperkube_host.apiserver.rest.ownership import FieldOwnership
from hyperkube_host.apiserver.rest.services import LEASE_REUSE_SECONDS, LeasePool, Services
from hyperkube_host.apiserver.routes.metrics import RequestMetrics
from hyperkube_host.apiserver.routes.root import Sources, root_paths
from hyperkube_host.apiserver.serializer.decode import BodyDecoder, Kinds
from hyperkube_host.apiserver.serializer.encode import Encoder
from hyperkube_host.apiserver.serializer.tables import ColumnDefinitions
from hyperkube_host.apiserver.storage.backend import helped_provider, load_storage
from hyperkube_host.apiserver.storage.routed_store import RoutedStore
from hyperkube_host.apiserver.storage.storage_options import (
    HistorySizes,
    check_media_type,
    check_storage_versions,
    server_overrides,
    storage_versions,
)
from hyperkube_host.apiserver.storage.store_health import HEALTH_SECONDS, StoreAnswers, StoreMetrics
from hyperkube_host.apiserver.storage.stored_values import StoredValues
from hyperkube_lib.watch_cache.event_history import HistoryLimits
from hyperkube_lib.watch_cache.resource_cache import ANY_REVISION
from hyperkube_lib.watch_cache.watch_cache import CacheState, StoreCache

from hyperkube.client.client import Client
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs.api import ApiGroupVersion, Descriptions
from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.codecs.protobuf import Protobuf
from hyperkube.machinery.users import LOOPBACK, UserInfo
from hyperkube.plugin import PluginContext, PluginHost
from hyperkube.storage.feed import Subscribable
from hyperkube.storage.store import Store, prefix_end
from hyperkube.storage.transformed import ValueForm, ValueForms, transformed

_logger = logging.getLogger("hyperkube.apiserver")


class ApiServer:
    """One API server.

    Args:
        options: flag name → parsed value, with Kubernetes' spelling; what is missing has its default.
        clock: the cluster's time.
        store: replaces what ``--storage-backend`` names; the server does not close it.
        beginning: of a server with the same plugins, if `store` is a fork of its store.
    """

    def __init__(
        self,
        *,
        options: Mapping[str, Any],
        clock: Clock | None = None,
        store: Store | None = None,
        beginning: Beginning | None = None,
    ) -> None:
        self.options = dict(options)
        self._beginning = beginning
        self._clock: Clock = clock or SystemClock()
        self._late_client = LateClient()
        self._late_authorizer = LateAuthorizer()
        self._hosts: list[PluginHost] = []
        self._opened: list[Store] = []
        self._gates: Mapping[str, bool] = dict(self.options.get("feature-gates") or {})
        self.informers = InformerFactory(cast("Client", self._late_client), self._clock)
        if self.options.get("service-account-signing-key-file"):
            issuers = listed(self.options, "service-account-issuer")
            audiences = listed(self.options, "api-audiences") or issuers
            self.options["service-account-signer"] = TokenSigner(self.options, issuers, audiences, self._clock)
        self._owns_store = store is None
        check_media_type(self.options)
        self._encryption = live_rules(self.options, self._clock, helped_provider(self._context, self._hosts))
        self._store = store if store is not None else self._open_store()
        self._root = str(self.options.get("etcd-prefix") or "/registry").rstrip("/") + "/"
        self._history_sizes = HistorySizes(self.options)
        self.cache = self._new_cache(self._store, beginning.cache if beginning is not None else None)
        self._other_caches: list[StoreCache] = []
        self.registry = Registry(self.cache, root=self._root)
        self._ending, self._closed = threading.Event(), threading.Event()
        self._begun: set[Part] = set()
        self._build()

    def _new_cache(self, store: Store, state: CacheState | None = None) -> StoreCache:
        return StoreCache(store, self._clock, prefix=self._root, limits_of=self._limits_of, state=state)

    def _limits_of(self, prefix: str) -> HistoryLimits:
        return self._history_sizes.of(self.registry.stored_at(prefix))

    def _open_store(self, options: Mapping[str, Any] | None = None) -> Store:
        options = options or self.options
        host = load_storage(options, lambda family, name: replace(self._context(family, name), options=options))
        self._hosts.append(host)
        store: Store = host.hook.storage_open()
        self._opened.append(store)
        forms: list[ValueForm] = []
        if (rules := self._encryption) is not None:
            forms.append(EncryptedValues(rules, lambda key: self.registry.stored_at(key)))  # noqa: PLW0108 -- made later
        if not isinstance(store, Subscribable):  # other programs may have written to it
            forms.append(StoredValues(lambda: self.registry, storage_versions(self.options)))
        return transformed(store, ValueForms(forms)) if forms else store

    def _context(self, family: str, name: str) -> PluginContext:
        settings = (self.options.get("plugin-settings") or {}).get(family, {}).get(name, {})
        return PluginContext(
            name=name,
            clock=self._clock,
            logger=logging.getLogger(f"hyperkube.{family}.{name}"),
            gates=self._gates,
            settings=settings,
            options=self.options,
            client=cast("Client", self._late_client) if family != "storage" else None,
            informers=self.informers if family != "storage" else None,
            authorizer=self._late_authorizer if family != "storage" else None,
        )

    def _build(self) -> None:
        options, clock = self.options, self._clock
        api = load_api(self._context)
        declared = [version for versions in api.hook.api_group_versions() for version in versions]
        if self._owns_store:
            self._store_elsewhere(declared)
        self.registry.add(selected(declared, options))
        check_storage_versions(
            storage_versions(options), {(version.group, version.version) for version in self.registry.versions()}
        )
        authn = load_authn(options, self._context)
        authz = load_authz(options, self._context)
        admission = load_admission(options, self._context, _logger)
        self._hosts += [api, authn, authz, admission]
        self._rules_of: RulesOf = lambda schema: api.hook.api_object_rules(schema=schema)
        self._descriptions: Callable[[], Descriptions] = lambda: api.hook.api_descriptions() or NoDescriptions()
        self._authentication = Authentication(
            hooks(authn, "authn_authenticate"),
            clock,
            basic=bool(BASIC.intersection(authn.names)),
            proxy_headers=listed(options, "requestheader-username-headers") or ["x-remote-user"],
        )
        self.options["token-authenticator"] = self._authentication.review
        self._authorization = Authorization(
            hooks(authz, "authz_authorize"),
            hooks(authz, "authz_epoch"),
            hooks(authz, "authz_rules"),
            open_paths=listed(options, "authorization-always-allow-paths") or ALWAYS_ALLOWED_PATHS,
        )
        self._late_authorizer.real = self._authorization
        self._authorizers = AuthorizersOfFile(authz, self._authorization, self._context, options, clock)
        reasons = Reasons(self.informers) if options.get("explain-forbidden") and "RBAC" in authz.names else None
        self._explanations = Explanations(clock, bool(options.get("explain-admission")), reasons)
        chain = AdmissionChain(
            hooks(admission, "admission_mutate"),
            hooks(admission, "admission_validate"),
            self._explanations,
        )
        self._assemble(chain)
        limits = self._limits
        self._flows = self._flow_configuration(limits, api) if isinstance(limits, FlowControl) else None
        done = self._beginning is not None and self._beginning.bootstrapped
        self._bootstrap = Bootstrap(self._services, api, authz, options, clock, _logger, done=done)
        self._presence = presence_of(options, self._gates, self._store, self._root, self.client(LOOPBACK), clock)

    def _flow_configuration(self, limits: FlowControl, api: PluginHost) -> FlowConfiguration:
        return FlowConfiguration(
            limits,
            self.registry,
            self.informers,
            self.client(LOOPBACK),
            lambda: (obj for objects in api.hook.api_bootstrap_objects() for obj in objects),
            self._clock,
            _logger,
        )

    def _store_elsewhere(self, declared: Sequence[ApiGroupVersion]) -> None:
        """Open the stores that ``--etcd-servers-overrides`` names for single resources."""
        wanted = server_overrides(self.options, _logger)
        specs = [spec for version in declared for spec in version.resources if spec.storage_prefix]
        prefixes = {spec.resource.group_resource: spec.storage_prefix for spec in reversed(specs)}
        stores: dict[str, Store] = {}
        caches: dict[str, StoreCache] = {}
        for resource, servers in wanted.items():
            store = self._open_store({**self.options, "etcd-servers": servers})
            prefix = prefixes.get(resource, f"{resource.group}/{resource.resource}")
            stores[f"{self._root}{prefix}/"], caches[prefix] = store, self._new_cache(store)
        if stores:
            self._store = RoutedStore(self._store, stores)
            self._other_caches += caches.values()
            self.registry.store_elsewhere(caches)

    def _assemble(self, chain: AdmissionChain) -> None:
        options, clock = self.options, self._clock
        protobuf, objects = Protobuf(), StoredObjects(self.registry)
        self._services = Services(
            registry=self.registry,
            store=self._store,
            clock=clock,
            random=Random(),  # noqa: S311 -- name suffixes, no secrets
            authorizer=self._authorization,
            admission=chain,
            decoder=BodyDecoder(Kinds(KnownKinds(self.registry).is_registered), protobuf),
            objects=objects,
            ownership=FieldOwnership(clock),
            leases=LeasePool(self._store, clock, int(options.get("lease-reuse-duration-seconds", LEASE_REUSE_SECONDS))),
            logger=_logger,
            options=options,
            gates=self._gates,
        )
        objects.bind(self._services)
        self._audit = auditor_of(options, clock, _logger)
        limits = self._limits = limits_of(options, clock)
        metrics = RequestMetrics(limits)
        stored = StoreMetrics(self.registry, self._opened, options, clock)
        self.health = Health(self._checks(), _logger, clock, grace=float(options.get("livez-grace-period") or 0))
        remotes = Remotes()
        routes = Routes(remotes, objects, options)
        described = RemoteOpenApi(routes, _logger)
        self.paths = root_paths(
            Sources(
                options=options,
                gates=self._gates,
                clock=clock,
                logger=_logger,
                registry=self.registry,
                health=self.health,
                metrics=lambda: metrics.text() + stored.text(),
                limits=limits,
                explanations=self._explanations,
                remotes=remotes,
                described=described,
                descriptions=self._descriptions,
            )
        )
        self._pipeline = Pipeline(
            self._services,
            self._authorization,
            self.paths,
            _logger,
            elsewhere=routes.answer,
            explanations=self._explanations,
        )
        self.handler = ApiHandler(
            self._pipeline,
            Encoder(clock, protobuf, ColumnDefinitions(self._descriptions)),
            self._authentication,
            self._authorization,
            limits,
            metrics,
            clock,
            _logger,
            local_store=hasattr(self._store, "subscribe"),
            audit=self._audit,
            long_running=str(options.get("long-running") or ""),
        )
        self.insecure_handler = InsecureHandler(self.handler)
        self._late_client.real = self.client(LOOPBACK)
        loopback = self.client(LOOPBACK)
        self._registrations = Registrations(self.registry, remotes, routes, described, loopback, clock, _logger)
        self._definitions = Definitions(self.registry, self.client(LOOPBACK), clock, _logger, rules_of=self._rules_of)

    def _checks(self) -> list[Check]:
        return [
            Check("log", lambda: True),
            Check("loopback-serving-certificate", lambda: self._late_client.real is not None, never_ready=True),
            Check("etcd", self._store_answers("etcd-healthcheck-timeout")),
            Check("etcd-readiness", self._store_answers("etcd-readycheck-timeout"), only_ready=True),
            *(Check(*check) for check in (self._encryption.checks() if self._encryption is not None else ())),
            Check("informer-sync", self._plugins_ready, only_ready=True),
            *start_checks(self._done()),
            Check("shutdown", lambda: not self._ending.is_set(), only_ready=True),
        ]

    def _done(self) -> dict[Part, Done]:
        """Return how each part is known to have done what it does at the start."""
        begun: dict[Part, Done] = {part: partial(self._begun.__contains__, part) for part in BEGUN}
        done = begun | {
            Part.DEFINITIONS: lambda: self._definitions.synced,
            Part.SYSTEM_OBJECTS: lambda: self._bootstrap.done,
            Part.API_PLUGINS: lambda: Part.PLUGINS in self._begun and self._plugins_ready("api"),
        }
        if isinstance(self._limits, FlowControl):
            done[Part.FLOWS] = lambda: self._flows is not None and self._flows.synced()
        if self.options.get("presence") and self._gates.get("APIServerIdentity", True):
            done[Part.IDENTITY] = lambda: self._presence is not None and self._presence.begun()
        return done

    def _store_answers(self, flag: str) -> Callable[[], bool]:
        seconds = float(self.options.get(flag, HEALTH_SECONDS))
        return StoreAnswers(self._store.revision, self._clock, seconds).passes

    def _plugins_ready(self, family: str = "") -> bool:
        return all(host.ready() for host in self._hosts if family in {"", host.family})

    def client(self, user: UserInfo) -> Client:
        """Return the API as `user` sees it, without a socket."""
        return InProcessClient(self._pipeline, self.handler, user, self._clock)

    def start(self) -> None:
        """Begin to serve: follow the store, start the plugins, create what must exist."""
        for cache in (self.cache, *self._other_caches):
            cache.start()
        self._begun.add(Part.STORES)
        self._bootstrap.run()
        self._definitions.start()
        self._registrations.start()
        self._begun.add(Part.REGISTRATIONS)
        for host in self._hosts:
            host.start()
        self._begun.add(Part.PLUGINS)
        self._authorizers.start()
        self.informers.start()
        self._begun.add(Part.INFORMERS)
        for part in (self._flows, self._presence):
            if part is not None:
                part.start()

    def beginning(self) -> Beginning:
        """Return what a server on a fork of this one's store can begin with; the fork is made afterwards.

        Every resource that has objects is read into the cache first: once here and not in each of the forks.
        """
        for storage in {served.storage for served in self.registry.resources() if served.storage is not None}:
            if storage.store.count(storage.prefix, prefix_end(storage.prefix)):
                self.cache.wait_for(storage.cache, ANY_REVISION)
        return Beginning(self.cache.state(), self._bootstrap.done)

    def ready(self) -> bool:
        """Tell whether all readiness checks pass."""
        return self.health.ready()

    def announce_end(self) -> None:
        """Say that the server is no longer ready for new clients, while it goes on serving."""
        self._ending.set()

    def close(self) -> None:
        """Stop: end watches, close plugins and, if it is the server's own, the store; idempotent."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._ending.set()
        if self._encryption is not None:
            self._encryption.close()
        self._bootstrap.close()
        for part in (self._presence, self._flows, self._registrations, self._definitions):
            if part is not None:
                part.close()
        self.informers.stop()
        self._authorizers.close()
        for host in reversed(self._hosts):
            host.close()
        for cache in (self.cache, *self._other_caches):
            cache.close()
        if self._audit is not None:
            self._audit.close()
        if self._owns_store:
            self._store.close()
