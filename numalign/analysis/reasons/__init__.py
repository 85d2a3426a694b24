"""Why a pod is refused and why a change is needed, as values: what is told, in which order, each once. No words."""
