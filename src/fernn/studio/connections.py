"""Connections that end: a client that sends nothing, half a request, or takes no answer is dropped after a while.

Uvicorn by itself waits without end for the first request of a connection and for the rest of a request. Every user of
the machine can connect, with or without a token, so what they may hold open is limited in time and in number.
"""

from __future__ import annotations

from asyncio import TimerHandle, Transport
from dataclasses import dataclass
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


@dataclass(frozen=True)
class ConnectionLimits:
    """Seconds and numbers that no client of a browser comes near."""

    head: float = 20.0
    """Seconds from the beginning of a connection, or the first byte of a later request, to the end of its headers."""
    stall: float = 60.0
    """Seconds in which nothing comes of a body, or nothing is taken of an answer."""
    most: int = 200
    """Connections at once; one more ends the one that has waited longest without a request."""


USUAL = ConnectionLimits()


def limited(limits: ConnectionLimits) -> type[H11Protocol]:
    """Uvicorn's protocol with these limits."""

    class LimitedHTTP(H11Protocol):
        began = 0.0
        _head_since: float | None = None
        _heard = _moved = 0.0
        _left = 0
        _timer: TimerHandle | None = None

        def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.began = self._heard = self._moved = self._head_since = self.loop.time()
            others = [each for each in self.connections if isinstance(each, LimitedHTTP)]
            alive = [each for each in others if not each.transport.is_closing()]
            if len(alive) > limits.most:
                idle = [each for each in alive if not each.is_busy]
                min(idle, key=lambda each: (each.cycle is not None, each.began), default=self).transport.abort()
            self._watch()

        def data_received(self, data: bytes) -> None:
            self._heard = self.loop.time()
            if not self.is_busy and self._head_since is None:
                self._head_since = self._heard
            super().data_received(data)
            if self.is_busy:
                self._head_since = None

        def connection_lost(self, exc: Exception | None) -> None:
            if self._timer is not None:
                self._timer.cancel()
            super().connection_lost(exc)

        @property
        def is_busy(self) -> bool:
            """Whether a request is under way: its headers are read, its answer is not yet given."""
            return self.cycle is not None and not self.cycle.response_complete

        def _watch(self) -> None:
            """Ends it where it is late; otherwise looks again soon."""
            now = self.loop.time()
            left = self.transport.get_write_buffer_size()
            if left != self._left or not left:
                self._left, self._moved = left, now
            is_late = (
                (self._head_since is not None and not self.is_busy and now - self._head_since > limits.head)
                or (self._awaits_body and now - self._heard > limits.stall)
                or now - self._moved > limits.stall
            )
            if is_late:
                self.transport.abort()
            else:
                self._timer = self.loop.call_later(min(limits.head, limits.stall) / 4, self._watch)

        @property
        def _awaits_body(self) -> bool:
            """Whether the client is to send more; not while it is we who do not read."""
            flow: Any = self.flow
            return self.is_busy and self.cycle.more_body and not getattr(flow, "read_paused", False)

    return LimitedHTTP
