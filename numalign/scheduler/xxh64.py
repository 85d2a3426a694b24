"""XXH64, the 64-bit hash of fingerprints and placements (docs/rules/scheduling.md 3.4, 9).

The algorithm is short and frozen, so it stands here instead of a compiled package that every node would have to carry.
"""

from __future__ import annotations

_MASK = (1 << 64) - 1
_P1 = 0x9E3779B185EBCA87
_P2 = 0xC2B2AE3D27D4EB4F
_P3 = 0x165667B19E3779F9
_P4 = 0x85EBCA77C2B2AE63
_P5 = 0x27D4EB2F165667C5


def xxh64(data: bytes, seed: int = 0) -> int:
    """Hash bytes to an unsigned 64-bit number."""
    length = len(data)
    at = 0
    if length >= 32:
        lanes = [(seed + _P1 + _P2) & _MASK, (seed + _P2) & _MASK, seed, (seed - _P1) & _MASK]
        while at + 32 <= length:
            for lane in range(4):
                word = int.from_bytes(data[at + 8 * lane : at + 8 * lane + 8], "little")
                lanes[lane] = _round(lanes[lane], word)
            at += 32
        value = sum(_rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True)) & _MASK
        for lane in lanes:
            value = ((value ^ _round(0, lane)) * _P1 + _P4) & _MASK
    else:
        value = (seed + _P5) & _MASK
    value = _tail((value + length) & _MASK, data[at:])
    value = ((value ^ value >> 33) * _P2) & _MASK
    value = ((value ^ value >> 29) * _P3) & _MASK
    return value ^ value >> 32


def _tail(value: int, data: bytes) -> int:
    """Mix in the last, at most 31 bytes: by eight, by four, one by one."""
    at = 0
    while at + 8 <= len(data):
        value ^= _round(0, int.from_bytes(data[at : at + 8], "little"))
        value = (_rotate(value, 27) * _P1 + _P4) & _MASK
        at += 8
    if at + 4 <= len(data):
        value ^= int.from_bytes(data[at : at + 4], "little") * _P1 & _MASK
        value = (_rotate(value, 23) * _P2 + _P3) & _MASK
        at += 4
    for byte in data[at:]:
        value = _rotate(value ^ byte * _P5 & _MASK, 11) * _P1 & _MASK
    return value


def _round(lane: int, word: int) -> int:
    return _rotate((lane + word * _P2) & _MASK, 31) * _P1 & _MASK


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & _MASK
