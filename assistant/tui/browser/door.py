"""Who may come in: an address that works once, then a cookie, and only from pages of this machine. Knows no server.

Loopback is open to everybody who is logged in on the machine, and to every page that a browser there shows. So the
address carries a random token, the first use of which is exchanged for a cookie that scripts cannot read; a request
must name this machine as its host, or a foreign name could be pointed at it; and a page that opens the connection to a
workplace must have come from here.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence

HOST = "127.0.0.1"
"""Written into the address as a number: the name localhost may lead to another socket, which another user holds."""
BYTES = 32
"""Random bytes of a token and of a cookie."""
_LOOPBACK = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)


class Door:
    """One address and the one browser that used it."""

    def __init__(self, port: int) -> None:
        # Browsers keep the cookies of all ports of a host together.
        self.cookie = f"rootrank-{port}"
        self._token = secrets.token_urlsafe(BYTES)
        self._session = secrets.token_urlsafe(BYTES)
        self._used = False
        self._port = port

    @property
    def address(self) -> str:
        """What is opened in the browser, once."""
        return f"http://{HOST}:{self._port}/?token={self._token}"

    def exchange(self, token: str) -> str | None:
        """The cookie for the token, the first time; None for any other token, and later."""
        if not _same(token, self._token) or self._used:
            return None
        self._used = True
        return self._session

    def knows(self, session: str) -> bool:
        """Whether it is the cookie that was given away."""
        return _same(session, self._session) and self._used


def of_this_machine(hosts: Sequence[str]) -> bool:
    """Whether a request names this machine, once, as its host; the port may be that of a tunnel."""
    return len(hosts) == 1 and _LOOPBACK.fullmatch(hosts[0]) is not None


def of_this_page(origins: Sequence[str], host: str) -> bool:
    """Whether a connection was opened by a page that came from the same host and port."""
    return len(origins) == 1 and origins[0].lower() == f"http://{host.lower()}"


def _same(given: str, kept: str) -> bool:
    """Compared in a time that does not tell how much of it is right."""
    return secrets.compare_digest(given.encode("utf-8", "surrogateescape"), kept.encode())
