"""All tools, in the order in which they are offered. A new tool is one module and one line here."""

from __future__ import annotations

from assistant.tools.events import LIST_EVENTS
from assistant.tools.finding import Tool
from assistant.tools.iterations import BASELINE_DIFF, ITERATION_STATS
from assistant.tools.knowledge import EXPLAIN_CODE, EXPLAIN_WORD, SEARCH_KNOWLEDGE, SIMILAR_INCIDENTS
from assistant.tools.moments import TIMELINE
from assistant.tools.overview import LIST_UNREAD, OVERVIEW
from assistant.tools.places import COMPARE_NODES, RANK_STATUS
from assistant.tools.spills import READ_MORE
from assistant.tools.submission import SUBMIT_DIAGNOSIS
from assistant.tools.windows import GREP_LOG, READ_WINDOW

TOOLS: tuple[Tool, ...] = (
    OVERVIEW,
    LIST_EVENTS,
    READ_WINDOW,
    GREP_LOG,
    COMPARE_NODES,
    RANK_STATUS,
    TIMELINE,
    ITERATION_STATS,
    BASELINE_DIFF,
    SEARCH_KNOWLEDGE,
    SIMILAR_INCIDENTS,
    EXPLAIN_CODE,
    EXPLAIN_WORD,
    LIST_UNREAD,
    READ_MORE,
    SUBMIT_DIAGNOSIS,
)

BY_NAME: dict[str, Tool] = {tool.name: tool for tool in TOOLS}
