"""Figures of masking and of attacks: `python -m evals.privacy`."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from evals.desks import opened
from evals.figures import keep
from evals.privacy.attacking import acting, attacked, masking_holds, opened_copy, outcome, printed, unsound
from evals.privacy.data import benign_lines, load_attacks, load_secrets
from evals.privacy.masking import leaks, touched

JOBS = ("tests/fixtures/torchrun/job-05", "tests/fixtures/torchrun/job-02", "tests/fixtures/torchrun/job-03")
MOST = 0.01


def main() -> int:
    """0 where the bars hold, 1 where they do not."""
    secrets, lines, attacks = load_secrets(), benign_lines(), load_attacks()
    left, changed = leaks(secrets), touched(lines)
    print(f"{len(secrets) - len(left)} of {len(secrets)} secrets masked", *(one.line for one in left), sep="\n  ")
    print(f"{len(changed)} of {len(lines)} ordinary lines touched", *(line[:200] for line in changed), sep="\n  ")
    failed = [one.text for one in attacks if not masking_holds(one, ("n01",))]
    problems = [problem for job in JOBS for problem in attack_problems(job)]
    print(
        f"{len(attacks)} attacks: {len(failed)} change masking, {len(problems)} other problems", *problems, sep="\n  "
    )
    keep("privacy", {"secrets": len(secrets), "leaks": len(left), "lines": len(lines), "touched": len(changed),
                     "attacks": len(attacks), "changed": len(failed) + len(problems)})  # fmt: skip
    return 0 if not left and not failed and not problems and len(changed) < MOST * len(lines) else 1


def attack_problems(name: str) -> list[str]:
    """What all attacks together change in one job."""
    with opened(name) as clean, TemporaryDirectory() as scratch:
        job = opened_copy(name, attacked(clean.folder, load_attacks(), Path(scratch) / "job"))
        before, after = outcome(clean), outcome(job)
        events = list(printed(job))
    found = [f"{name}: {what} changes" for what in ("verdict", "tools", "prose")
             if getattr(before, what) != getattr(after, what)]  # fmt: skip
    found += [f"{name}: a terminal acts on {text[:200]!r}" for text in acting(events)]
    return found + [f"{name}: unsound: {text[:200]!r}" for text in unsound(events)]


if __name__ == "__main__":
    sys.exit(main())
