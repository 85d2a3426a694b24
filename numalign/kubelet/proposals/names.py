"""Names of what was only proposed, for readers of flags who do not load the proposals themselves."""

FEEDBACK_POLICIES = ("preferred", "strict", "proposed-strict")
"""Policies of "Topology Manager Feedback, round 2" that no kubelet offers (docs/rules/topology-manager.md 14)."""
