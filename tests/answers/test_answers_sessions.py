"""Sessions survive crashes, refuse a second writer, and go on where they stopped."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from assistant.answers.models import Done, Question, Replaced, Standing, Text
from assistant.answers.sessions import Answered, Asked, Attached, SessionStore, SessionWriter
from assistant.errors import SessionBusy, StoreError, UnknownSession

ABOUT = {"case": "c-1", "revision": 1, "answerer": "offline", "program": "0"}


def piece(number: int, text: str) -> Text:
    """One piece of an answer."""
    return Text(number=number, text=text, standing=Standing.PLAIN)


def begun(store: SessionStore) -> str:
    """A session with one answered question; its id."""
    with store.new(**ABOUT) as writer:
        writer.ask(Question(text="what failed?"))
        writer.add(piece(1, "Rank 5. "))
        writer.add(piece(2, "It hung."))
        writer.add(Done(answerer="offline"))
    return writer.header.session


def file_of(store: SessionStore, name: str) -> Path:
    """Where the session lies."""
    return store.folder / f"{name}.jsonl"


def test_what_was_asked_and_answered_comes_back(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    session = store.load(begun(store))
    (turn,) = session.turns
    assert (turn.question.text, turn.answer) == ("what failed?", "Rank 5. It hung.")
    assert session.header.case == "c-1"
    assert not session.cut


def test_a_replaced_piece_reads_as_it_stood_in_the_end(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    with store.new(**ABOUT) as writer:
        turn = writer.ask(Question(text="q"))
        writer.add(piece(1, "Rank 4. "))
        writer.add(Replaced(number=1, text="Rank 5. ", standing=Standing.SUPPORTED))
    assert store.load("last").text(turn) == "Rank 5. "


def test_a_resumed_session_counts_on(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    name = begun(store)
    earlier, writer = store.resume(name[:12])
    with writer:
        assert writer.ask(Question(text="why?")) == 2
        writer.add(piece(1, "Because."))
        writer.attach(2, ("dmesg.txt",))
    session = store.load(name)
    assert [turn.answer for turn in session.turns] == [earlier.turns[0].answer, "Because."]
    assert isinstance(session.lines[-1], Attached)


@pytest.mark.parametrize("left", [b"{", b'{"kind":"answered","turn":1,', b"\xff\xfe", b'{"kind":"asked"}'])
def test_a_half_written_last_line_is_left_out_and_overwritten(tmp_path: Path, left: bytes) -> None:
    store = SessionStore(tmp_path)
    name = begun(store)
    with file_of(store, name).open("ab") as file:
        file.write(left)
    session, writer = store.resume(name)
    assert session.cut
    assert len(session.turns) == 1
    with writer:
        writer.ask(Question(text="again"))
    again = store.load(name)
    assert not again.cut
    assert [turn.question.text for turn in again.turns] == ["what failed?", "again"]


def test_a_file_cut_in_its_header_is_damaged_and_does_not_hide_the_others(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    name, other = begun(store), begun(store)
    file_of(store, name).write_bytes(b'{"kind":"header","ver')
    with pytest.raises(StoreError, match="damaged"):
        store.load(name)
    assert [session.header.session for session in store.sessions()] == [other]


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    name = begun(store)
    file = file_of(store, name)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([lines[0], b"oops\n", *lines[1:]]))
    with pytest.raises(StoreError, match=r"\.jsonl:2 is damaged"):
        store.load(name)


def test_a_session_of_a_newer_version_asks_for_an_update(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    name = begun(store)
    file = file_of(store, name)
    file.write_bytes(file.read_bytes().replace(b'"version":1', b'"version":9,"extra":1', 1))
    with pytest.raises(StoreError, match="newer version"):
        store.load(name)


def test_a_second_writer_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    with store.new(**ABOUT) as first:
        first.ask(Question(text="q"))
        _, second = store.resume(first.header.session)
        with pytest.raises(SessionBusy), second:
            pass
        first.add(piece(1, "still here"))
    with store.resume(first.header.session)[1] as third:
        assert third.ask(Question(text="free again")) == 2


KILLED = """
import sys
from pathlib import Path
from assistant.answers.models import Question, Standing, Text
from assistant.answers.sessions import SessionStore
with SessionStore(Path(sys.argv[1])).new(case="c-1", revision=1, answerer="offline", program="0") as writer:
    writer.ask(Question(text="q"))
    number = 0
    while True:
        number += 1
        writer.add(Text(number=number, text=f"piece {number} " + "x" * 2000 + "\\n", standing=Standing.PLAIN))
        print(number, flush=True)
"""


def test_a_process_killed_while_it_writes_loses_nothing_it_had_shown(tmp_path: Path) -> None:
    running = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    shown = [int(running.stdout.readline()) for _ in range(50)]
    os.kill(running.pid, signal.SIGKILL)
    shown += [int(line) for line in running.stdout.read().split("\n") if line.strip()]
    running.stdout.close()
    assert running.wait() == -signal.SIGKILL
    store = SessionStore(tmp_path)
    session, writer = store.resume("last")
    written = [
        line.event.number for line in session.lines if isinstance(line, Answered) and isinstance(line.event, Text)
    ]
    assert written[: shown[-1]] == list(range(1, shown[-1] + 1))
    with writer:
        assert writer.ask(Question(text="after the crash")) == 2


def test_text_that_is_no_valid_unicode_is_kept_readable(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    with store.new(**ABOUT) as writer:
        writer.ask(Question(text="größe 针 \u2028 \x1b[2J \x85 end"))
    (line,) = store.load("last").lines
    assert isinstance(line, Asked)
    assert line.question.text == "größe 针 \u2028 \x1b[2J \x85 end"


def test_sessions_are_private_listed_and_removed(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    name = begun(store)
    assert stat.S_IMODE(file_of(store, name).stat().st_mode) == 0o600
    assert store.ids() == [name]
    assert store.remove("last") == name
    with pytest.raises(UnknownSession):
        store.load("last")


@pytest.mark.parametrize("name", ["", "s-", "../../etc/passwd", "s-20260101-00000000", "x" * 5000, "a\x00b"])
def test_strange_names_are_unknown(tmp_path: Path, name: str) -> None:
    store = SessionStore(tmp_path)
    begun(store)
    with pytest.raises(UnknownSession):
        store.load(name)


def test_a_writer_makes_its_folder(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "deep" / "down")
    with store.new(**ABOUT) as writer:
        assert isinstance(writer, SessionWriter)
    assert store.load("last").turns == ()
