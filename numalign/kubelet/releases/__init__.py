"""What each release of the kubelet changed; each change is a typed function on the `Kubelet` before it.

Which releases there are stands here, so that words about them load none.
"""

OLDEST: tuple[int, int] = (1, 16)
"""The Topology Manager's first, as alpha."""
EXACT: tuple[int, int] = (1, 32)
"""From here on decisions were recorded: these releases are exact."""
NEWEST: tuple[int, int] = (1, 36)
"""The last release that was recorded, which decides where nobody asks for another."""
PUBLISHED: tuple[int, int] = (1, 37)
"""The last release that is known. Those after `NEWEST` are known from published changes alone."""
NEWEST_TEXT = f"{NEWEST[0]}.{NEWEST[1]}"
