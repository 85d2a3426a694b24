"""The plain bytes of a file that may be compressed, in exact pieces and within bounds.

A compressed file comes from anywhere: how much it may hold, packed and unpacked, how much memory its decoder may take
and of how many streams it may consist is bounded while it is read.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import BinaryIO, Final, Protocol

from numalign.errors import InputError

MAX_STREAM: Final = 1 << 30
"""Most bytes a file may unpack to: nine times the largest captured machine with its 1792 CPUs."""
MAX_PACKED: Final = 128 << 20
"""Most bytes of a compressed file; the slowest decoder takes some seconds for that."""
MAX_STREAMS: Final = 20_000
"""Most compressed streams one after the other, as parallel compressors write them."""
MAX_MEMORY: Final = 80 << 20
"""Most bytes a decoder may take; xz -9 needs 65 MiB."""
MAX_REST: Final = 1 << 20
"""Most bytes that are unpacked after the end of what is wanted, to see its checksum."""
CHUNK_BYTES: Final = 1 << 16
"""How much is unpacked at once."""

_OTHERS: Final = (
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; fix: unpack it with zstd -d"),
    (b"PK\x03\x04", "a zip archive; fix: pack the folder with tar"),
    (b"\x37\x7a\xbc\xaf", "a 7z archive; fix: pack the folder with tar"),
    (b"\x1f\x9d", "compressed with compress; fix: unpack it with gzip -d"),
)
"""First bytes -> what such a file is."""


class _Decoder(Protocol):
    """What the three decoders have in common; what zlib calls otherwise is made alike by `_Zlib`."""

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether there is nothing left of what it was given."""

    @property
    def unused_data(self) -> bytes:
        """What follows the end of the stream."""

    def decompress(self, data: bytes, /, max_length: int) -> bytes:
        """Take packed bytes and return at most `max_length` plain ones."""


class _Zlib:
    """zlib's decoder for one gzip stream."""

    def __init__(self) -> None:
        self._decoder = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def needs_input(self) -> bool:
        return not self._decoder.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._decoder.decompress(self._decoder.unconsumed_tail + data, max_length)


_KINDS: Final[tuple[tuple[bytes, Callable[[], _Decoder]], ...]] = (
    (b"\xfd7zXZ\0", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_MEMORY)),
    (b"\x1f\x8b", _Zlib),
    (b"BZh", bz2.BZ2Decompressor),
)
"""First bytes -> the decoder."""


class Stream:
    """Plain bytes, one piece after the other. Raises EOFError where a compressed stream is cut off."""

    def __init__(self, raw: BinaryIO, name: str) -> None:
        """Tell by the first bytes how the file is compressed.

        Raises:
            InputError: in a way that is not read.
        """
        self._raw = raw
        self._name = name
        self._packed = raw.read(CHUNK_BYTES)
        for magic, what in _OTHERS:
            if self._packed.startswith(magic):
                raise InputError(f"is {what}", name)
        kinds = [kind for kind in _KINDS if self._packed.startswith(kind[0])]
        self._kind = kinds[0] if kinds else None
        self._decoder: _Decoder | None = None
        self._streams = 1
        self._packed_size = len(self._packed)
        self._size = 0
        self._chunk = b""
        self._at = 0

    def read(self, size: int) -> bytes:
        """Return so many bytes, fewer only at the end."""
        end = self._at + size
        if end <= len(self._chunk):
            piece = self._chunk[self._at : end]
            self._at = end
            return piece
        pieces = [self._chunk[self._at :]]
        missing = size - len(pieces[0])
        self._chunk, self._at = b"", 0
        while missing and self._advance():
            pieces.append(self._chunk[:missing])
            self._at = len(pieces[-1])
            missing -= self._at
        return b"".join(pieces)

    def skip(self, size: int) -> bool:
        """Pass over so many bytes; False: there are fewer."""
        while size > len(self._chunk) - self._at:
            size -= len(self._chunk) - self._at
            self._at = len(self._chunk)
            if not self._advance():
                return False
        self._at += size
        return True

    def finish(self) -> None:
        """Read on to the end of the compressed stream, where its checksum is, if that is near."""
        end = self._size + MAX_REST
        while self._decoder and not self._decoder.eof and self._size < end and self._advance():
            pass

    def _advance(self) -> bool:
        """Put the next bytes into the chunk; False: there are none."""
        chunk = self._decoded(*self._kind) if self._kind else self._taken()
        self._size += len(chunk)
        if self._size > MAX_STREAM:
            raise InputError(f"unpacks to more than {MAX_STREAM >> 20} MiB", self._name)
        self._chunk, self._at = chunk, 0
        return bool(chunk)

    def _decoded(self, magic: bytes, make: Callable[[], _Decoder]) -> bytes:
        """Return the next plain bytes; none at the end of the last compressed stream."""
        decoder = self._decoder or make()
        while True:
            if decoder.eof:
                self._packed = self._next_stream(decoder.unused_data, magic)
                if not self._packed:
                    return b""
                decoder = make()
            self._decoder = decoder
            packed = self._taken() if decoder.needs_input else b""
            if not packed and decoder.needs_input:
                raise EOFError("the compressed file is cut off")
            chunk = decoder.decompress(packed, CHUNK_BYTES)
            if chunk:
                return chunk

    def _next_stream(self, rest: bytes, magic: bytes) -> bytes:
        """Return the beginning of the next compressed stream; zeros may lie before it, and anything after the last."""
        rest = rest.lstrip(b"\0")
        while len(rest) < len(magic):
            more = self._taken()
            if not more:
                return b""
            rest = (rest + more).lstrip(b"\0")
        self._streams += 1
        if self._streams > MAX_STREAMS:
            raise InputError(f"consists of more than {MAX_STREAMS} compressed streams", self._name)
        return rest if rest.startswith(magic) else b""

    def _taken(self) -> bytes:
        """Return the next bytes of the file itself."""
        packed = self._packed
        if packed:
            self._packed = b""
            return packed
        packed = self._raw.read(CHUNK_BYTES)
        self._packed_size += len(packed)
        if self._kind and self._packed_size > MAX_PACKED:
            raise InputError(f"is larger than {MAX_PACKED >> 20} MiB, compressed", self._name)
        return packed
