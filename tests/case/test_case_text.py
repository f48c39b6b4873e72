"""The small pieces: cleaning, cutting, counting, escaping."""

from __future__ import annotations

from html import unescape

import orjson
import pytest
from markdown_it import MarkdownIt

from assistant.case.text import clean, excerpt, ranges, tail
from assistant.report import json, markdown
from tests.samples import evidence, failed_case


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\tb\n", "a    b"),
        ("one\r\ntwo", "one two"),
        ("10%\r20%", "10%\\x0d20%"),
        ("\x1b]0;x\x07", "\\x1b]0;x\\x07"),
        ("a\u202eb\u200b", "a\\u202eb\\u200b"),
        ("\ud800", "\\ud800"),
        ("[rank0]: näh 漢", "[rank0]: näh 漢"),
    ],
)
def test_clean_leaves_nothing_to_act_on(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_a_short_text_is_not_cut() -> None:
    assert excerpt("error", 5) == "error"
    assert tail("a/b", 3) == "a/b"


def test_a_cut_text_is_as_long_as_it_may_be_and_says_so() -> None:
    assert excerpt("x" * 100, 10) == "xxxxxxxxx…"
    assert tail("a/" * 50 + "z", 5) == "…/a/z"


def test_ranks_are_counted_in_ranges() -> None:
    assert ranges([7, 0, 1, 2, 2, 9, 10]) == "0-2, 7, 9-10"
    assert ranges([]) == ""


def test_json_spells_the_schema_key_and_ends_with_a_line_end() -> None:
    data = json.render(failed_case())
    assert data.endswith(b"}\n")
    assert orjson.loads(data)["schema"] == "rootrank.case/1"
    assert json.render(failed_case()) == data


@pytest.mark.parametrize(
    "text",
    [
        "*bold* _it_ `code`",
        "<script>x</script>",
        "[a](http://b)",
        "| a | b |",
        "~~~\nx",
        "# head",
        "\\*",
        "&lt;",
        "$x$",
    ],
)
def test_markdown_shows_prose_as_it_is(text: str) -> None:
    html = MarkdownIt("commonmark").render(f"- {markdown.prose(text)}")
    inside = html.removeprefix("<ul>\n<li>").removesuffix("</li>\n</ul>\n")
    assert "<" not in inside
    assert unescape(inside) == clean(text)


@pytest.mark.parametrize("text", ["`", "a``b", "```\nrm -rf\n```", "``` ` ```"])
def test_markdown_code_holds_any_backquotes(text: str) -> None:
    html = MarkdownIt("commonmark").render(markdown.code(text))
    assert html.startswith("<p><code>")
    assert html.endswith("</code></p>\n")
    blocks = [token for token in MarkdownIt().parse("\n".join(markdown.block(text))) if token.type == "fence"]
    assert [token.content for token in blocks] == [clean(text) + "\n"]


def test_markdown_calls_nobody_and_links_nothing() -> None:
    assert "@" not in markdown.prose("thanks @team, see #12")
    case = failed_case().model_copy(update={"evidence": (evidence(1, "a`b.log", 1, "```\n# not a heading"),)})
    tokens = MarkdownIt().parse(markdown.render(case))
    assert not [token for token in tokens if token.type == "inline" and token.content == "not a heading"]
