"""Answers about a case: the port that answers, its stream of typed events, the check of each sentence, sessions."""
