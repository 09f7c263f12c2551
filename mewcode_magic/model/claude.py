"""Claude, or whatever else speaks the Messages API, as a model; the first request imports the SDK."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mewcode_magic.errors import ModelError
from mewcode_magic.events import ModelEvent, Request
from mewcode_magic.model.connection import Connection
from mewcode_magic.model.names import DEFAULT_MODEL
from mewcode_magic.model.reply import Reply

if TYPE_CHECKING:
    from mewcode_magic.model.wire import Wire

__all__ = ["Claude"]

MAX_RETRIES = 2
"""How often the SDK repeats a request that was not answered; its own default."""
READ_TIMEOUT = 600.0
"""Seconds without any byte after which a reply counts as lost; the SDK's default."""


class Claude:
    """A model behind the Messages API.

    Key and server come from the environment as it is at each request. The connection stays open between
    requests, so an object that is kept answers sooner.
    """

    def __init__(
        self,
        name: str = DEFAULT_MODEL,
        *,
        max_retries: int = MAX_RETRIES,
        read_timeout: float = READ_TIMEOUT,
    ) -> None:
        self.name = name
        self._max_retries = max_retries
        self._read_timeout = read_timeout
        self._wire: Wire | None = None

    def __repr__(self) -> str:
        return f"Claude({self.name!r})"

    def stream(self, request: Request) -> Iterator[ModelEvent]:
        """Yield the reply as it arrives; the last event is `ReplyEnded`.

        Blocks are exactly what the server gave. Blank text is none, since it could not be sent back, nor is
        a call whose input the limit of tokens cut. Closing the iterator, or an exception raised inside it,
        ends the connection.

        Raises:
            ModelError: no reply, or only a part of one, could be had; its subclass says why.
        """
        wire = self._connected()
        reply = Reply(self.name)
        with contextlib.closing(wire.events(request)) as events:
            for event in events:
                try:
                    meanings = list(reply.take(event))
                except (ValueError, LookupError, TypeError, AttributeError):
                    raise wire.failures.damaged() from None
                yield from meanings
        yield reply.end()

    def _connected(self) -> Wire:
        """Return the wire for the environment as it is now."""
        connection = Connection.from_environment()
        if self._wire is None or self._wire.connection != connection:
            options = connection.client_options()
            try:
                from mewcode_magic.model.wire import Wire
            except ImportError as error:
                raise ModelError(
                    f"the Anthropic SDK cannot be imported ({error}); run: pip install --upgrade anthropic"
                ) from error
            self._wire = Wire(
                self.name,
                connection,
                options,
                max_retries=self._max_retries,
                read_timeout=self._read_timeout,
            )
        return self._wire
