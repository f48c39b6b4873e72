"""Failures in words: what says one of them must rest on evidence that shows it."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    """A kind of failure: how a sentence says it, and what evidence of it looks like."""

    said: re.Pattern[str]
    seen: re.Pattern[str]


def _failure(said: str, *seen: str) -> Failure:
    return Failure(re.compile(f"(?i){said}"), re.compile("(?i)" + "|".join([said, *seen])))


FAILURES = {
    "memory": _failure(
        r"\bout[- ]of[- ]memory\b|\bOOM\b|ran out of (?:\w+ )?memory|\bSpeichermangel\b|显存不足|内存不足",
        r"outofmemory|memory\.(?:gpu|host)_oom|accelerator memory|alloc",
    ),
    "ecc": _failure(r"\bECC\b|row remap", r"gpu_memory|Xid:? ?(?:48|63|64|92|94|95)\b"),
    "segfault": _failure(
        r"\bseg(?:mentation )?fault\w*|\bSpeicherzugriffsfehler|段错误", r"SIGSEGV|signal 11\b|exitcode\W{0,4}-11\b"
    ),
    "disk": _failure(
        r"\bdisk (?:is |was |being )?full\b|file system (?:is|was) full|no space left|磁盘(?:已)?满",
        r"ENOSPC|errno 28|disk_full|os error 28",
    ),
    "network": _failure(
        r"\bInfiniBand\b|\blink flap\w*|\bNIC\b|\bcable\b|\bKabel\b|网卡|network (?:link|cable)",
        r"\bmlx|\bib_?\w*\d|network\.(?:link|interface)|link down",
    ),
    "nvlink": _failure(r"\bNVLink\b|\bNVSwitch\b"),
    "off_bus": _failure(r"fell off the bus|fallen off the bus|掉卡", r"gpu_lost|Xid:? ?79\b"),
    "nan": _failure(r"\bNaNs?\b|\bnot a number\b", r"\binf(?:inite|inity)?\b|non-?finite|numerics"),
    "kill": _failure(r"\bOOM[- ]killer\b", r"oom-kill|out of memory: killed|invoked oom"),
    "port": _failure(
        r"\bport (?:is|was) (?:already )?(?:taken|in use)\b|端口(?:已)?被占用",
        r"EADDRINUSE|address already in use|port_in_use",
    ),
    "refused": _failure(r"\bconnection (?:was )?refused\b|连接被拒", r"ECONNREFUSED"),
    "reset": _failure(r"\bconnection (?:was )?reset\b", r"ECONNRESET"),
    "permission": _failure(r"\bpermission denied\b", r"EACCES|PermissionError"),
    "preempted": _failure(r"\bpre-?empted\b|\bpreemption\b", r"preempt"),
    "time_limit": _failure(r"\b(?:wall[- ]?)?time limit\b", r"time_limit|DUE TO TIME|timelimit"),
    "overheat": _failure(r"\boverheat\w*|thermal", r"temperature|HW Slowdown"),
    "corrupt": _failure(r"\bcorrupt\w*\b", r"checksum|invalid header|PytorchStreamReader|unexpected EOF|truncated"),
    "bus_error": _failure(r"\bbus error\b", r"SIGBUS|exitcode\W{0,4}-7\b"),
    "mismatch": _failure(
        r"\bcollective mismatch\b|different collectives|mismatched collective",
        r"collective\.mismatch|mismatch|EnforceNotMet",
    ),
    "import": _failure(
        r"\b(?:import|module) (?:error|is missing|cannot be)\b",
        r"ModuleNotFound|ImportError|cannot be imported|no module named",
    ),
}
