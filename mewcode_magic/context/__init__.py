"""What is sent to a model: the system prompt, the block in front, the request, and a report on them."""

from mewcode_magic.context.activity import activity_blocks, activity_notice, error_block
from mewcode_magic.context.compaction import Compaction
from mewcode_magic.context.front import Front, notice_of_summary, notices_of_resume, read_front
from mewcode_magic.context.mentions import mentioned
from mewcode_magic.context.reminder import Reminder, notice_block
from mewcode_magic.context.report import ContextPart, ContextReport, report_context
from mewcode_magic.context.request import build_request
from mewcode_magic.context.room import Room
from mewcode_magic.context.system import system_prompt
from mewcode_magic.context.tokens import estimate_tokens, estimate_tokens_of

__all__ = [
    "Compaction",
    "ContextPart",
    "ContextReport",
    "Front",
    "Reminder",
    "Room",
    "activity_blocks",
    "activity_notice",
    "build_request",
    "error_block",
    "estimate_tokens",
    "estimate_tokens_of",
    "mentioned",
    "notice_block",
    "notice_of_summary",
    "notices_of_resume",
    "read_front",
    "report_context",
    "system_prompt",
]
