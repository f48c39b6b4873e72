"""Broken files in a user's own knowledge folder: the verdict is the same, and the case says what was left out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
RUN = CHECKOUT / "knowledge" / "examples" / "hanging-rank"


def diagnosed(home: Path) -> dict[str, object]:
    command = [sys.executable, "-m", "assistant.cli", "diagnose", str(RUN), "--json", "--no-save"]
    environment = {**os.environ, "ROOTRANK_HOME": str(home)}
    done = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, check=False)
    assert done.returncode == 10, done.stderr.decode()
    told: dict[str, object] = json.loads(done.stdout)
    return told


def test_broken_knowledge_is_left_out_and_named_while_the_verdict_stands(tmp_path: Path) -> None:
    for name in ("faults", "dialects"):
        (tmp_path / "own" / "knowledge" / name).mkdir(parents=True)
        (tmp_path / "own" / "knowledge" / name / "mine.yaml").write_text("- id: x\n  title: [\n", encoding="utf-8")
    (tmp_path / "own" / "knowledge" / "actions.yaml").write_text("default: [\n", encoding="utf-8")
    clean, broken = diagnosed(tmp_path / "none"), diagnosed(tmp_path / "own")
    notes = "\n".join(map(str, broken["notes"]))  # type: ignore[call-overload]
    for file in ("faults/mine.yaml", "dialects/mine.yaml", "actions.yaml"):
        assert f"Knowledge left out: {tmp_path / 'own' / 'knowledge' / file}" in notes
    assert "faults/mine.yaml, line 3: not YAML" in notes
    assert broken["verdict"] == clean["verdict"]
    assert broken["suspects"] == clean["suspects"]
