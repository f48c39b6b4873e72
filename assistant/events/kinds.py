"""What a line looks like when it is part of something longer: the clues by which records are joined.

Each clue is looked for once in every kind of line: the message without its label and leading time, digits collapsed,
ids masked (`0x7f3a` is `<HEX>` there).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag, auto


class Kind(IntFlag):
    """Clues of a form, or-ed into one number."""

    BLANK = auto()
    GATE = auto()
    """Every line of this form may indicate a failure."""
    MAYBE = auto()
    """A line of this form may, depending on its digits."""
    TIMED = auto()
    """Has a readable time, or something like one."""
    MARKED = auto()
    """A progress dialect knows this line."""
    TRACEBACK = auto()
    PREAMBLE = auto()
    """Announces a traceback."""
    INDENT = auto()
    CHAIN = auto()
    EXCEPTION = auto()
    ATTACHED = auto()
    """Always belongs to the line before it."""
    FRAME = auto()
    TERMINATE = auto()
    WHAT = auto()
    FATAL = auto()
    FATAL_BODY = auto()
    SIGNAL = auto()
    SIGNAL_END = auto()
    SIGNAL_BODY = auto()
    EQUALS = auto()
    FAILED = auto()
    CHILD_FAILED = auto()
    DASHES = auto()
    SENTENCE = auto()
    LAST_ERROR = auto()
    """NCCL's word before the line that names its error."""


@dataclass(frozen=True, slots=True)
class Clue:
    """One regex (Rust's and Python's common subset) and what a match means."""

    kind: Kind
    pattern: str
    why: str


CLUES: tuple[Clue, ...] = (
    Clue(Kind.TRACEBACK, r"Traceback \(most recent call last\):?\s*$", "a Python traceback or exception group starts"),
    Clue(
        Kind.PREAMBLE,
        r"^Exception in thread |^Exception ignored in|^Process \S+:\s*$|^Original Traceback|"
        r"^multiprocessing\.pool\.RemoteTraceback",
        "the interpreter says where the traceback below comes from",
    ),
    Clue(
        Kind.INDENT, r"^(?:[ \t]{2,}|\t)\S|^ *[|+](?:[ -]|$)", "indented code, frames, carets; bars of exception groups"
    ),
    Clue(
        Kind.CHAIN,
        r"^\s*[|+ ]*(?:During handling of the above exception, another|The above exception was the direct cause)",
        "the next traceback belongs to the same failure",
    ),
    Clue(
        Kind.EXCEPTION,
        r"^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_<>][A-Za-z0-9_<>]*)*(?::(?: |$)|$)",
        "`package.SomeError: message`, the last line of a traceback",
    ),
    Clue(Kind.ATTACHED, r"^(?:frame #[0-9]+:|#[0-9]+ +(?:<HEX>|[A-Za-z_]))", "a frame of c10 or of a debugger"),
    Clue(
        Kind.ATTACHED,
        r"^\[frame [0-9]+\]:|^\s*at [\w.$<>]+\([^)]*\)\s*$|^\s*\.\.\. [0-9]+ more\s*$|^Caused by: ",
        "other stacks",
    ),
    Clue(Kind.ATTACHED, r"^Exception raised from .* \(most recent call first\)", "c10 tells where an error was raised"),
    Clue(Kind.ATTACHED, r"^==== backtrace \(tid:|^ *[0-9]+ +(?:<HEX> \S.*|/\S+)\(", "a backtrace printed by UCX"),
    Clue(
        Kind.ATTACHED,
        r"^CUDA kernel errors might be asynchronously|^For debugging consider passing CUDA_LAUNCH_BLOCKING|"
        r"^Compile with `TORCH_USE_CUDA_DSA`|^Device-side assertion tracking was not enabled|^Search for `cuda",
        "advice that torch adds to a CUDA error",
    ),
    Clue(Kind.ATTACHED, r"^nccl[A-Z][A-Za-z]+: |^Last error:\s*$", "NCCL's explanation behind its error"),
    Clue(Kind.LAST_ERROR, r"^Last error:\s*$", "the next line names the error"),
    Clue(
        Kind.FRAME,
        r"^(?:frame #[0-9]+:|#[0-9]+ |\[frame [0-9]+\]:|\s*at [\w.$<>]+\(| *[0-9]+ +(?:<HEX> |/)\S.*\(|Last error:\s*$|"
        r"Exception raised from)",
        "what follows may go on indented or once more",
    ),
    Clue(
        Kind.TERMINATE,
        r"^terminate called (?:after throwing|without an active|recursively)",
        "the C++ runtime gives up",
    ),
    Clue(Kind.WHAT, r"^\s*what\(\): ", "the message of the C++ exception"),
    Clue(Kind.FATAL, r"^Fatal Python error: ", "faulthandler reports"),
    Clue(
        Kind.FATAL_BODY,
        r"^(?:Current thread|Thread) <HEX>|^Extension modules: |^\s*<no Python frame>|^Python runtime state: |"
        r"^\s*\.\.\.\s*$",
        "parts of faulthandler's report",
    ),
    Clue(Kind.SIGNAL, r"\*\*\* Process received signal \*\*\*", "Open MPI's signal handler starts"),
    Clue(Kind.SIGNAL_END, r"\*\*\* End of error message \*\*\*", "and ends"),
    Clue(Kind.SIGNAL_BODY, r"^\[[^\]\s]+:[0-9]+\] ", "its lines"),
    Clue(Kind.EQUALS, r"^={40,}\s*$", "border of torchelastic's report and of backtraces"),
    Clue(Kind.FAILED, r"^\S.{0,200} FAILED\s*$", "headline of torchelastic's report"),
    Clue(Kind.CHILD_FAILED, r"ChildFailedError:?\s*$", "torchelastic's report follows as its message"),
    Clue(Kind.DASHES, r"^-{74}\s*$", "border of an Open MPI help box"),
    Clue(Kind.SENTENCE, r"^[A-Z][A-Za-z_]+ ", "first line of such a box"),
)


JOINING = (
    Kind.TRACEBACK
    | Kind.PREAMBLE
    | Kind.ATTACHED
    | Kind.TERMINATE
    | Kind.FATAL
    | Kind.SIGNAL
    | Kind.EQUALS
    | Kind.DASHES
)
"""Forms at which joining has to look at all."""
