"""Writing a file whole or not at all: nobody ever finds half of it, and nothing else is damaged on the way.

The new content grows in a temporary file beside the target, is synced, and takes the target's place in one step. A
run that is killed leaves at most that temporary file, which the next run that writes into the same folder removes: a
writer holds a lock on its temporary file for as long as it lives, so a file that can be locked belongs to nobody.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import BinaryIO

from numalign.errors import InputError, Notice
from numalign.store.reading import kind_of
from numalign.values import NamedTuple

_TEMPORARY = re.compile(r"\.numalign-[0-9a-f]{32}\.part")
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_DIRECTORY | os.O_CLOEXEC
_ACCESS_LIST = "system.posix_acl_access"
"""Where Linux keeps a file's access control list; its mode alone would then grant too much."""
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)
"""What a file system says that has no locks; leftovers are then left, since nobody can tell whose they are."""


class _Target(NamedTuple):
    """Where the content goes: links are followed, and the folder is held open, so nobody can exchange it."""

    folder: int
    """Descriptor of the folder."""
    name: str
    """The file's name in it."""
    before: os.stat_result | None
    """The file that is there now; None: none."""


def write_whole(path: str, write: Callable[[BinaryIO], object]) -> tuple[Notice, ...]:
    """Replace a file, or make a new one, with what `write` puts into the binary file it is given.

    Where `path` is a symbolic link, the file it leads to is replaced and the link stays. Mode and access control list
    stay, and the owner where the system lets us keep it.

    Returns:
        what a person should know: other names of the old file that keep its old content, an owner that changed.

    Raises:
        InputError: the target is not a regular file, may not be written, or the content cannot be written.
    """
    with writing_whole(path, write) as notices:
        return notices


@contextmanager
def writing_whole(
    path: str, write: Callable[[BinaryIO], object], check: Callable[[], object] = lambda: None
) -> Iterator[tuple[Notice, ...]]:
    """Do as `write_whole`, with the last step, by which the file takes its place, at the end of the `with` block.

    Inside all is written that can fail for want of space or rights; where the block is left by an exception, the file
    stays as it was. `check` is asked right before the last step, and raises where the file must stay.
    """
    with ExitStack() as stack:
        with _told(path):
            target = stack.enter_context(_opened(path))
            name, file = stack.enter_context(_temporary(target))
            write(file)
            file.flush()
            notices = tuple(_inherit(target, file.fileno(), path))
            os.fsync(file.fileno())
        yield notices
        with _told(path):
            check()
            os.replace(name, target.name, src_dir_fd=target.folder, dst_dir_fd=target.folder)
            _sync(target.folder)


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Say which file it was that the system did not let us write."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EBUSY:
            raise InputError("is a mount point and cannot be replaced; fix: write to a path beside it", path) from None
        raise InputError(f"cannot be written: {error.strerror or error}", path) from None


@contextmanager
def _opened(path: str) -> Iterator[_Target]:
    """Find the regular file that a path means, or the place for a new one.

    Raises:
        InputError: something else than a regular file is there, or one that may not be written.
        OSError: the folder is missing, a link may not be followed, or there are too many links.
    """
    try:
        before = _status(path)
    except ValueError:
        raise InputError("no file can have this name", repr(path)) from None
    if path.endswith(("/", "/.", "/..")) or (before is not None and stat.S_ISDIR(before.st_mode)):
        raise InputError("is a folder; expected the name of a file", path)
    if before is not None and not stat.S_ISREG(before.st_mode):
        raise InputError(f"is a {kind_of(before.st_mode)}; fix: name a regular file", path)
    if before is not None and not os.access(path, os.W_OK, effective_ids=True):
        raise InputError("is write-protected", path)
    head, name = os.path.split(os.path.realpath(path))
    folder = _open_folder(head)
    try:
        if not _same(before, _status(name, folder)):
            raise InputError("cannot be written: it changed during the write, or has no name", path)
        if before is not None and _mount(folder) != _mount_of(name, folder):
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))  # as the last step would say, before any answer is out
        yield _Target(folder, name, before)
    finally:
        os.close(folder)


def _open_folder(path: str) -> int:
    """Open a folder; one that may be written but not listed can be neither searched for leftovers nor synced."""
    try:
        return os.open(path, _FOLDER | os.O_RDONLY)
    except PermissionError:
        return os.open(path, _FOLDER | os.O_PATH)


def _status(path: str, folder: int | None = None) -> os.stat_result | None:
    """Say what is at a path; in an open folder links are not followed."""
    try:
        return os.stat(path, dir_fd=folder, follow_symlinks=folder is None)
    except FileNotFoundError:
        return None


