"""The answerer that asks a language model. The only room that imports langchain and openai, and only when asked to."""
