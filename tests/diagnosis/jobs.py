"""Building blocks of hand-written jobs: what healthy ranks write, and how they report trouble."""

from __future__ import annotations

HEAD = "2026-11-02 10:00:{s:02d},000 INFO rank {rank}/{world}: {text}\n"


def stamp(second: float) -> str:
    """A log time `second` seconds after ten o'clock."""
    minutes, rest = divmod(second, 60)
    whole = int(rest)
    return f"2026-11-02 10:{int(minutes):02d}:{whole:02d},{round((rest - whole) * 1000):03d}"


def steps(first: int, last: int, *, start: float = 5.0, every: float = 1.0) -> str:
    """Iteration lines `first` to `last`, one each `every` seconds."""
    lines = [
        f"{stamp(start + i * every)} INFO step {n} loss {2.5 - 0.01 * n:.4f} time 1.00s\n"
        for i, n in enumerate(range(first, last + 1))
    ]
    return "".join(lines)


def healthy_rank(rank: int, world: int, last: int) -> str:
    """Start-up and `last` iterations of one rank."""
    return (
        f"{stamp(1)} INFO initializing process group, rank {rank} of world size {world}\n"
        f"{stamp(2)} INFO building model\n" + steps(1, last)
    )


def traceback(second: float, error: str, *, file: str = "/opt/train/train.py") -> str:
    """An unhandled exception as Python prints it."""
    return (
        f"{stamp(second)} ERROR training step failed\n"
        "Traceback (most recent call last):\n"
        f'  File "{file}", line 88, in <module>\n'
        "    main()\n"
        f'  File "{file}", line 61, in main\n'
        "    loss = step(batch)\n"
        f"{error}\n"
    )


def lost_peer(second: float) -> str:
    """A victim's report under gloo."""
    return traceback(
        second,
        "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.3]:51234",
    )


def waited(second: float, milliseconds: int = 15000) -> str:
    """A victim's report of a collective that did not complete, under gloo."""
    return traceback(
        second,
        "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] "
        f"Timed out waiting {milliseconds}ms for recv operation to complete",
    )
