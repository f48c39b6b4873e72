"""A scripted OpenAI-compatible server: for the tutorial, the demonstration, the tests and the evaluations alike."""
