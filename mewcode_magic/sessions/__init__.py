"""Conversations on disk: JSONL files that survive crashes, other programs and full disks."""

from mewcode_magic.sessions.chain import Chain, repair_chain
from mewcode_magic.sessions.found import Found
from mewcode_magic.sessions.history import History, Resumed, ResumeReport
from mewcode_magic.sessions.meta import SessionInfo
from mewcode_magic.sessions.session import Session
from mewcode_magic.sessions.store import SessionStore
from mewcode_magic.sessions.summary import summary_of
from mewcode_magic.sessions.trimmed import prompt_key

__all__ = [
    "Chain",
    "Found",
    "History",
    "ResumeReport",
    "Resumed",
    "Session",
    "SessionInfo",
    "SessionStore",
    "prompt_key",
    "repair_chain",
    "summary_of",
]
