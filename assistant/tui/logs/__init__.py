"""The log viewer: bytes, lines, what is counted, searched and cited in them, and the screen that shows them."""
