"""What each release of the kubelet changed; each change is a typed function on the `Kubelet` before it.

Which releases there are stands here, so that words about them load none.
"""

OLDEST: tuple[int, int] = (1, 16)
"""The Topology Manager's first, as alpha."""
EXACT: tuple[int, int] = (1, 32)
"""From here on decisions were recorded: these releases are exact."""
NEWEST: tuple[int, int] = (1, 36)
"""The last release that is known. A release is known by its changes and this."""
NEWEST_TEXT = f"{NEWEST[0]}.{NEWEST[1]}"
