"""The labels by which a Job finds its pods.

Source: kubernetes pkg/apis/batch/types.go.
"""

from __future__ import annotations

CONTROLLER_UID = "batch.kubernetes.io/controller-uid"
JOB_NAME = "batch.kubernetes.io/job-name"
LEGACY_CONTROLLER_UID = "controller-uid"
LEGACY_JOB_NAME = "job-name"
