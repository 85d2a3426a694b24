"""KAI Scheduler's `numa` plugin, a second scheduler that predicts the kubelet (docs/rules/scheduling.md 10)."""
