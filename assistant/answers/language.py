"""Word lists by which sentences are read: commands, verbs of advice, numbers in words, words of the field."""

from __future__ import annotations

import re
import unicodedata


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


COMMANDS = _words("""
    sudo export unset env cat tail head less ls df du ulimit ip ss kill curl ping strace gdb free lsof mount cp mv
    rm ssh grep rg dmesg journalctl systemctl python python3 pip torchrun deepspeed accelerate mpirun srun sbatch
    sinfo squeue sacct scancel scontrol kubectl docker nvidia-smi dcgmi nvcc rocm-smi npu-smi hccn_tool py-spy
    ibstat ibdiagnet ibping perfquery ethtool sha256sum rootrank find awk sed watch timeout nvidia-bug-report.sh
    chmod chown mkdir stat top ps bash sh zsh wget nc ncat dd mkfs killall pkill reboot shutdown poweroff halt perl
    ruby git eval crontab iptables nft useradd usermod rsync scp tee ln rmdir shred truncate umount xargs apt apt-get
    yum dnf conda mamba npm make modprobe rmmod sysctl podman nsenter chroot openssl gpg base64 uname hostname
    lspci lscpu
""")
"""First words of a command line: what follows is advice to run it, not a quotation of the log."""

ADVICE = _words("""
    run check restart resume set unset look collect take compare use export drain cordon replace reduce raise
    lower increase decrease add remove open read ask wait make verify confirm save keep free clear fix update
    upgrade downgrade pin reinstall rerun retry try start stop kill reboot reset enable disable attach send see
    watch note measure reproduce inspect do don't never avoid give let switch move copy change limit test
    halve double shrink install uninstall rebuild query record exclude mark bump pass swap look repeat shorten
    dump disconnect rotate delete point download mount unmount ping ask call report escalate
""")
"""Verbs with which advice begins."""

NUMBERS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "sixteen": 16, "twenty": 20, "thirty": 30, "sixty": 60, "hundred": 100, "twice": 2,
    "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "zwölf": 12,
    "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip
"""Numbers in words that count something; `one` is an article as often."""

STATES = re.compile(
    r"(?i)(?:\b(?:was|were|had|did|happened|occurred|seemed|came|went|became|fell|broke|lost|began|gave|ran|died|hung|wrote"
    r"|wurden?|waren?|hatten?|geschah|fiel|kam)\b"
    r"|(?<!\ba )(?<!\ban )(?<!\bthe )(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bbeen )(?<!\bof )(?<!\bto )"
    r"\b(?:failed|crashed|stopped|exited|raised|reported|caused|finished|started|ended|killed|aborted|closed|occured)\b)"
)
"""Words by which a sentence tells what has happened."""

HEDGED = re.compile(
    r"(?i)\b(?:if|would|could|should|might|may|can|whether|unless|unknown|unclear|unproven|perhaps|suppose|imagine|asked|"
    r"as far as|alternatively|hypothesis|possibly|wenn|falls|ob|k\u00f6nnte|vielleicht)\b"
)
"""Words by which a sentence leaves open what it says."""

ENGLISH = re.compile(r"(?i)\b(?:the|of|and|is|are|were|its?|had|has|with|that|by|from|which|while|they|their|this)\b")
"""Words by which a sentence is known to be English."""

PLAIN_WORDS = _words("""
    rank ranks node nodes victim victims culprit culprits consequence consequences affected healthy
    report reports reported involved blame blamed
    about after again against all also although and another any are around because been before being below between both
    but can cannot could does doing done down during each either else every few for from had has have having here how
    into its itself just known least less like made make many may means might more most much must near need needs next
    nor not now read off once one only other others our out over own per rather same says see seen shall should show
    shown shows since some stands such than that the their them then there therefore these they this those though
    through thus
    together too under until upon very was way well were what when where whether which while who whom whose why will
    with within without would yes yet you your
    answer answers citation citations cited evidence question questions case job log logs line lines markdown example
""")
"""Words that two texts may share without having anything to do with each other."""

NEGATION = re.compile(
    r"(?i)\b(?:not?|never|nobody|nothing|nichts|none|neither|nor|without|cannot|rules? out|ruled out|\w+n't"
    r"|nicht|keine?[nmrs]?|niemand|"
    r"ohne|weder)\b|没有|不是|并非|未|无"
)
"""Words by which a sentence denies."""

BLAME = re.compile(
    r"(?i)\b(?:blamed?|blames|culprit|guilty|at fault|root cause|caused|causes|(?:failed|broke|died|crashed) first|"
    r"responsible|started (?:it|the failure)|schuld(?:ig)?"
    r"|verursach\w*|ursache|ausgel\u00f6st)\b|根因|罪魁|导致|引起|故障源"
)
"""Words by which a sentence blames a place."""


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
    """Text without look-alike spellings: wide and other compatibility forms as plain ones, no invisible letters."""
    whole = unicodedata.normalize("NFKC", text)
    if whole.isascii():
        return whole
    return "".join(letter for letter in whole if unicodedata.category(letter) != "Cf")
