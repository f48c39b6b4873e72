"""Order the cascade, weigh the suspects, choose the action, or say that the logs do not tell."""
