"""The tar reader: what every writer writes is read, what is broken or hostile is one error within narrow bounds."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import lzma
import subprocess
import sys
import tarfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.errors import InputError
from numalign.sources.tree import tar, unpack
from numalign.sources.tree.archive import ArchiveTree
from numalign.sources.tree.tar import Member, TarReader
from numalign.sources.tree.tar_fields import TarError
from numalign.sources.tree.unpack import Stream
from tests.cli.running import ROOT

END = bytes(1024)


def header(name: bytes = b"sys/f", kind: bytes = b"0", size: int | bytes = 0, **fields: bytes) -> bytes:
    """Make one ustar header with a right checksum; `at_N` puts bytes at offset N."""
    block = bytearray(512)
    block[: len(name)] = name
    block[100:108] = b"0000644\0"
    block[124:136] = size if isinstance(size, bytes) else b"%011o\0" % size
    block[156:157] = kind
    block[257:265] = b"ustar\00000"
    for field, value in fields.items():
        at = int(field.removeprefix("at_"))
        block[at : at + len(value)] = value
    block[148:156] = b"        "
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 512)


def extension(kind: bytes, data: bytes) -> bytes:
    return header(b"././@LongLink", kind, len(data)) + padded(data)


def record(key: str, value: str) -> bytes:
    text = f" {key}={value}\n".encode()
    length = len(text)
    while len(str(length)) + len(text) != length:
        length = len(str(length)) + len(text)
    return str(length).encode() + text


def read(data: bytes) -> list[tuple[Member, bytes]]:
    reader = TarReader(Stream(io.BytesIO(data), "m.tar"))
    return [(member, reader.content() if member.kind == "file" else b"") for member in reader]


def member(name: str, kind: str = "file", target: str = "", size: int = 0) -> Member:
    return Member(name, kind, target, size)


SPARSE_01 = record("GNU.sparse.size", "8") + record("GNU.sparse.map", "2,1,6,2")
SPARSE_00 = b"".join(
    record(f"GNU.sparse.{key}", value)
    for key, value in [("size", "8"), ("offset", "2"), ("numbytes", "1"), ("offset", "6"), ("numbytes", "2")]
)
SPARSE_10 = b"".join(
    record(f"GNU.sparse.{key}", value)
    for key, value in [("major", "1"), ("minor", "0"), ("name", "real"), ("realsize", "8")]
)
PIECES = b"%011o\0%011o\0%011o\0%011o\0" % (2, 1, 6, 2)
READ = [
    ("a file", header(size=3) + padded(b"abc"), (member("sys/f", size=3), b"abc")),
    ("an old header without type or magic", header(kind=b"\0", at_257=bytes(8)), (member("sys/f"), b"")),
    ("an old folder by its slash", header(b"sys/", b"\0"), (member("sys/", "folder"), b"")),
    ("a folder that tells a size", header(b"sys", b"5", 700), (member("sys", "folder"), b"")),
    ("a link", header(kind=b"2", at_157=b"../x"), (member("sys/f", "link", "../x"), b"")),
    ("a hard link", header(kind=b"1", at_157=b"sys/g"), (member("sys/f", "hard link", "sys/g"), b"")),
    ("a device", header(kind=b"3"), (member("sys/f", "device"), b"")),
    ("a pipe", header(kind=b"6"), (member("sys/f", "pipe"), b"")),
    ("a prefix", header(b"f", at_345=b"sys/devices"), (member("sys/devices/f"), b"")),
    ("times where others have a prefix", header(b"f", at_257=b"ustar  \0", at_345=b"1234"), (member("f"), b"")),
    (
        "a binary size",
        header(size=b"\x80" + (3).to_bytes(11, "big")) + padded(b"abc"),
        (member("sys/f", size=3), b"abc"),
    ),
    ("a size in spaces", header(size=b"         3 \0") + padded(b"abc"), (member("sys/f", size=3), b"abc")),
    ("a name that is no UTF-8", header(b"sys/\xff"), (member("sys/\udcff"), b"")),
    ("a long name", extension(b"L", b"n" * 300 + b"\0") + header(), (member("n" * 300), b"")),
    (
        "a long name and a long target",
        extension(b"K", b"t" * 300 + b"\0") + extension(b"L", b"n" * 300) + header(kind=b"2"),
        (member("n" * 300, "link", "t" * 300), b""),
    ),
    (
        "pax names",
        extension(b"x", record("path", "é" * 90) + record("linkpath", "t")) + header(kind=b"2"),
        (member("é" * 90, "link", "t"), b""),
    ),
    (
        "a pax size",
        extension(b"x", record("size", "3") + record("mtime", "1.5")) + header() + padded(b"abc"),
        (member("sys/f", size=3), b"abc"),
    ),
    ("pax for all", extension(b"g", record("comment", "x")) + header(), (member("sys/f"), b"")),
    ("a volume label before it", header(b"label", b"V") + header(), (member("sys/f"), b"")),
    (
        "a writer's own header with content",
        header(b"acl", b"A", 600) + padded(b"x" * 600) + header(),
        (member("sys/f"), b""),
    ),
    (
        "a sparse file of GNU",
        header(kind=b"S", size=3, at_386=PIECES, at_483=b"%011o\0" % 8) + padded(b"abc"),
        (member("sys/f", size=8), b"\0\0a\0\0\0bc"),
    ),
    (
        "a sparse file with more of its map behind the header",
        header(kind=b"S", size=3, at_482=b"\1", at_483=b"%011o\0" % 8) + padded(PIECES) + padded(b"abc"),
        (member("sys/f", size=8), b"\0\0a\0\0\0bc"),
    ),
    (
        "a sparse file of pax 0.0",
        extension(b"x", SPARSE_00) + header(size=3) + padded(b"abc"),
        (member("sys/f", size=8), b"\0\0a\0\0\0bc"),
    ),
    (
        "a sparse file of pax 0.1",
        extension(b"x", SPARSE_01) + header(size=3) + padded(b"abc"),
        (member("sys/f", size=8), b"\0\0a\0\0\0bc"),
    ),
    (
        "a sparse file of pax 1.0",
        extension(b"x", SPARSE_10) + header(size=515) + padded(b"2\n2\n1\n6\n2\n") + padded(b"abc"),
        (member("real", size=8), b"\0\0a\0\0\0bc"),
    ),
]


@pytest.mark.parametrize(("data", "expected"), [case[1:] for case in READ], ids=[case[0] for case in READ])
def test_what_writers_write_is_read(data: bytes, expected: tuple[Member, bytes]) -> None:
    last = (member("sys/last", size=4), b"last")
    assert read(data + header(b"sys/last", size=4) + padded(b"last") + END) == [expected, last]


def test_signed_checksums_of_old_writers_count() -> None:
    block = bytearray(header(b"sys/\xe9\xe9"))
    block[148:156] = b"        "
    block[148:156] = b"%06o\0 " % sum(byte - 256 if byte > 127 else byte for byte in block)
    assert read(bytes(block) + END) == [(member("sys/\udce9\udce9"), b"")]


FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=140),
            st.sampled_from([tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE]),
            st.binary(max_size=1100),
        ),
        max_size=4,
    ),
    st.sampled_from(["gnu", "pax"]),
)
def test_archives_of_python_are_read_as_written(members: list[tuple[str, bytes, bytes]], form: str) -> None:
    buffer = io.BytesIO()
    expected = []
    with tarfile.open(fileobj=buffer, mode="w", format=FORMATS[form]) as archive:
        for name, kind, data in members:
            info = tarfile.TarInfo(name)
            info.type = kind
            content = data if kind == tarfile.REGTYPE else b""
            info.size = len(content)
            info.linkname = name[::-1] if kind == tarfile.SYMTYPE else ""
            archive.addfile(info, io.BytesIO(content))
            shown = {tarfile.REGTYPE: "file", tarfile.DIRTYPE: "folder", tarfile.SYMTYPE: "link"}[kind]
            written = name + "/" if shown == "folder" and len(name) > 100 else name
            expected.append((written.rstrip("/"), shown, info.linkname, content))
    found = [(entry.name.rstrip("/"), entry.kind, entry.target, content) for entry, content in read(buffer.getvalue())]
    assert found == expected


NINES = b"9" * 105_000
BROKEN = [
    ("nothing", b""),
    ("text", b"hello" * 200),
    ("no end mark", header()),
    ("a cut header", header()[:300]),
    ("a cut content", header(size=900) + b"x" * 600),
    ("a cut extended header", header(kind=b"x", size=2000) + b"x" * 600),
    ("an extended header and then the end", extension(b"x", record("path", "y")) + END),
    ("an extended header and then nothing", extension(b"L", b"name")),
    ("a damaged sum", header()[:148] + b"0000000\0" + header()[156:] + END),
    ("a size that is no number", header(size=b"0000_0000_1\0") + END),
    ("a size with a digit too high", header(size=b"00000000009\0") + END),
    ("a negative size", header(size=b"\xff" * 12) + END),
    ("a size of 2^90", header(size=b"\x80" + b"\xff" * 11) + END),
    ("a pax size of thousands of digits", extension(b"x", record("size", "9" * 5000)) + header() + END),
    ("a pax size that is none", extension(b"x", record("size", "-1")) + header() + END),
    ("a pax header of digits", extension(b"x", NINES) + header() + END),
    ("a pax header of digits for all", extension(b"g", NINES) + header() + END),
    ("a pax header without an equals sign", extension(b"x", b"6 abc\n") + header() + END),
    ("a pax record of length nought", extension(b"x", b"0 a=b\n") + header() + END),
    ("a pax record longer than the header", extension(b"x", b"999 a=b\n") + header() + END),
    ("a pax record without its end", extension(b"x", b"6 a=bc") + header() + END),
    ("a pax name with a NUL", extension(b"x", record("path", "a\0b")) + header() + END),
    ("a pax name too long", extension(b"x", record("path", "a" * 70_000)) + header() + END),
    ("a long name of 900 MiB", header(kind=b"L", size=900 << 20) + bytes(4096)),
    ("a long target of 900 MiB", header(kind=b"K", size=900 << 20) + bytes(4096)),
    ("a pax header of 900 MiB", header(kind=b"x", size=900 << 20) + bytes(4096)),
    ("3,000 long names in a row", extension(b"L", b"n") * 3000 + header() + END),
    ("3,000 pax headers in a row", extension(b"x", record("path", "n")) * 3000 + header() + END),
    ("3,000 pax headers for all in a row", extension(b"g", record("path", "n")) * 3000 + header() + END),
    ("a sparse header cut off", header(kind=b"S", at_482=b"\1") + b"0" * 100),
    ("a sparse header without end", header(kind=b"S", at_482=b"\1") + (PIECES + bytes(408) + b"\1" + bytes(7)) * 9000),
    ("a sparse file of other forms", extension(b"x", record("GNU.sparse.size", "8")) + header() + END),
    ("a sparse map of one number", extension(b"x", SPARSE_01.replace(b"2,1,6,2", b"2,1,6,x")) + header() + END),
    (
        "a sparse map beyond the file",
        extension(b"x", SPARSE_01.replace(b"2,1,6,2", b"2,1,7,2")) + header(size=3) + padded(b"abc") + END,
    ),
    (
        "a sparse map that goes back",
        extension(b"x", SPARSE_01.replace(b"2,1,6,2", b"6,2,2,1")) + header(size=3) + padded(b"abc") + END,
    ),
    ("a sparse map for less than there is", extension(b"x", SPARSE_01) + header(size=9) + padded(b"abc") + END),
    ("a sparse map before nothing", extension(b"x", SPARSE_10) + header(size=3) + padded(b"1\n") + END),
    ("a sparse map of millions", extension(b"x", SPARSE_10) + header(size=512) + padded(b"99999999\n") + END),
    ("a sparse map of digits", extension(b"x", SPARSE_10) + header(size=5120) + b"9" * 5120 + END),
]


@pytest.mark.parametrize("data", [case[1] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_what_is_broken_or_hostile_is_one_error_and_takes_little(data: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(TarError):
            read(data)
        assert tracemalloc.get_traced_memory()[1] < len(data) + (8 << 20)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", [b".", b"./", b"/", b"", b"././."])
@pytest.mark.parametrize("kind", [b"0", b"2", b"5"])
def test_a_member_that_is_the_tree_itself_is_passed_over(name: bytes, kind: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.tar"
    path.write_bytes(header(name, kind) + header(b"./sys/f") + END)
    assert ArchiveTree(str(path)).names("") == ["sys"]


def test_a_huge_sparse_file_is_refused_before_it_is_laid_out(tmp_path: Path) -> None:
    path = tmp_path / "m.tar"
    huge = extension(b"x", record("GNU.sparse.size", str(1 << 60)) + record("GNU.sparse.map", "0,0"))
    path.write_bytes(huge + header() + END)
    with pytest.raises(InputError, match="'sys/f' is too large"):
        ArchiveTree(str(path))


@pytest.mark.parametrize("end", [b"", b"\0\0\0\0", b"\0" * 5000, b"a signature"], ids=repr)
@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress], ids=["gzip", "bzip2", "xz"])
def test_streams_one_after_the_other_are_one(compress: Callable[[bytes], bytes], end: bytes) -> None:
    data = header(size=600) + padded(b"x" * 600) + END
    packed = b"".join(compress(data[at : at + 700]) + b"\0" * 4 for at in range(0, len(data), 700))
    assert read(packed + end) == [(member("sys/f", size=600), b"x" * 600)]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress], ids=["gzip", "bzip2", "xz"])
def test_a_compressed_archive_cut_anywhere_is_an_error(compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    packed = compress(header(b"sys/f", size=3000) + padded(bytes(range(250)) * 12) + END)
    path = tmp_path / "m.tar"
    for length in range(1, len(packed)):
        path.write_bytes(packed[:length])
        with pytest.raises(InputError):
            ArchiveTree(str(path))


def test_a_flipped_bit_is_seen_by_the_checksum_at_the_end(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(header(b"sys/f", size=3000) + padded(bytes(range(250)) * 12) + END, 0))
    packed[1500] ^= 1
    path = tmp_path / "m.tar"
    path.write_bytes(packed)
    with pytest.raises(InputError, match="is not a readable tar archive"):
        ArchiveTree(str(path))


def test_bounds_of_compressed_files_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    data = header() + END
    monkeypatch.setattr(unpack, "MAX_STREAMS", 2)
    with pytest.raises(InputError, match="more than 2 compressed streams"):
        read(b"".join(gzip.compress(data[at : at + 400]) for at in range(0, len(data), 400)))
    monkeypatch.setattr(unpack, "MAX_PACKED", 1 << 20)
    monkeypatch.setattr(unpack, "CHUNK_BYTES", 4096)
    noise = Random(0).randbytes(1 << 21)
    with pytest.raises(InputError, match="larger than 1 MiB, compressed"):
        read(gzip.compress(header(size=len(noise)) + noise + END, 0))


def test_a_decoder_that_wants_too_much_memory_is_refused() -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30, "preset": 0}]
    packed = bytearray(lzma.compress(header() + END, filters=filters))
    with pytest.raises(lzma.LZMAError, match="limit"):
        read(bytes(packed))


def test_bounds_of_headers_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tar, "MAX_HEADERS", 5)
    with pytest.raises(TarError, match="more than 5 headers"):
        read(header() * 6 + END)
    monkeypatch.setattr(tar, "MAX_RECORDS", 3)
    with pytest.raises(TarError, match="more than 3 records"):
        read(extension(b"x", record("a", "b") * 4) + header() + END)


@pytest.mark.parametrize("data", [b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf"], ids=["zip", "zstd", "7z"])
def test_what_is_not_read_is_named(data: bytes) -> None:
    with pytest.raises(InputError, match="; fix: "):
        read(data + bytes(600))


MEASURED = """
import sys
from numalign.errors import InputError
from numalign.sources.tree.archive import ArchiveTree
try:
    ArchiveTree(sys.argv[1])
