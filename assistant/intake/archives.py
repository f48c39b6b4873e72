"""What an archive holds, and the bytes of its members. Nothing is ever extracted to disk; members are only read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assistant.intake.codecs import codec_of, unpacked
from assistant.intake.files import ByteStream, FileStream, Peeked, Window
from assistant.intake.limits import DEFAULT_LIMITS, Limits
from assistant.intake.models import Codec
from assistant.intake.names import DistinctNames
from assistant.intake.sniff import EMPTY, look
from assistant.intake.tars import TarMember, TarWalk
from assistant.intake.zips import ZipMember, list_zip, open_zip_member

NESTED = "an archive inside an archive: unpack it and give the folder"
_CODEC_HEAD = 16


@dataclass(frozen=True, slots=True)
class Item:
    """One file inside an archive."""

    key: str
    """Its name in the archive, marked where the name is repeated; finds the member again."""
    name: str
    """Its name as it stands there."""
    size: int
    why_not: str | None
    """Why it is not read as a log; None for text."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The files of one archive, in its order."""

    items: tuple[Item, ...]
    damage: str | None
    """Why there may be more than is listed."""
    whole: str | None = None
    """What the archive is, where it is no collection of logs: a checkpoint, a program."""


def survey(path: Path, archive: str, codec: Codec, limits: Limits = DEFAULT_LIMITS) -> Survey:
    """List an archive and judge each member by its start. Raises OSError where the file cannot be opened."""
    return _survey_zip(path, limits) if archive == "zip" else _survey_tar(path, codec, limits)


def _survey_tar(path: Path, codec: Codec, limits: Limits) -> Survey:
    items: list[Item] = []
    damage = None
    stream = unpacked(FileStream(path), codec, limits)
    try:
        walk = TarWalk(stream)
        for key, member in _keyed(walk):
            if len(items) >= limits.sources:
                damage = f"holds more than {limits.sources:,} files"
                break
            why = member.why_not or _why_not(Window(stream, member.size), member.size, limits)
            items.append(Item(key, member.name, member.size, why))
        return Survey(_newest_copies(items), damage or walk.damage)
    finally:
        stream.close()


def _survey_zip(path: Path, limits: Limits) -> Survey:
    members, damage = list_zip(path, limits.sources)
    if len(members) > limits.sources:
        damage = f"holds more than {limits.sources:,} files"
    if whole := _program(members):
        return Survey((), damage, whole)
    items: list[Item] = []
    file = FileStream(path)
    try:
        for key, member in _keyed_zip(members[: limits.sources]).items():
            why = member.why_not
            if why is None:
                why = _why_not(open_zip_member(file, member, limits), member.size or member.packed, limits)
            items.append(Item(key, member.name, member.size, why))
    finally:
        file.close()
    return Survey(_newest_copies(items), damage)


def _why_not(stream: ByteStream, size: int, limits: Limits) -> str | None:
    if size == 0:
        return EMPTY
    seen = look(stream, limits)
    return NESTED if seen.archive else seen.why_not


def _program(members: Sequence[ZipMember]) -> str | None:
    """What a zip file is that only happens to be one."""
    names = [member.name for member in members]
    if any(name.endswith("/data.pkl") for name in names):
        return "binary (PyTorch checkpoint)"
    if names and all(name.endswith(".npy") for name in names):
        return "binary (NumPy arrays)"
    if any(name in ("META-INF/MANIFEST.MF", "[Content_Types].xml") or ".dist-info/" in name for name in names):
        return "a program or document, not logs"
    return None


def _newest_copies(items: Sequence[Item]) -> tuple[Item, ...]:
    """Of members with the same name only the last counts, as when unpacking: `tar -r` appends newer copies."""
    newest = {item.name: item.key for item in items}
    older = "an older copy of a member that comes again later"
    return tuple(item if newest[item.name] == item.key else replace(item, why_not=older) for item in items)


def _keyed(walk: TarWalk) -> Iterator[tuple[str, TarMember]]:
    names = DistinctNames()
    for member in walk:
        if not member.folder:
            yield names(member.name), member


def _keyed_zip(members: Sequence[ZipMember]) -> dict[str, ZipMember]:
    names = DistinctNames()
    return {names(member.name): member for member in members if not member.folder}


Opened = tuple[str, ByteStream]
"""A member's key and its unpacked bytes, to be read before the next one is asked for."""


def open_zip(path: Path, keys: Sequence[str], limits: Limits = DEFAULT_LIMITS) -> Iterator[Opened]:
    """Those of `keys` that are there, in the order given. Raises OSError where the file cannot be opened."""
    members = _keyed_zip(list_zip(path, limits.sources)[0])
    file = FileStream(path)
    try:
        for key in keys:
            if key in members and members[key].why_not is None:
                yield key, _unpacked_member(open_zip_member(file, members[key], limits), limits)
    finally:
        file.close()


def open_plain_tar(path: Path, keys: Sequence[str], limits: Limits = DEFAULT_LIMITS) -> Iterator[Opened]:
    """Those of `keys` that are there, in the order given: headers once, then straight to the data."""
    file = FileStream(path)
    try:
        wanted = set(keys)
        members = {key: member for key, member in _keyed(TarWalk(file)) if key in wanted}
        for key in keys:
            if key in members:
                file.position, file.damage = members[key].start, None
                yield key, _unpacked_member(Window(file, members[key].size), limits)
    finally:
        file.close()


def stream_tar(
    path: Path, codec: Codec, wanted: Callable[[str], bool], limits: Limits = DEFAULT_LIMITS
) -> Iterator[Opened]:
    """One pass over a packed tar: the members that are wanted when they come by, in the archive's order."""
    stream = unpacked(FileStream(path), codec, limits)
    try:
        for key, member in _keyed(TarWalk(stream)):
            if wanted(key):
                yield key, _unpacked_member(Window(stream, member.size), limits)
    finally:
        stream.close()


def _unpacked_member(stream: ByteStream, limits: Limits) -> ByteStream:
    head = stream.read(_CODEC_HEAD)
    return unpacked(Peeked(head, stream), codec_of(head), limits)
