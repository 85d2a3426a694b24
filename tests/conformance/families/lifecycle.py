"""Family `lifecycle`: like `e2e`, with containers that run."""

from tests.conformance.families.e2e import decide

__all__ = ["decide"]
