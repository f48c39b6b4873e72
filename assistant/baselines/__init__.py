"""Event statistics of healthy runs: what an ordinary job of a family writes, and how often."""
