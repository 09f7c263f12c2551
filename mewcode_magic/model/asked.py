"""What a prompt asks for, by its words alone: the rules of the offline answers, in English and Chinese."""

from __future__ import annotations

import re

__all__ = ["asks_for_memories", "asks_for_recap", "fact_to_keep"]

_ASIDE = r"(?:(?:please|also|and|ok|okay|hey)\b[\s,]*)*"
_ORDER = re.compile(
    rf"{_ASIDE}(?P<asked>(?:can|could|will|would)\s+you\s+)?{_ASIDE}remember\b"
    r"(?:\s+(?:this|the\s+following)(?=\s*[:,-]))?[\s:,-]*(?:(?:that|to)\b\s*)?(?P<fact>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_ORDER_ZH = re.compile(
    r"(?:请|麻烦)?你?(?:帮我|替我|给我)?(?:记住|记下来?|记一下)[\s:,\uff1a\uff0c]*(?P<fact>\S.*)", re.DOTALL
)
_BEHIND = re.compile(
    rf"(?P<fact>\S.*?)[.!;,\s]+{_ASIDE}remember\s+(?:this|that|it)\s*(?:please)?[.!]*"
    r"|(?P<fact_zh>\S.*?)[\s,;\uff0c\u3002\uff1b]+请?(?:你|帮我)?记住(?:这一?点|这个|它)?[!\u3002\uff01]*",
    re.IGNORECASE | re.DOTALL,
)
_QUESTION_WORD = re.compile(r"(?:what|when|where|which|who|whom|whose|why|how|if|whether)\b", re.IGNORECASE)
_POINTER = re.compile(r"(?:this|that|it|them|me|这一?点|这个|它)?[\s.!。\uff01]*", re.IGNORECASE)
_RECAP = re.compile(
    r"\b(?:what|which)\b.*\b(?:did|have|had|were|was)\b.*\b(?:I|we|my|our)\b.*"
    r"\b(?:ask|asked|talk|talked|talking|discuss|discussed|discussing|say|said|tell|told|questions?|prompts?)\b"
    r"|\bwhat\s+(?:was|were|is|are)\s+(?:my|our)\b.*\b(?:questions?|prompts?|conversation)\b"
    r"|\bwhere\s+(?:were|did)\s+we\b"
    r"|\b(?:recap|summari[sz]e)\b.*\b(?:conversation|chat|session|discussion|so\s+far)\b"
    r"|我们?.*(?:聊|谈|讨论|问|说)(?:了|过|到).*(?:什么|哪些|哪里|内容)|(?:总结|回顾).*(?:对话|聊天|会话)",
    re.IGNORECASE | re.DOTALL,
)
_MEMORIES = re.compile(
    r"\bwhat\b.*\byou\b.*\b(?:know|remember|remembered)\b.*\b(?:me|us|about)\b"
    r"|\bwhat\s+(?:do|did|have)\s+you\s+remember(?:ed)?\b"
    r"|你(?:都|还)?(?:知道|记得|记住)(?:了)?.*(?:什么|哪些)",
    re.IGNORECASE | re.DOTALL,
)


def fact_to_keep(prompt: str) -> str:
    """Return what the prompt says to remember, or "" if it says no such thing.

    "Remember …", "please remember that …", "… Remember that.", 记住…, and the like. A question whether or
    what one remembers is none.
    """
    prompt = prompt.strip()
    if order := _ORDER.fullmatch(prompt) or _ORDER_ZH.fullmatch(prompt):
        fact = order["fact"].strip()
        asks = fact.endswith(("?", "\uff1f")) and not order.groupdict().get("asked")
        if _POINTER.fullmatch(fact) or _QUESTION_WORD.match(fact) or asks:
            return ""
        return fact.rstrip("?\uff1f").rstrip()
    if behind := _BEHIND.fullmatch(prompt):
        return (behind["fact"] or behind["fact_zh"]).strip()
    return ""


def asks_for_recap(prompt: str) -> bool:
    """Whether the prompt asks what was said in this conversation."""
    return _RECAP.search(prompt) is not None


def asks_for_memories(prompt: str) -> bool:
    """Whether the prompt asks what is remembered."""
    return _MEMORIES.search(prompt) is not None
