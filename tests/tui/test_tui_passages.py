"""Answers as lines: their Markdown, what is not supported, what is cited, and nothing else."""

from __future__ import annotations

import pytest
from textual.content import Content
from textual.style import Style

from assistant.answers.models import Standing, Text
from assistant.tui.talk.passages import CITE, cited_in, lines_of, source_of
from tests.tui.outside import EVERY, LONG
from tests.tui.talkers import said


def drawn(*pieces: Text, width: int = 60) -> list[Content]:
    return lines_of(source_of(pieces), cited_in(pieces), width)


def plain(*pieces: Text, width: int = 60) -> str:
    return "\n".join(line.plain for line in drawn(*pieces, width=width)).rstrip()


def links(lines: list[Content]) -> list[str]:
    spans = [span for line in lines for span in line.spans]
    return [str(s.style.meta[CITE]) for s in spans if isinstance(s.style, Style) and CITE in (s.style.meta or {})]


def test_headings_lists_emphasis_code_and_tables_are_drawn() -> None:
    text = "# Head\n\n- one **bold**\n- two `code`\n\n3. three\n\n```\nraw  line\n```\n\n"
    text += "| a | b |\n| - | - |\n| 1 | 22 |\n"
    assert plain(said(1, text)).split("\n") == [
        "Head", "• one bold", "• two code", "", "3. three", "", "raw  line", "", "a  b ", "1  22",
    ]  # fmt: skip


def test_long_lines_are_wrapped_behind_their_bullet() -> None:
    shown = plain(said(1, "- " + "word " * 20), width=30).split("\n")
    assert len(shown) > 2
    assert all(line.startswith("  ") for line in shown[1:])


def test_an_unsupported_sentence_is_marked_and_its_neighbours_are_not() -> None:
    shown = plain(said(1, "Good. "), said(2, "Invented. ", Standing.UNSUPPORTED), said(3, "Good again."))
    assert shown == "Good. ⚠ Invented. Good again."


@pytest.mark.parametrize("text", ["- item\n", "**bold.**", "1. item\n", "```\nx\n```\n", "| a |\n| - |\n| b |\n"])
def test_every_kind_of_piece_can_be_marked(text: str) -> None:
    shown = plain(said(1, text, Standing.UNSUPPORTED))
    assert "⚠" in shown
    assert "**" not in shown


def test_what_is_cited_is_a_link_and_what_only_looks_like_it_is_not() -> None:
    lines = drawn(said(1, "See [E7], T3 and n03/rank-7.err:118, not E8.", Standing.SUPPORTED, "E7", "T3",
                       "n03/rank-7.err:118"))  # fmt: skip
    assert links(lines) == ["E7", "T3", "n03/rank-7.err:118"]


def test_a_citation_is_no_part_of_a_longer_word() -> None:
    assert links(drawn(said(1, "E77 and E7", Standing.SUPPORTED, "E7"))) == ["E7"]


def test_a_sentence_after_a_list_stands_alone() -> None:
    assert plain(said(1, "- item\n"), said(2, "Alone.")).split("\n") == ["• item", "", "Alone."]


def test_link_definitions_images_and_html_stay_text() -> None:
    assert plain(said(1, "[rank1]: gone")) == "[rank1]: gone"
    assert plain(said(1, "<b>x</b> ![i](u) [l](javascript:1) &amp;")) == "<b>x</b> ![i](u) [l](javascript:1) &amp;"


@pytest.mark.parametrize("text", EVERY)
def test_hostile_text_does_nothing(text: str) -> None:
    for piece in (
        said(1, text),
        said(1, text, Standing.UNSUPPORTED),
        said(1, f"`{text}`"),
        said(1, f"```\n{text}\n```"),
    ):
        lines = drawn(piece)
        assert all(line.plain.isprintable() for line in lines)
        assert links(lines) == []
        if text == LONG:
            assert len(lines) < 200


def test_a_text_cannot_forge_or_hide_the_mark() -> None:
    assert "⚠" not in plain(said(1, "\u2e28x\u2e29"))
    assert plain(said(1, "\u2e29still\u2e28", Standing.UNSUPPORTED)) == "⚠ ))still(("


def test_a_mark_is_never_left_alone_at_the_end_of_a_line() -> None:
    pieces = [said(1, "Good words. "), said(2, "Invented.", Standing.UNSUPPORTED)]
    for width in range(10, 30):
        rows = [row.plain for row in lines_of(source_of(pieces), frozenset(), width)]
        assert any("⚠ Invented" in row for row in rows)
