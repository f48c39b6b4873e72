"""Word lists by which sentences are read: commands, verbs of advice, numbers in words, words of the field."""

from __future__ import annotations


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
""")
"""Verbs with which advice begins."""

NUMBERS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "sixteen": 16, "twenty": 20, "thirty": 30, "sixty": 60, "hundred": 100,
}  # fmt: skip
"""Numbers in words that count something; `one` is an article as often."""

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
    of did was were which what port how many much when whom try tried have been this that they them these those from with
""")
"""Words around what is searched for."""