except InputError as error:
    print(error)
(peak,) = [int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:")]
assert peak < 100 << 10, peak
"""


MUCH = 128 << 20
QUICK_XZ = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 8 << 20}]
"""Packs quickly what takes as much memory to unpack as what `xz` packs."""


MUCH_BZIP2 = base64.b85decode(
    b"LRx4!F+o`-Q&|oP;@<&Zjz9pw000Oe05E_}Mna$^sS1FXF+o`-Q&|oP;@<&Zjz9pw000Oe05E_}"
    b"Mna$^sS1FXF+o`-Q(1xYn&SaP=Rg3&000Oe05Hr2DW+6ZLTptP5S}jNig2MJOOL2R"
)
"""`MUCH` zeros: to pack them anew takes longer than all the rest. What is packed in two parts is read as one."""


@pytest.mark.parametrize(
    "compress",
    [
        lambda start: gzip.compress(start + bytes(MUCH), 1),
        lambda start: bz2.compress(start) + MUCH_BZIP2,
        lambda start: lzma.compress(start + bytes(MUCH), filters=QUICK_XZ),
    ],
    ids=["gzip", "bzip2", "xz"],
)
def test_a_header_that_unpacks_to_much_takes_under_100_mib(compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """Measured from outside, since decoders take memory that Python does not see."""
    path = tmp_path / "m.tar"
    path.write_bytes(compress(header(kind=b"L", size=MUCH)))
    done = subprocess.run([sys.executable, "-c", MEASURED, path], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "more than 64 KiB" in done.stdout
