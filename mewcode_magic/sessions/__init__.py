"""Conversations on disk: JSONL files that survive crashes, other programs and full disks."""

from mewcode_magic.sessions.boundary import summary_in
from mewcode_magic.sessions.chain import Chain, repair_chain
from mewcode_magic.sessions.found import Found
from mewcode_magic.sessions.history import History, Resumed, ResumeReport
from mewcode_magic.sessions.latest import free_sessions
from mewcode_magic.sessions.meta import SessionInfo
from mewcode_magic.sessions.session import Session
from mewcode_magic.sessions.store import SessionStore
from mewcode_magic.sessions.summary import summary_of
from mewcode_magic.sessions.trimmed import prompt_key
from mewcode_magic.sessions.turns import Turn, turns_of

__all__ = [
    "Chain",
    "Found",
    "History",
    "ResumeReport",
    "Resumed",
    "Session",
    "SessionInfo",
    "SessionStore",
    "Turn",
    "free_sessions",
    "prompt_key",
    "repair_chain",
    "summary_in",
    "summary_of",
    "turns_of",
]
