"""Annotations that mean something to pods, most of them from before there were fields for it."""

from __future__ import annotations

MIRROR = "kubernetes.io/config.mirror"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
CHECKED_ANNOTATIONS = (MIRROR, DELETION_COST, TOLERATIONS, SECCOMP_POD, SECCOMP, APP_ARMOR)
