"""The terminal workplace: a Textual application around one case. It renders and decides nothing."""
