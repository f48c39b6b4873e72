"""Which entries a record matches, and in which order they are told."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from assistant.case.vocabulary import ActionKind
from assistant.events.models import RecordMatcher
from assistant.faults.library import build, load_library
from assistant.faults.matcher import Matcher
from assistant.faults.models import Examples, Fault, FaultAction, FaultRole, Signature, Specificity

LIBRARY = load_library()
MATCHER = Matcher(LIBRARY)

TRACEBACK = """Traceback (most recent call last):
  File "/app/train.py", line 12, in <module>
    main()
  File "/app/train.py", line 9, in main
    loss.backward()
"""


def fault(
    name: str,
    *signatures: Signature,
    role: FaultRole = FaultRole.ROOT,
    specificity: Specificity = Specificity.SPECIFIC,
) -> Fault:
    return Fault(
        id=name,
        title=name,
        cause="code.exception",
        role=role,
        specificity=specificity,
        signatures=signatures,
        explanation="-",
        action=FaultAction(kind=ActionKind.COLLECT, text="-"),
        examples=Examples(match=("-",)),
    )


def test_the_matcher_is_what_the_scan_asks_for() -> None:
    matcher: RecordMatcher = MATCHER
    assert matcher.match("nothing to see") == ()


def test_decisive_entries_come_first_then_specific_then_generic() -> None:
    matcher = Matcher(
        build(
            [
                fault("vague", Signature(regex="valve"), specificity=Specificity.GENERIC),
                fault("plain", Signature(regex="valve")),
                fault("sure", Signature(regex="valve"), specificity=Specificity.DECISIVE),
            ]
        )
    )
    assert matcher.match("valve stuck") == ("sure", "plain", "vague")


def test_a_root_comes_before_its_consequences_and_noise_comes_last() -> None:
    roles = [FaultRole.BENIGN, FaultRole.TEARDOWN, FaultRole.CONFIRMATION, FaultRole.CASCADE, FaultRole.ROOT]
    matcher = Matcher(build([fault(role.value, Signature(regex="valve"), role=role) for role in roles]))
    assert matcher.match("valve") == ("root", "cascade", "confirmation", "teardown", "benign")


def test_the_longer_match_comes_first_among_equals() -> None:
    entries = [fault("short", Signature(regex="valve")), fault("long", Signature(regex="valve .* stuck"))]
    matcher = Matcher(build(entries))
    assert matcher.match("valve 7 stuck") == ("long", "short")


def test_what_a_signature_requires_and_excludes_is_looked_for_in_the_whole_record() -> None:
    signature = Signature(regex="valve", requires=("pump", "oil"), excludes=("test run",))
    matcher = Matcher(build([fault("valve", signature)]))
    assert matcher.match("pump 3\nvalve\noil low") == ("valve",)
    assert matcher.match("pump 3\nvalve") == ()
    assert matcher.match("pump 3\nvalve\noil low\ntest run") == ()


def test_another_signature_of_an_entry_still_counts_where_one_is_excluded() -> None:
    signatures = (Signature(regex="valve", excludes=("drill",)), Signature(regex="stuck"))
    assert Matcher(build([fault("valve", *signatures)])).match("valve stuck in a drill") == ("valve",)


def test_an_entry_is_told_once_and_its_hits_say_where() -> None:
    matcher = Matcher(build([fault("valve", Signature(regex="valve"), Signature(regex="stuck fast"))]))
    assert matcher.match("valve stuck fast") == ("valve",)
    assert [(hit.start, hit.end) for hit in matcher.hits("valve stuck fast")] == [(6, 16), (0, 5)]


def test_flags_of_one_signature_do_not_leak_into_another() -> None:
    matcher = Matcher(build([fault("any", Signature(regex="(?i)valve")), fault("exact", Signature(regex="PUMP"))]))
    assert matcher.match("VALVE pump") == ("any",)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (TRACEBACK + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "gpu-out-of-memory"),
        (TRACEBACK + "ValueError: the plan is empty", "python-exception"),
        (TRACEBACK + "ModuleNotFoundError: No module named 'apex'", "module-missing"),
        (TRACEBACK + "OSError: [Errno 28] No space left on device: '/ckpt/a.pt'", "disk-full"),
        (
            TRACEBACK + "RuntimeError: Caught FileNotFoundError in DataLoader worker process 2.\n"
            "Original Traceback (most recent call last):\n"
            "FileNotFoundError: [Errno 2] No such file or directory: '/data/s1.parquet'",
            "data-file-missing",
        ),
        (
            TRACEBACK + "TypeError: Caught TypeError in DataLoader worker process 2.\n"
            "Original Traceback (most recent call last):\nTypeError: odd record",
            "loader-worker-exception",
        ),
        ("[rank7]: torch.OutOfMemoryError: CUDA out of memory.", "gpu-out-of-memory"),
        ("2025-03-01 10:00:00,120 ERROR MemoryError", "host-allocation-failed"),
    ],
)
def test_the_most_telling_entry_of_a_traceback_comes_first(text: str, first: str) -> None:
    assert MATCHER.match(text)[0] == first


def test_a_wrapper_of_the_launcher_is_no_exception_of_its_own() -> None:
    text = TRACEBACK + "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \ntrain.py FAILED"
    assert "python-exception" not in MATCHER.match(text)
    assert "child-failed" in MATCHER.match(text)


def test_a_record_of_hostile_text_is_matched_like_any_other() -> None:
    hostile = "\x1b[31m" + "a(" * 4000 + "\ufffd\u202e CUDA out of memory. " + "]" * 4000
    assert MATCHER.match(hostile)[0] == "gpu-out-of-memory"
    assert MATCHER.match("") == ()
    assert MATCHER.match("\x00" * 100) == ()


def test_threads_get_the_answers_of_one_thread() -> None:
    texts = [text for entry in LIBRARY for text in (*entry.examples.match, *entry.examples.no_match)]
    alone = [MATCHER.match(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        rounds = [list(pool.map(Matcher(LIBRARY).match, texts)), list(pool.map(MATCHER.match, texts))]
    assert rounds == [alone, alone]


FRAMES = """Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/site-packages/urllib3/util/retry.py", line 515, in increment
    raise ExhaustedError(pool, url) from warning
  File "/opt/venv/lib/python3.11/site-packages/lightning/plugins/checkpoint_plugin.py", line 7, in wrap
    return self.initialize_and_download(skip=True, default=ignored)
  File "/workspace/core/tensor_parallel/layers.py", line 700, in forward
    assert hidden % heads == 0  # global batch, creating from scratch
"""
"""Stack frames with words that signatures exclude when they stand in the message itself."""

EXCEPTION = re.compile(r"^(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception): ")
LAYERS = {"process", "memory", "storage", "checkpoint", "data", "numerics", "code", "config"}
SAID = [
    (entry.id, text)
    for entry in LIBRARY
    if entry.cause.split(".")[0] in LAYERS
    for text in entry.examples.match
    if EXCEPTION.match(text)
]


@pytest.mark.parametrize(("entry", "text"), SAID)
def test_an_exception_is_known_below_any_stack(entry: str, text: str) -> None:
    assert entry in MATCHER.match(FRAMES + text)


@pytest.mark.parametrize("prefix", ["[rank3]: ", "2025-03-04 10:11:12,345 ERROR ", "[2025-03-04 10:11:12] [ERROR] "])
@pytest.mark.parametrize(("entry", "text"), SAID)
def test_an_exception_is_known_behind_a_prefix_that_was_left_on_it(entry: str, text: str, prefix: str) -> None:
    assert entry in MATCHER.match(prefix + text)
