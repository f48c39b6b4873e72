"""`python -m evals.rivals build` makes the rivals' environments; `list` says who can run here, who cannot, and why."""

from __future__ import annotations

import argparse
import sys

from evals.rivals import ENVIRONMENTS, missing, tools
from evals.rivals.environments import build


def main() -> int:
    """1 where an environment could not be built."""
    parser = argparse.ArgumentParser(prog="python -m evals.rivals", description=__doc__)
    parser.add_argument("what", choices=("build", "list"))
    if parser.parse_args().what == "list":
        show()
        return 0
    built = [build(environment) for environment in ENVIRONMENTS]
    show()
    return 0 if all(built) else 1


def show() -> None:
    """A line a rival."""
    for tool in tools():
        print(f"{tool.name:18} {tool.version}")
    for name, why in missing().items():
        print(f"{name:18} missing: {why}")


if __name__ == "__main__":
    sys.exit(main())
