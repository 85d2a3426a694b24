"""How a manager's call can end badly. These are answers about the pod or the kubelet, not errors of numalign.

`node.admit` turns each of them into a result.
"""

from __future__ import annotations

EMPTY_POD_SHARED_POOL = "EmptyPodSharedPoolError"
"""Reason where nothing of a pod's own resources is left for the containers that share them."""


class AllocationError(Exception):
    """A provider's Allocate failed. Shown as `UnexpectedAdmissionError` unless `reason` names its own kind."""

    def __init__(self, message: str, reason: str = "", left: object = None) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.left = left
        """The provider's state where the failure changed it all the same; None: it did not."""


class KubeletPanicError(Exception):
    """The kubelet would crash in this call; the text is the Go error."""


class KubeletHangError(Exception):
    """The kubelet would never come back from this call; the text says where it loops."""
