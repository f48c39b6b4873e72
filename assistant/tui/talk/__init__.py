"""The conversation beside the case: asking, showing what comes, and the prompt."""
