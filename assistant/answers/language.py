"""Word lists by which sentences are read: commands, verbs of advice, numbers in words, words of the field."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


COMMANDS = _words("""
    sudo export unset env cat tail head less ls df du ulimit ip ss kill curl ping strace gdb free lsof mount cp mv
    rm ssh grep rg dmesg journalctl systemctl python python3 pip torchrun deepspeed accelerate mpirun srun sbatch
    sinfo squeue sacct scancel scontrol kubectl docker nvidia-smi dcgmi nvcc rocm-smi npu-smi hccn_tool py-spy
    ibstat ibdiagnet ibping perfquery ethtool sha256sum rootrank find awk sed watch timeout nvidia-bug-report.sh
    chmod chown mkdir stat top ps
""")
"""First words of a command line: what follows is advice to run it, not a quotation of the log."""

ADVICE = _words("""
    run check restart resume set unset look collect take compare use export drain cordon replace reduce raise
    lower increase decrease add remove open read ask wait make verify confirm save keep free clear fix update
    upgrade downgrade pin reinstall rerun retry try start stop kill reboot reset enable disable attach send see
    watch note measure reproduce inspect do don't never avoid give let switch move copy change limit test
    halve double shrink install uninstall rebuild query record exclude mark bump pass swap look repeat shorten disconnect
    rotate delete point download mount unmount ping ask call report escalate
""")
"""Verbs with which advice begins."""

NUMBERS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "sixteen": 16, "twenty": 20, "thirty": 30, "sixty": 60, "hundred": 100, "twice": 2,
    "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "zwölf": 12,
    "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip
"""Numbers in words that count something; `one` is an article as often."""

NEGATION = re.compile(
    r"(?i)\b(?:not?|never|nobody|nothing|nichts|none|neither|nor|without|cannot|rules? out|ruled out|\w+n't|nicht|keine?[nmrs]?|niemand|"
    r"ohne|weder)\b|没有|不是|并非|未|无"
)
"""Words by which a sentence denies."""

BLAME = re.compile(
    r"(?i)\b(?:blamed?|blames|culprit|guilty|at fault|root cause|caused|causes|(?:failed|broke|died|crashed) first|"
    r"responsible|started (?:it|the failure)|schuld(?:ig)?|verursach\w*|ursache|ausgel\u00f6st)\b|根因|罪魁|导致|引起|故障源"
)
"""Words by which a sentence blames a place."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A kind of failure: how a sentence says it, and what evidence of it looks like."""

    said: re.Pattern[str]
    seen: re.Pattern[str]


def _failure(said: str, seen: str = "") -> Failure:
    return Failure(re.compile(rf"(?i){said}"), re.compile(rf"(?i){said}|{seen}" if seen else rf"(?i){said}"))


FAILURES = {
    "memory": _failure(r"\bout[- ]of[- ]memory\b|\bOOM\b|ran out of (?:\w+ )?memory|\bSpeichermangel\b|显存不足|内存不足",
                       r"outofmemory|memory\.(?:gpu|host)_oom|accelerator memory|alloc"),
    "ecc": _failure(r"\bECC\b|row remap", r"gpu_memory|Xid:? ?(?:48|63|64|92|94|95)\b"),
    "segfault": _failure(r"\bseg(?:mentation )?fault\w*|\bSpeicherzugriffsfehler|段错误", r"SIGSEGV|signal 11\b|exitcode\W{0,4}-11\b"),
    "disk": _failure(r"\bdisk (?:is |was |being )?full\b|file system (?:is|was) full|no space left|磁盘(?:已)?满", r"ENOSPC|errno 28|disk_full|os error 28"),
    "network": _failure(r"\bInfiniBand\b|\blink flap\w*|\bNIC\b|\bcable\b|\bKabel\b|网卡|network (?:link|cable)", r"\bmlx|\bib_?\w*\d|network\.(?:link|interface)|link down"),
    "nvlink": _failure(r"\bNVLink\b|\bNVSwitch\b"),
    "off_bus": _failure(r"fell off the bus|fallen off the bus|掉卡", r"gpu_lost|Xid:? ?79\b"),
    "nan": _failure(r"\bNaNs?\b|\bnot a number\b", r"\binf(?:inite|inity)?\b|non-?finite|numerics"),
    "kill": _failure(r"\bOOM[- ]killer\b", r"oom-kill|out of memory: killed|invoked oom"),
    "port": _failure(r"\bport (?:is|was) (?:already )?(?:taken|in use)\b|端口(?:已)?被占用", r"EADDRINUSE|address already in use|port_in_use"),
    "refused": _failure(r"\bconnection (?:was )?refused\b|连接被拒", r"ECONNREFUSED"),
    "reset": _failure(r"\bconnection (?:was )?reset\b", r"ECONNRESET"),
    "permission": _failure(r"\bpermission denied\b", r"EACCES|PermissionError"),
    "preempted": _failure(r"\bpre-?empted\b|\bpreemption\b", r"preempt"),
    "time_limit": _failure(r"\b(?:wall[- ]?)?time limit\b", r"time_limit|DUE TO TIME|timelimit"),
    "overheat": _failure(r"\boverheat\w*|thermal", r"thermal|temperature|HW Slowdown"),
    "corrupt": _failure(r"\bcorrupt\w*\b", r"corrupt|checksum|invalid header|PytorchStreamReader|unexpected EOF|truncated"),
    "bus_error": _failure(r"\bbus error\b", r"SIGBUS|exitcode\W{0,4}-7\b"),
    "mismatch": _failure(r"\bcollective mismatch\b|different collectives|mismatched collective", r"collective\.mismatch|mismatch|EnforceNotMet"),
    "import": _failure(r"\b(?:import|module) (?:error|is missing|cannot be)\b", r"ModuleNotFound|ImportError|cannot be imported|no module named"),
}  # fmt: skip
"""Failures in words: what says them must rest on evidence that shows them."""

FIELD = _words("""
    fp16 bf16 fp32 fp8 tf32 int8 ipv4 ipv6 a100 h100 h200 b200 gb200 mi300x l4 k8s s3 c10d utf8 utf-8 python3 py3
    zero-1 zero-2 zero-3 zero1 zero2 zero3 sha256 md5 cuda12 2d 3d top-1 gpu0 phase1 phase2 layer-0 e2e i18n x86
    x86_64 arm64
""")
"""Words of the field that hold a digit and name no machine."""

SIGNALS = {"sigkill": 9, "sigsegv": 11, "sigabrt": 6, "sigbus": 7, "sigterm": 15, "sigint": 2, "sigill": 4, "sighup": 1}
"""Numbers of signals on Linux."""

SEARCHING = _words("""
    find search for grep is there any a an the in logs log lines line with where does occur who logged which ranks
    rank how often do look mention contain error errors message messages appear say says anywhere please show me
    of did was were which what how many much when whom try tried have been this that they them these those from with
""")
"""Words around what is searched for."""


def plain_text(text: str) -> str:
    """Text without look-alike spellings: wide and other compatibility forms as plain ones, invisible letters removed."""
    whole = unicodedata.normalize("NFKC", text)
    if whole.isascii():
        return whole
    return "".join(letter for letter in whole if unicodedata.category(letter) != "Cf")
