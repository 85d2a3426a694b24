"""Family `resize`: like `e2e`, with running pods that ask for other amounts."""

from tests.conformance.families.restart import decide, expect

__all__ = ["decide", "expect"]
