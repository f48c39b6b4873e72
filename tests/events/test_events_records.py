"""Lines that belong together become one record, in each stream for itself."""

from __future__ import annotations

from pathlib import Path

from assistant.events.models import Indicator, Record, Scan
from assistant.events.scan import scan
from assistant.intake.dialects import load_dialects
from assistant.intake.models import Discovery, Source


class Words:
    """A library that knows a few words."""

    def gate(self) -> list[str]:
        return ["(?i)error|exception|fatal|terminate|signal|failed|exit"]

    def match(self, record: str) -> tuple[str, ...]:
        return ("out-of-memory",) if "out of memory" in record else ()


def run(folder: Path, text: str, name: str = "job.log") -> Scan:
    path = folder / name
    path.write_text(text)
    source = Source(0, name, path, size=path.stat().st_size, group=name)
    return scan(Discovery(str(folder), (source,), ()), load_dialects(), Words())


def records(found: Scan) -> list[Record]:
    return [indicator.record for indicator in found.indicators]


def only(found: Scan) -> Indicator:
    assert len(found.indicators) == 1
    return found.indicators[0]


TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 9, in <module>
    main()
  File "train.py", line 4, in main
    x = y / 0
        ~~^~~
ZeroDivisionError: division by zero
"""


def test_a_traceback_is_one_record_that_points_at_its_exception_line(tmp_path: Path) -> None:
    found = run(tmp_path, f"start\n{TRACEBACK}done\n")
    record = only(found).record
    assert (record.line, record.last_line, record.lines) == (2, 8, 7)
    assert record.text == TRACEBACK.rstrip("\n")
    assert record.raw == "Traceback (most recent call last):"
    texts = {template.text for template in found.templates}
    assert "ZeroDivisionError: division by zero" in texts
    assert not any("train.py" in text for text in texts)


def test_chained_tracebacks_are_one_record(tmp_path: Path) -> None:
    chain = "During handling of the above exception, another exception occurred:\n"
    again = TRACEBACK.replace("ZeroDivisionError: division by zero", "RuntimeError: gave up")
    record = only(run(tmp_path, f"{TRACEBACK}\n{chain}\n{again}bye now\n")).record
    assert record.text.endswith("RuntimeError: gave up")
    assert (record.lines, record.last_line) == (15, 17)


def test_an_exception_keeps_the_advice_and_frames_that_follow_it(tmp_path: Path) -> None:
    tail = (
        "RuntimeError: CUDA error: an illegal memory access was encountered\n"
        "CUDA kernel errors might be asynchronously reported at some other API call, so the stack may be incorrect.\n"
        "Exception raised from c10_cuda_check at CUDAException.cpp:43 (most recent call first):\n"
        "frame #0: c10::Error::Error(c10::SourceLocation) + 0x96 (0x7f3a in libc10.so)\n"
    )
    text = TRACEBACK.replace("ZeroDivisionError: division by zero\n", tail)
    record = only(run(tmp_path, f"{text}step 9 done\n")).record
    assert record.text.endswith("libc10.so)")
    assert record.last_line == 7


def test_a_cpp_termination_a_faulthandler_report_and_a_signal_block_are_records(tmp_path: Path) -> None:
    text = (
        "terminate called after throwing an instance of 'std::runtime_error'\n"
        "  what():  NCCL error\n"
        "Fatal Python error: Segmentation fault\n\n"
        "Current thread 0x00007f11 (most recent call first):\n"
        '  File "a.py", line 3 in step\n'
        "[n1:00042] *** Process received signal ***\n"
        "[n1:00042] Signal: Segmentation fault (11)\n"
        "[n1:00042] *** End of error message ***\n"
        "unrelated\n"
    )
    found = records(run(tmp_path, text))
    assert [record.lines for record in found] == [2, 3, 3]
    assert [record.line for record in found] == [1, 3, 7]


def test_torchelastics_report_is_part_of_its_exception(tmp_path: Path) -> None:
    bar, line = "=" * 60, "-" * 60
    report = (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        f"{bar}\ntrain.py FAILED\n{line}\nFailures:\n  <NO_OTHER_FAILURES>\n{line}\n"
        "Root Cause (first observed failure):\n[0]:\n  rank      : 2 (local_rank: 2)\n  exitcode  : -9 (pid: 41)\n"
        f"{bar}\n"
    )
    text = TRACEBACK.replace("ZeroDivisionError: division by zero\n", report)
    record = only(run(tmp_path, f"{text}all gone\n")).record
    assert "exitcode  : -9" in record.text
    assert record.lines == 18


def test_a_help_box_of_open_mpi_is_one_record(tmp_path: Path) -> None:
    bar = "-" * 74
    text = (
        f"hello\n{bar}\nPrimary job  terminated normally, but 1 process returned\na non-zero exit code.\n{bar}\nbye\n"
    )
    record = only(run(tmp_path, text)).record
    assert (record.line, record.lines) == (3, 3)


def test_interleaved_ranks_are_joined_each_for_itself(tmp_path: Path) -> None:
    lines = TRACEBACK.splitlines()
    mixed = "".join(f"{rank}: {line}\n" for line in lines for rank in (0, 1, 2))
    greeting = "".join(f"{rank}: hello\n" for _ in range(3) for rank in (0, 1, 2))
    found = run(tmp_path, greeting + mixed)
    assert [record.text for record in records(found)] == [TRACEBACK.rstrip("\n")] * 3
    assert len({record.stream for record in records(found)}) == 3
    assert sorted(found.streams[record.stream].key for record in records(found)) == ["task=0", "task=1", "task=2"]


def test_like_records_are_kept_few_and_counted(tmp_path: Path) -> None:
    found = run(tmp_path, "".join(f"error number {n}\n" for n in range(100)))
    assert [indicator.record.line for indicator in found.indicators] == [1, 2, 3, 4, 5, 99, 100]
    assert sum(indicator.count for indicator in found.indicators) == 100


def test_the_library_sees_whole_records(tmp_path: Path) -> None:
    text = TRACEBACK.replace("division by zero", "CUDA out of memory")
    assert only(run(tmp_path, text)).faults == ("out-of-memory",)


def test_an_endless_traceback_is_cut_but_keeps_both_ends(tmp_path: Path) -> None:
    frames = "".join(f'  File "deep.py", line {n}, in f\n    return f(n)\n' for n in range(220))
    text = f"Traceback (most recent call last):\n{frames}RecursionError: too deep\n"
    record = only(run(tmp_path, text)).record
    assert len(record.text) <= 16 << 10
    assert record.text.startswith("Traceback")
    assert record.text.endswith("RecursionError: too deep")
