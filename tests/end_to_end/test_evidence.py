"""Each piece of evidence stands where the Case says: re-reading the source at the offset yields its text."""

from __future__ import annotations

import gzip
import tarfile
from pathlib import Path

import pytest

from assistant.case.models import Case
from assistant.pipeline import Options, diagnose
from tests.diagnosis.jobs import healthy_rank, lost_peer, traceback

ERROR = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB \N{EN DASH} GPU 0"


def job(folder: Path) -> Path:
    """Two ranks, one of which runs out of memory; lines with bytes that are no UTF-8 and with colours stand before."""
    folder.mkdir()
    odd = b"caf\xe9 \xff\xfe broken \x1b[31mred\x1b[0m\r\n 10%|#| 1/10\r 20%|##| 2/10\r\n"
    (folder / "rank-0.log").write_bytes(odd + (healthy_rank(0, 2, 9) + lost_peer(16)).encode())
    (folder / "rank-1.log").write_bytes(odd + (healthy_rank(1, 2, 9) + traceback(15, ERROR)).encode())
    return folder


def reread(case: Case, contents: dict[str, bytes]) -> None:
    assert case.evidence
    for item in case.evidence:
        data = contents[item.source]
        line = data[item.offset :].replace(b"\r", b"\n").split(b"\n", 1)[0]
        assert line.decode("utf-8", "replace") == item.text
        assert data[: item.offset].count(b"\n") + 1 == item.line


def test_evidence_of_plain_files_is_re_read_at_its_offset(tmp_path: Path) -> None:
    folder = job(tmp_path / "job")
    case = diagnose([str(folder)], Options())
    assert [s.rank for s in case.suspects] == [1]
    reread(case, {path.name: path.read_bytes() for path in folder.iterdir()})


def test_evidence_of_compressed_files_is_re_read_in_the_decompressed_stream(tmp_path: Path) -> None:
    folder = job(tmp_path / "job")
    contents = {}
    for path in list(folder.iterdir()):
        contents[path.name + ".gz"] = path.read_bytes()
        (folder / (path.name + ".gz")).write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    reread(diagnose([str(folder)], Options()), contents)


def test_evidence_of_archive_members_names_archive_and_member(tmp_path: Path) -> None:
    folder = job(tmp_path / "job")
    contents = {f"job.tar.gz!{path.name}": path.read_bytes() for path in folder.iterdir()}
    archive = tmp_path / "job.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        for path in sorted(folder.iterdir()):
            packed.add(path, path.name)
    reread(diagnose([str(archive)], Options()), contents)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_changes_nothing(tmp_path: Path, threads: int) -> None:
    folder = job(tmp_path / "job")
    one = diagnose([str(folder)], Options(threads=1)).model_dump_json(exclude={"timing"})
    assert diagnose([str(folder)], Options(threads=threads)).model_dump_json(exclude={"timing"}) == one
