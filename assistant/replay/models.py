"""A replay script: what the server is able to do, and what it answers to which request. Read from YAML."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.errors import ConfigError

LARGEST = 4 << 20
"""Bytes of a script that is read."""


class Model(BaseModel):
    """Base: frozen, closed."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class When(Model):
    """Which requests a step answers. All that is given must hold; nothing given is any request."""

    contains: str | None = None
    """Text in the last message of the user or tool, in any case."""
    anywhere: str | None = None
    """Text anywhere in the request."""
    after_tool: str | None = None
    """The last message is the result of this tool."""
    with_tools: bool | None = None
    """The request offers tools."""
    with_schema: bool | None = None
    """The request asks for a JSON schema."""


class ToolCall(Model):
    """A tool call of the model. `raw` is sent as arguments as it stands, well-formed or not."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    raw: str | None = None


Fault = Literal["none", "cut", "garbage", "empty", "stall", "leaked_thinking", "no_finish", "not_json", "refuse"]
"""cut: the connection ends in mid-answer; garbage: a broken event in the stream; empty: no choice at all; stall:
silence until the client gives up; leaked_thinking: the answer begins with a think block; no_finish: no closing event;
not_json: a web page instead of JSON; refuse: the connection is closed before any answer."""


class Step(Model):
    """One answer."""

    when: When = When()
    times: int = Field(default=0, ge=0)
    """How often it is given; 0 is without end. Afterwards the next fitting step is taken."""
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    status: int = Field(default=200, ge=200, le=599)
    """Anything but 200 is an error with `text` as its message."""
    headers: dict[str, str] = Field(default_factory=dict)
    delay: float = Field(default=0.0, ge=0.0, le=3600.0)
    """Seconds before the first byte."""
    pace: float = Field(default=0.0, ge=0.0, le=60.0)
    """Seconds between pieces of a stream."""
    piece: int = Field(default=16, ge=1)
    """Characters of a piece."""
    fault: Fault = "none"
    usage: bool = True
    """Whether the answer tells its token counts."""


class Able(Model):
    """What the server is able to do; a request for anything else gets the error that real servers give."""

    stream: bool = True
    tools: bool = True
    tool_choice: bool = True
    json_schema: bool = True
    responses: bool = False
    """The Responses API; many servers answer it with 404."""
    window: int = Field(default=32_768, ge=16)
    """Context window in tokens, counted as four characters each."""
    key: str | None = None
    """The key that it wants; null takes any."""


class Script(Model):
    """The whole script."""

    schema_: Literal["rootrank.replay/1"] = Field(alias="schema")
    model: str = "scripted"
    able: Able = Able()
    steps: tuple[Step, ...] = ()
    otherwise: Step = Step(text="I have nothing to say to that.")
    """The answer where no step fits."""


def load_script(path: Path) -> Script:
    """Reads a script. Raises ConfigError, naming file and place."""
    hint = "see docs/replay.md for what a script may hold"
    try:
        if path.stat().st_size > LARGEST:
            raise ConfigError(f"{path} is larger than {LARGEST >> 20} MiB", hint=hint)
        return Script.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: {' '.join(str(error).split())}", hint=hint) from error
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}", hint=hint) from error
