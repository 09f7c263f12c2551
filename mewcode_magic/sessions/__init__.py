"""Conversations on disk: JSONL files that survive crashes, other programs and full disks."""

from mewcode_magic.sessions.boundary import summary_in
from mewcode_magic.sessions.chain import repair_chain
from mewcode_magic.sessions.found import Found
from mewcode_magic.sessions.history import History, Resumed, ResumeReport
from mewcode_magic.sessions.meta import SessionInfo
from mewcode_magic.sessions.session import Session
from mewcode_magic.sessions.store import SessionStore
from mewcode_magic.sessions.summary import summary_of

__all__ = [
    "Found",
    "History",
    "ResumeReport",
    "Resumed",
    "Session",
    "SessionInfo",
    "SessionStore",
    "repair_chain",
    "summary_in",
    "summary_of",
]
