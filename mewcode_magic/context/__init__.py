"""What is sent to a model: the system prompt, the block in front, the request, and a report on them."""

from mewcode_magic.context.activity import activity_blocks, activity_notice, error_block
from mewcode_magic.context.builder import RequestBuilder
from mewcode_magic.context.compaction import Compaction
from mewcode_magic.context.front import Front, listed
from mewcode_magic.context.growing import Growing
from mewcode_magic.context.mentions import mentioned
from mewcode_magic.context.notices import notice_of_summary, notices_of_resume
from mewcode_magic.context.preview import moved_to_file
from mewcode_magic.context.reminder import Reminder, notice_block
from mewcode_magic.context.report import ContextPart, ContextReport, report_context
from mewcode_magic.context.room import Room
from mewcode_magic.context.system import system_prompt
from mewcode_magic.context.telling import Telling
from mewcode_magic.context.tokens import estimate_tokens, estimate_tokens_of
from mewcode_magic.context.trimming import Trimming

__all__ = [
    "Compaction",
    "ContextPart",
    "ContextReport",
    "Front",
    "Growing",
    "Reminder",
    "RequestBuilder",
    "Room",
    "Telling",
    "Trimming",
    "activity_blocks",
    "activity_notice",
    "error_block",
    "estimate_tokens",
    "estimate_tokens_of",
    "listed",
    "mentioned",
    "moved_to_file",
    "notice_block",
    "notice_of_summary",
    "notices_of_resume",
    "report_context",
    "system_prompt",
]
