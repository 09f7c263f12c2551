"""Claude, or whatever else speaks the Messages API, as a model; the first request imports the SDK."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

from mewcode_magic.errors import AnswerUnusable, ModelError
from mewcode_magic.events import BlockEnded, ModelEvent, Query, Reply, ReplyEnded, Request
from mewcode_magic.messages import Usage
from mewcode_magic.model.answer import read_answer
from mewcode_magic.model.connection import Connection
from mewcode_magic.model.names import DEFAULT_MODEL
from mewcode_magic.model.reply import ReplyStream

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
        yield from self._events(request)

    def query(self, query: Query) -> Reply:
        """Answer a question of the program; what it says before its text, as in thinking, is left out.

        Raises:
            AnswerUnusable: it was not complete in time, or does not fit the schema.
            ModelError: there is no answer; its subclass says why.
        """
        late = time.monotonic() + query.seconds
        texts: list[str] = []
        usage = Usage()
        with contextlib.closing(self._events(query.request(), seconds=query.seconds)) as events:
            for event in events:
                match event:
                    case BlockEnded({"type": "text", "text": str(text)}):
                        texts.append(text)
                    case ReplyEnded():
                        usage = event.usage
                if time.monotonic() > late:
                    raise AnswerUnusable(f"{self.name} did not answer within {query.seconds:g} s")
        return Reply(read_answer("\n".join(texts), query.schema), usage)

    def probe(self, *, seconds: float) -> None:
        """See whether the server is there, speaks the Messages API and takes the key; it costs nothing.

        Raises:
            ModelError: it does not, or not within `seconds`; its subclass says why.
        """
        self._connected().probe(timeout=seconds)

    def _events(self, request: Request, *, seconds: float | None = None) -> Generator[ModelEvent]:
        """Yield a reply's events; after `seconds` without a byte it counts as lost."""
        wire = self._connected()
        reply = ReplyStream(self.name)
        with contextlib.closing(wire.events(request, read_timeout=seconds)) as events:
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
