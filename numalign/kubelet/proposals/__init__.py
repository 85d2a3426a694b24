"""What was only ever proposed, as changes of a kubelet; here its names, for readers of flags who load none of it."""

FEEDBACK_POLICIES = ("preferred", "strict", "proposed-strict")
"""Policies of "Topology Manager Feedback, round 2" that no kubelet offers (docs/rules/topology-manager.md 14)."""
