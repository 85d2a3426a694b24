"""Tar archives, member after member, within bounds: ustar, GNU and pax headers, sparse files of both kinds.

This is a reader of its own because an archive may be hostile. Python's differs from release to release in what it
bounds, recurses from header to header, and takes quadratic time for some. Here each header costs a bounded amount of
time and memory whatever it says, nothing is unpacked to disk, and `TarError` is the only error of a broken archive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal

from numalign.sources.tree.tar_fields import (
    MAX_DIGITS,
    TarError,
    decimal,
    decoded,
    number,
    pax_records,
    sum_is_right,
    text,
)
from numalign.sources.tree.unpack import Stream
from numalign.values import NamedTuple

BLOCK: Final = 512
"""Bytes of a header, and what contents are filled up to."""
MAX_NAME: Final = 1 << 16
"""Longest name or link target in bytes; Linux itself takes 4096."""
MAX_EXTENDED: Final = 1 << 20
"""Largest pax header of one member in bytes."""
MAX_RECORDS: Final = 2_000_000
"""Most pax records of an archive: four for each of the most members there may be."""
MAX_HEADERS: Final = 1_200_000
"""Most headers of an archive, those included that say more about the next."""
MAX_CHAIN: Final = 16
"""Most headers that say more about one member; writers need three."""
MAX_PIECES: Final = 10_000
"""Most pieces of a sparse file."""

_ZERO: Final = bytes(BLOCK)


class Piece(NamedTuple):
    """A piece of a sparse file that is in the archive."""

    offset: int
    size: int


MemberKind = Literal["file", "folder", "link", "hard link", "device", "pipe"]


class Member(NamedTuple):
    """One member."""

    name: str
    """As it is written; bytes that are no UTF-8 are kept as surrogates."""
    kind: MemberKind
    target: str
    """What a link leads to."""
    size: int
    """The content's size in bytes, zeros of a sparse file included."""


