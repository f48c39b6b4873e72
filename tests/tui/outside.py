"""Text as it may come from outside: nothing of it may be read as markup, or act on a terminal."""

from __future__ import annotations

MARKUP = "[rank0]: [bold red]NCCL error[/] in [/data/x] [@click=app.quit]here[/] $error"
ESCAPES = "\x1b[31mred\x1b[0m \x1b]52;c;aGFja2Vk\x07 \x1b[2J \x9b2J"
CONTROLS = "bell\x07 null\x00 back\x08 return\rover del\x7f"
BIDI = "left \u202egnp.exe\u202c שלום عربى"
WIDE = "表格🔥\uff57\uff49\uff44\uff45 é́́ \u200b zero"
LONG = "x" * 1_000_000
MARKDOWN = "[rank1]: gone\n\n<b>html</b> ![i](http://x/y.png) [link](javascript:alert(1)) `[rank2]` # no | table |"

EVERY = (MARKUP, ESCAPES, CONTROLS, BIDI, WIDE, LONG, MARKDOWN)
