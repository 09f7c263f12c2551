"""Every error that MewCode raises on purpose, and how a notebook shows it: one clear line.

::

    MewCodeError
    ├── CommandError              a magic's line cannot be understood
    ├── NoFailure                 no cell has failed that could be asked about
    ├── SettingError              a trait, environment variable or constructor value is not usable
    ├── InvalidArgument           a tool's argument cannot be used
    ├── StorageError              a file or folder cannot be read or written
    ├── SessionError
    │   ├── SessionNotFound       no session has that id, prefix or number
    │   ├── SessionAmbiguous      several sessions share that prefix
    │   ├── SessionInUse          another process, or a turn under way, holds the session
    │   ├── ConversationFull      the conversation leaves no room for another prompt
    │   └── NothingToCompact      too little stands before what a compaction keeps
    ├── MemoryStoreError
    │   ├── InvalidMemory         a memory that may not be written as it is
    │   │   └── CredentialRefused it seems to hold a credential
    │   ├── MemoryNotFound        no memory has that name or slug
    │   ├── MemoryAmbiguous       the name stands in both places
    │   └── MemoryChanged         its file is not what was read
    └── ModelError
        ├── NoKey                 the model needs an API key and none is set
        ├── KeyRefused            the API does not accept the key
        ├── UnknownModel          the API does not know the model
        ├── RateLimited           too many requests or tokens
        ├── Overloaded            the API cannot take the request at the moment
        ├── ContextTooLong        the request exceeds the model's window
        ├── RequestRefused        the API refuses the request for another reason
        ├── Unreachable           no connection to the API
        ├── ReplyCutOff           the stream ended before the reply did
        └── AnswerUnusable        a query's answer came too late, or is not what was asked for

A message says what failed, on which path or id, and what to do next.
"""

from __future__ import annotations

__all__ = [
    "AnswerUnusable",
    "CommandError",
    "ContextTooLong",
    "ConversationFull",
    "CredentialRefused",
    "InvalidArgument",
    "InvalidMemory",
    "KeyRefused",
    "MemoryAmbiguous",
    "MemoryChanged",
    "MemoryNotFound",
    "MemoryStoreError",
    "MewCodeError",
    "ModelError",
    "NoFailure",
    "NoKey",
    "NothingToCompact",
    "Overloaded",
    "RateLimited",
    "ReplyCutOff",
    "RequestRefused",
    "SessionAmbiguous",
    "SessionError",
    "SessionInUse",
    "SessionNotFound",
    "SettingError",
    "StorageError",
    "UnknownModel",
    "Unreachable",
    "one_line",
]

LINE_LIMIT = 600
"""Characters of a message that are shown; names from files and models can be of any length."""


def one_line(text: str) -> str:
    """Return `text` as one printable line of at most LINE_LIMIT characters.

    For messages and notices that quote names from files and models: none can forge a second line.
    """
    text = " ".join(text.split())
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return text if len(text) <= LINE_LIMIT else text[: LINE_LIMIT - 1] + "…"


class MewCodeError(Exception):
    """Root of the tree: something failed that the user can act on."""

    def __str__(self) -> str:
        """Return the message as one printable line, so that no name in it can forge a second one."""
        return one_line(super().__str__())

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows in place of a traceback; the cell still fails."""
        return [f"{type(self).__name__}: {self}"]


class CommandError(MewCodeError):
    """A magic's line cannot be understood."""


class NoFailure(MewCodeError):
    """No cell of the user's has failed that could be asked about."""


class SettingError(MewCodeError):
    """A setting has a value that cannot be used, or cannot be changed any more."""


class InvalidArgument(MewCodeError):
    """An argument of a tool cannot be used."""


class StorageError(MewCodeError):
    """A file or folder cannot be read or written."""


class SessionError(MewCodeError):
    """Something about one session."""


class SessionNotFound(SessionError):
    """No session has that id, prefix or number."""


class SessionAmbiguous(SessionError):
    """Several sessions share that prefix."""


class SessionInUse(SessionError):
    """Another process or kernel holds the session's lock, or a turn of another thread is under way."""


class ConversationFull(SessionError):
    """The conversation leaves no room for another prompt, and is not compacted by itself."""


class NothingToCompact(SessionError):
    """Too little stands before what a compaction keeps word for word."""


class MemoryStoreError(MewCodeError):
    """Something about one memory."""


class InvalidMemory(MemoryStoreError):
    """The memory may not be written as it is: a part is missing, or its type is unknown."""


class CredentialRefused(InvalidMemory):
    """The memory seems to hold a key, a token or a password; the message never does."""


class MemoryNotFound(MemoryStoreError):
    """No memory has that name or slug."""


class MemoryAmbiguous(MemoryStoreError):
    """The name stands in both places; its type says which is meant."""


class MemoryChanged(MemoryStoreError):
    """The memory's file changed on disk since it was read, and would have been overwritten."""


class ModelError(MewCodeError):
    """The model could not answer."""


class NoKey(ModelError):
    """The model needs an API key and none is set."""


class KeyRefused(ModelError):
    """The API does not accept the key."""


class UnknownModel(ModelError):
    """The API does not know the model."""


class RateLimited(ModelError):
    """Too many requests or tokens in a short time."""


class Overloaded(ModelError):
    """The API cannot take the request at the moment."""


class ContextTooLong(ModelError):
    """The request exceeds the model's window."""


class RequestRefused(ModelError):
    """The API refuses the request for another reason."""


class Unreachable(ModelError):
    """No connection to the API."""


class ReplyCutOff(ModelError):
    """The stream ended before the reply did."""


class AnswerUnusable(ModelError):
    """What a model answered to a question of the program came too late, or is not what was asked for."""
