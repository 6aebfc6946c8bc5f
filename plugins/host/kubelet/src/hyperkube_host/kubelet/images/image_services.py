"""Puts the image manager together: how images are pulled, who may use them, and where credentials come from.

Source: kubernetes ``pkg/kubelet/kubelet.go`` (NewMainKubelet), ``pkg/kubelet/kuberuntime/kuberuntime_manager.go``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from hyperkube_host.kubelet.credentialprovider.docker_config import NodeFiles
from hyperkube_host.kubelet.credentialprovider.keyring import TrackedCredentials
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.images.image_manager import ImageManager, NodeKeyring
from hyperkube_host.kubelet.images.puller import ImagePuller, PullOptions
from hyperkube_host.kubelet.images.pullmanager.image_pull_manager import ImagePullManager
from hyperkube_host.kubelet.images.pullmanager.policy import ImagePullPolicyEnforcer
from hyperkube_host.kubelet.images.pullmanager.records import PullRecords
from hyperkube_host.kubelet.objects.object_cache import ObjectCache
from hyperkube_host.kubelet.objects.token_manager import TokenManager
from hyperkube_host.kubelet.options import ImageOptions

from hyperkube.hookspecs.runtime import Runtime, RuntimeFailed
from hyperkube.kinds.resources import SERVICE_ACCOUNTS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

TOKEN_SECONDS = 3600


def build_image_manager(
    options: ImageOptions,
    root: Path,
    runtime: Runtime,
    clock: Clock,
    pulls: ImagePullManager | None,
    recorder: KubeletEventRecorder,
    objects: ObjectCache,
    tokens: TokenManager,
) -> ImageManager:
    """Return the image manager of a kubelet whose folder is `root`.

    Raises:
        UsageError: the configuration of credential providers cannot be used.
    """
    pull = PullOptions(
        serialize=options.serialize, max_parallel=options.max_parallel, qps=options.qps, burst=options.burst
    )
    return ImageManager(
        runtime,
        clock,
        recorder,
        ImagePuller(pull, clock),
        pulls,
        objects.secret,
        _node_keyring(options, root, clock, objects, tokens),
    )


def build_pull_manager(options: ImageOptions, root: Path, runtime: Runtime, clock: Clock) -> ImagePullManager | None:
    """Return what keeps the records of pulls; None when no pod has to show that it could have pulled an image.

    Raises:
        UsageError: the policy of verification cannot be used.
    """
    if not options.verifies:
        return None
    policy = ImagePullPolicyEnforcer(options.verification_policy, options.verification_allowlist)
    pulls = ImagePullManager(PullRecords(root), policy, clock)
    try:
        pulls.initialize(runtime.images)
    except RuntimeFailed:
        # The runtime is not there yet: what an earlier kubelet began to pull counts as being pulled until it is.
        pulls = ImagePullManager(PullRecords(root), policy, clock)
    return pulls


def _node_keyring(
    options: ImageOptions, root: Path, clock: Clock, objects: ObjectCache, tokens: TokenManager
) -> NodeKeyring:
    files = NodeFiles(root, clock)
    if not options.provider_config:
        return lambda image, _pod: files.lookup(image)
    from hyperkube_host.kubelet.credentialprovider.exec_plugin import ExecPlugin, ServiceAccounts, run_plugin
    from hyperkube_host.kubelet.credentialprovider.provider_config import read_providers

    folder = Path(options.provider_bin_dir)
    if not folder.is_dir():
        raise UsageError(f"--image-credential-provider-bin-dir: plugin binary directory {str(folder)!r} did not exist")
    accounts = ServiceAccounts(
        partial(objects.get, SERVICE_ACCOUNTS),
        lambda pod, audience: str(tokens.token(pod, audience, TOKEN_SECONDS)["token"]),
    )
    programs = []
    for provider in read_providers(Path(options.provider_config)):
        path = folder / provider.name
        if not os.access(path, os.X_OK):
            raise UsageError(f"--image-credential-provider-config: plugin binary executable {path} did not exist")
        programs.append(ExecPlugin(provider, clock, accounts, partial(run_plugin, provider, folder)))

    def lookup(image: str, pod: Object) -> Sequence[TrackedCredentials]:
        return [*files.lookup(image), *(found for program in programs for found in program.lookup(image, pod))]

    return lookup
