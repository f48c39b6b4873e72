"""No answer holds a link that can be followed, but for addresses of our own knowledge."""

from __future__ import annotations

import re

import pytest

from assistant.answers.grounding import Known, check
from assistant.answers.links import harmless, known_addresses
from assistant.answers.models import Standing
from assistant.case.models import Evidence
from assistant.tools.desk import Shown
from assistant.tools.models import ResultStatus, ToolResult

LINE = Evidence(
    id="E1", source="n01/a.log", line=3, offset=0, text="rank 3 failed to fetch http://store.example/x", rank=3
)
PAGE = (
    "Xid 79 - What it means\n   doc\n   The passage names http://inside.example/y as well.\n   https://docs.example/xid"
)
FOLLOWED = re.compile(r"(?i)https?://|ftp://|\]\(|\]:\s*\S*/|!\[|<(?:a|img|script|iframe)\b|javascript:|mailto:|www\.")

ATTACKS = [
    "Rank 3 failed [E1](http://evil.example).",
    "Rank 3 failed ![](http://evil.example/p.png?d=1) [E1].",
    "Rank 3 failed <img src=http://evil.example/p> [E1].",
    "Rank 3 failed <A HREF='x'>here</A> [E1].",
    "Rank 3 failed, see <https://evil.example> [E1].",
    "[E1]: http://evil.example",
    "[E1]: //evil.example/x",
    "[fix]: ./run.sh",
    "Rank 3 failed [see][more] [E1].",
    "Rank 3 failed, see HTTPS://EVIL.EXAMPLE/x [E1].",
    "Rank 3 failed, see www.evil.example [E1].",
    "Rank 3 failed, open javascript:alert(1) [E1].",
    "Rank 3 failed, write to mailto:a@evil.example [E1].",
    "Rank 3 failed, see \uff48\uff54\uff54\uff50://evil.example [E1].",
    "Rank 3 failed, see ht\u200btp://evil.example [E1].",
]
SOUND = [
    "Rank 3 failed [E1].",
    "Rank 3 failed [E1][T1].",
    "[E1]: rank 3 failed.",
    "Rank 3 failed (see below) [E1].",
    "Rank 3 failed to fetch `http://store.example/x` [E1].",
    "Rank 3 failed; what it means stands in https://docs.example/xid [E1, T1].",
]


def known() -> Known:
    """One line and one page are shown."""
    shown = Shown()
    shown.add([LINE])
    page = ToolResult(id="T1", tool="search_knowledge", status=ResultStatus.FOUND, text=PAGE)
    return Known(shown, {"T1": page}, ("n01",))


@pytest.mark.parametrize("sentence", ATTACKS)
def test_a_link_from_nowhere_is_marked_and_cannot_be_followed(sentence: str) -> None:
    assert check(sentence, known()).standing is Standing.UNSUPPORTED
    shown = harmless(sentence, known_addresses(known().results))
    assert not FOLLOWED.search(shown)
    assert not any(map(FOLLOWED.search, check(sentence, known()).problems))


@pytest.mark.parametrize("sentence", SOUND)
def test_citations_quotations_and_our_own_sources_stand(sentence: str) -> None:
    assert check(sentence, known()).problems == ()


def test_only_addresses_of_pages_stay_as_they_are() -> None:
    addresses = known_addresses(known().results)
    assert addresses == {"https://docs.example/xid"}
    assert harmless("https://docs.example/xid and https://docs.example/other", addresses) == (
        "https://docs.example/xid and hxxps://docs.example/other"
    )
    assert harmless("`http://store.example/x`", addresses) == "`hxxp://store.example/x`"


def test_a_tool_that_shows_logs_makes_no_address_known() -> None:
    result = ToolResult(id="T1", tool="grep_log", status=ResultStatus.FOUND, text="http://evil.example/x")
    assert known_addresses({"T1": result}) == frozenset()
