"""How rooms, seats and tables of the picture of a machine look, and its key."""

from __future__ import annotations

WALL = 'fill="#fbf8f1" stroke="#4a4a4a" stroke-width="3"'
BARE = 'fill="#f3f3f3" stroke="#4a4a4a" stroke-width="3" stroke-dasharray="10 4"'
SOCKET = 'fill="#eef2f7" stroke="#9aa7b8" stroke-width="1.5" rx="8"'
CACHE = 'fill="#ffffff" stroke="#c3b99b" stroke-width="1" rx="4"'
TABLE = 'fill="#e7dfc8" stroke="#b5a67a" stroke-width="0.8" rx="3"'
SEATS = {
    "usable": 'fill="#d3ead9" stroke="#3b7d4f" stroke-width="1" rx="3"',
    "barred": 'fill="url(#dots)" stroke="#a86f12" stroke-width="1" rx="0"',
    "offline": 'fill="url(#hatch)" stroke="#8a8a8a" stroke-width="1" stroke-dasharray="3 2" rx="0"',
    "unseen": 'fill="#ffffff" stroke="#7a4fa3" stroke-width="1.5" stroke-dasharray="1 2" rx="7"',
}
KEY = {
    "usable": "CPU",
    "barred": "CPU this process may not use",
    "offline": "CPU that is offline",
    "unseen": "CPU that the kubelet does not see",
    "resource": "device of a device plugin",
    "guessed": "device with NUMA node from /sys, not from the device plugin",
    "loose": "device without NUMA node",
    "plain": "other PCI device",
}