def _mount_of(name: str, folder: int) -> bytes | None:
    handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        return _mount(handle)
    finally:
        os.close(handle)


def _mount(handle: int) -> bytes | None:
    """Name what is mounted where a file or folder is: a file has a mount of its own as a volume of a container."""
    try:
        with open(f"/proc/self/fdinfo/{handle}", "rb") as lines:
            return next((line for line in lines if line.startswith(b"mnt_id:")), None)
    except OSError:
        return None


def _same(one: os.stat_result | None, other: os.stat_result | None) -> bool:
    if one is None or other is None:
        return one is other
    return os.path.samestat(one, other)


@contextmanager
def _temporary(target: _Target) -> Iterator[tuple[str, BinaryIO]]:
    """Make a temporary file in the target's folder, locked, with a name nobody can foresee; it is gone at the end."""
    _remove_leftovers(target.folder)
    name, handle = _create(target)
    try:
        with os.fdopen(handle, "w+b") as file:
            yield name, file
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=target.folder)


def _create(target: _Target) -> tuple[str, int]:
    # A new file gets the mode that the umask leaves; one that replaces another is nobody else's until it has its mode.
    mode = 0o666 if target.before is None else 0o600
    while True:
        name = f".numalign-{secrets.token_hex(16)}.part"
        handle = os.open(name, _NEW, mode, dir_fd=target.folder)
        _lock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return name, handle
        os.close(handle)  # a run that looked for leftovers was quicker than the lock


def _lock(handle: int, how: int) -> bool:
    """Lock a file, or say that somebody else has it; always False where the file system has no locks."""
    try:
        fcntl.flock(handle, how)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return False
    return True


def _remove_leftovers(folder: int) -> None:
    """Remove the temporary files of runs that were killed. That this fails is no reason not to write."""
    try:
        names = [name for name in os.listdir(folder) if _TEMPORARY.fullmatch(name)]
    except OSError:
        return
    for name in names:
        with suppress(OSError):
            handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
            try:
                status = os.fstat(handle)
                ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
                if ours and _lock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB):
                    os.unlink(name, dir_fd=folder)
            finally:
                os.close(handle)


def _inherit(target: _Target, handle: int, path: str) -> Iterator[Notice]:
    """Give the new file what the old one had; yields what could not be kept."""
    before = target.before
    if before is None:
        return
    # As when anybody writes into a file: what made it run with somebody's rights is lost.
    mode = stat.S_IMODE(before.st_mode) & ~(stat.S_ISUID | stat.S_ISGID)
    now = _give(handle, before)
    if now.st_uid != before.st_uid:
        yield Notice("owner-changed", f"changed its owner from user {before.st_uid} to user {now.st_uid}", path)
    access = _access_list(target)
    os.fchmod(handle, mode)
    if now.st_gid != before.st_gid or (access is not None and not _grant(handle, access)):
        # Another group, or one whose limits were in the list, gets what everybody gets.
        os.fchmod(handle, mode & ~stat.S_IRWXG | (mode & stat.S_IRWXO) << 3)
    if before.st_nlink > 1:
        others = before.st_nlink - 1
        text = f"had {others} hard link{'s' * (others > 1)}, which keep the old content"
        yield Notice("hard-links", text, path)


def _give(handle: int, before: os.stat_result) -> os.stat_result:
    """Give the new file its former owner and group, or at least the group; returns who has it then."""
    mine = os.fstat(handle)
    if (mine.st_uid, mine.st_gid) == (before.st_uid, before.st_gid):
        return mine
    for owner in dict.fromkeys((before.st_uid, -1)):
        with suppress(OSError):
            os.fchown(handle, owner, before.st_gid)
            break
    return os.fstat(handle)


def _grant(handle: int, access: bytes) -> bool:
    """Give the new file an access control list."""
    with suppress(OSError):
        os.setxattr(handle, _ACCESS_LIST, access)
        return True
    return False


def _access_list(target: _Target) -> bytes | None:
    # By the open folder's own path in /proc: there is no getxattr beside a folder, and the name may be moved.
    try:
        return os.getxattr(f"/proc/self/fd/{target.folder}/{target.name}", _ACCESS_LIST, follow_symlinks=False)
    except OSError:
        return None


def _sync(folder: int) -> None:
    """Make the new name last; some file systems cannot, and have nothing to be made to last either."""
    with suppress(OSError):
        os.fsync(folder)