class TarReader:
    """The members of an archive, in order; the content of one can be had before the next is asked for."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._left = 0
        """Bytes in the archive before the next header."""
        self._stored = 0
        """Bytes of the current member's content that are in the archive."""
        self._size = 0
        self._pieces: list[Piece] | None = None
        self._global: dict[bytes, bytes] = {}
        self._records = 0
        self._headers = 0

    def __iter__(self) -> Iterator[Member]:
        """Yield the members.

        Raises:
            TarError: the archive is cut off, damaged, or asks for more than the bounds.
            InputError, EOFError, and those of the decoders: as `Stream`.
        """
        while (block := self._header()) is not None:
            member = self._member(block)
            if member is not None:
                yield member
        self._stream.finish()

    def content(self) -> bytes:
        """Return the content of the member that came last, once."""
        if not self._size:
            return b""
        data = self._exactly(self._stored)
        self._stored = 0
        if self._pieces is None:
            return data
        whole = bytearray(self._size)
        at = 0
        for offset, size in self._pieces:
            whole[offset : offset + size] = data[at : at + size]
            at += size
        return bytes(whole)

    def _exactly(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._left -= size
        if len(data) < size:
            raise TarError("it is cut off")
        return data

    def _header(self) -> bytes | None:
        """Return the next header; None: the end mark."""
        if self._left and not self._stream.skip(self._left):
            raise TarError("it is cut off")
        self._left = self._stored = 0
        self._pieces = None
        block = self._stream.read(BLOCK)
        if block == _ZERO:
            return None
        if len(block) < BLOCK:
            raise TarError("it ends without an end mark: it is cut off" if not block else "it is cut off")
        self._headers += 1
        if self._headers > MAX_HEADERS:
            raise TarError(f"it has more than {MAX_HEADERS} headers")
        if not sum_is_right(block):
            raise TarError("a header is damaged")
        return block

    def _member(self, block: bytes) -> Member | None:
        """Read a member's headers from the first on; None: something that is no file of the tree."""
        extended = self._global
        name = target = None
        for _ in range(MAX_CHAIN):
            kind = block[156:157]
            if kind == b"L":
                name = self._long_name(block)
            elif kind == b"K":
                target = self._long_name(block)
            elif kind in (b"x", b"X"):
                extended = extended | self._pax(block)
            elif kind == b"g":
                self._global.update(self._pax(block))
                extended = self._global | extended
            else:
                return self._final(block, extended, name, target)
            following = self._header()
            if following is None:
                raise TarError("it is cut off")
            block = following
        raise TarError(f"a member has more than {MAX_CHAIN} headers")

    def _final(self, block: bytes, pax: dict[bytes, bytes], name: bytes | None, target: bytes | None) -> Member | None:
        """Read the header that the others were about."""
        flag = block[156:157]
        kind: MemberKind | Literal["sparse", "other"] = _KINDS.get(flag) or ("other" if flag.isupper() else "file")
        if name is None:
            name = text(block[:100])
            if block[345] and block[257:263] == b"ustar\0":
                name = text(block[345:500]) + b"/" + name
        if kind == "file" and name.endswith(b"/") and flag in (b"\0", b"0"):
            kind = "folder"  # as the oldest archives write it
        if target is None:
            target = text(block[157:257]) if block[157] else b""
        if pax:
            name, target = pax.get(b"path", name), pax.get(b"linkpath", target)
            if len(name) > MAX_NAME or len(target) > MAX_NAME or b"\0" in name + target:
                raise TarError("a name in it is no name")
        size = decimal(pax[b"size"]) if b"size" in pax else number(block[124:136])
        self._left = self._stored = self._size = size if kind in ("file", "sparse", "other") else 0
        self._left += -self._left % BLOCK
        if kind == "sparse":
            self._old_sparse(block)
        elif pax and kind == "file" and any(key.startswith(b"GNU.sparse.") for key in pax):
            name = self._pax_sparse(pax, name)
        if kind == "other":
            return None
        shown = "file" if kind == "sparse" else kind
        return Member(decoded(name), shown, decoded(target), self._size)

    def _long_name(self, block: bytes) -> bytes:
        return text(self._extension(block, MAX_NAME, "name"))

    def _extension(self, block: bytes, most: int, what: str) -> bytes:
        size = number(block[124:136])
        if size > most:
            raise TarError(f"a {what} in it has {size} bytes, more than {most >> 10} KiB")
        self._left = size + -size % BLOCK
        return self._exactly(size)

    def _pax(self, block: bytes) -> dict[bytes, bytes]:
        """Read a pax header; repeated keys of sparse files are joined as the newer form writes them."""
        result: dict[bytes, bytes] = {}
        numbers: list[bytes] = []
        for key, value in pax_records(self._extension(block, MAX_EXTENDED, "pax header")):
            self._records += 1
            if self._records > MAX_RECORDS:
                raise TarError(f"its pax headers have more than {MAX_RECORDS} records")
            if key in (b"GNU.sparse.offset", b"GNU.sparse.numbytes"):
                numbers.append(value)
            else:
                result[key] = value
        if numbers:
            result[b"GNU.sparse.map"] = b",".join(numbers)
        return result

    # Sparse files

    def _old_sparse(self, block: bytes) -> None:
        """Read the map of GNU's own headers: four pieces in the header, 21 in each block that follows."""
        pairs, count, more = block[386:482], 4, block[482]
        size = number(block[483:495])
        pieces: list[Piece] = []
        while True:
            pieces += [
                Piece(number(pairs[start : start + 12]), number(pairs[start + 12 : start + 24]))
                for start in range(0, count * 24, 24)
                if pairs[start]
            ]
            if not more:
                break
            if len(pieces) > MAX_PIECES:
                raise TarError(f"a sparse file in it has more than {MAX_PIECES} pieces")
            pairs = self._stream.read(BLOCK)
            if len(pairs) < BLOCK:
                raise TarError("it is cut off")
            count, more = 21, pairs[504]
        self._lay_out(size, pieces)

    def _pax_sparse(self, pax: dict[bytes, bytes], name: bytes) -> bytes:
        """Read the map of the pax forms 0.0, 0.1 and 1.0; returns the file's real name."""
        size = decimal(pax.get(b"GNU.sparse.realsize", pax.get(b"GNU.sparse.size", b"")))
        if b"GNU.sparse.map" in pax:
            texts = pax[b"GNU.sparse.map"].split(b",", 2 * MAX_PIECES)
        elif pax.get(b"GNU.sparse.major") == b"1" and pax.get(b"GNU.sparse.minor") == b"0":
            texts = self._map_before_content()
        else:
            raise TarError("a sparse file in it is of no known form")
        numbers = [decimal(text) for text in texts]
        if len(numbers) % 2:
            raise TarError("the map of a sparse file in it is damaged")
        self._lay_out(size, [Piece(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)])
        return pax.get(b"GNU.sparse.name", name)

    def _map_before_content(self) -> list[bytes]:
        """Read the map that stands before the content, a number a line, in whole blocks."""
        lines: list[bytes] = []
        rest, count = b"", None
        while count is None or len(lines) < count:
            if self._stored < BLOCK or len(rest) > MAX_DIGITS:
                raise TarError("the map of a sparse file in it is damaged")
            self._stored -= BLOCK
            *found, rest = (rest + self._exactly(BLOCK)).split(b"\n")
            lines += found
            if count is None and lines:
                count = 1 + 2 * decimal(lines[0])
                if count > 2 * MAX_PIECES:
                    raise TarError(f"a sparse file in it has more than {MAX_PIECES} pieces")
        return lines[1:count]

    def _lay_out(self, size: int, pieces: list[Piece]) -> None:
        """Check that the pieces follow each other inside the file and are what the archive holds."""
        end = 0
        for offset, length in pieces:
            if offset < end or offset + length > size:
                raise TarError("the map of a sparse file in it is damaged")
            end = offset + length
        if sum(piece.size for piece in pieces) != self._stored:
            raise TarError("the map of a sparse file in it is damaged")
        self._size, self._pieces = size, pieces


_KINDS: Final[Mapping[bytes, MemberKind | Literal["sparse"]]] = {
    b"1": "hard link",
    b"2": "link",
    b"3": "device",
    b"4": "device",
    b"5": "folder",
    b"6": "pipe",
    b"7": "file",
    b"S": "sparse",
}
"""Type flag -> kind. Others that are upper case belong to some writer and are passed over; the rest are files."""
