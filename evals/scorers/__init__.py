"""What an answer is worth against the truth: every column of the scoreboard, the same for every tool."""
