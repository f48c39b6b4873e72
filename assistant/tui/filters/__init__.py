"""Filters of log lines: what is typed, what passes, and the bar that shows them."""
