"""Faces of a Case: one screen of text, JSON, Markdown. They render and decide nothing."""
