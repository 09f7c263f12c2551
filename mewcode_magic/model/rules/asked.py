"""What a prompt asks for, by its words alone: the rules of the offline answers, in English and Chinese."""

from __future__ import annotations

import re

__all__ = ["asks_for_memories", "asks_for_recap", "fact_to_keep", "variables_to_inspect"]

QUESTION_CHARS = 200
"""A longer prompt is work, not a question about the conversation or the memories."""

_ASIDE = r"(?:(?:please|also|and|ok|okay|hey)\b[\s,]*)*"
_ORDER = re.compile(
    rf"{_ASIDE}(?P<asked>(?:can|could|will|would)\s+you\s+)?{_ASIDE}remember\b"
    r"(?:\s+(?:this|the\s+following)(?=\s*[:,-]))?[\s:,-]*(?:(?:that|to)\b\s*)?(?P<fact>\S.*)"
    r"|(?:请|麻烦)?你?(?:帮我|替我|给我)?(?:记住|记下来?|记一下)[\s:,\uff1a\uff0c]*(?P<fact_zh>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_ORDER_BEHIND = re.compile(
    rf"[.!;,\s]{_ASIDE}remember\s+(?:this|that|it)(?:\s+please)?[.!]*$"
    r"|[\s,;\uff0c\u3002\uff1b]请?(?:你|帮我)?记住(?:这一?点|这个|它)?[!\u3002\uff01]*$",
    re.IGNORECASE,
)
_BEHIND_CHARS = 60
_QUESTION_WORD = re.compile(r"(?:what|when|where|which|who|whom|whose|why|how|if|whether)\b", re.IGNORECASE)
_POINTER = re.compile(r"(?:this|that|it|them|me|这一?点|这个|它)?[\s.!\u3002\uff01]*", re.IGNORECASE)
_QUESTION_MARKS = "?\uff1f"

_RECAP = (
    (
        {"what", "which"},
        {"did", "have", "had", "was", "were"},
        {"i", "we", "my", "our"},
        {"ask", "asked", "talk", "talked", "talking", "discuss", "discussed", "discussing", "say", "said"}
        | {"tell", "told", "question", "questions", "prompt", "prompts"},
    ),
    ({"recap", "summarize", "summarise"}, {"conversation", "chat", "session", "discussion"}),
    ({"where"}, {"were"}, {"we"}),
)
"""Each question has a word of each set."""
_RECAP_ZH = re.compile(
    r"我们?[^\n]*(?:聊|谈|讨论|问|说)[了过到]?(?:什么|哪些|哪里)|(?:总结|回顾)[^\n]*(?:对话|聊天|会话)"
)
_MEMORIES = (
    ({"what"}, {"you"}, {"know"}, {"me", "us"}),
    ({"what"}, {"you"}, {"remember", "remembered"}),
)
_MEMORIES_ZH = re.compile(r"你[都还]?(?:知道|记得|记住)了?[^\n]*(?:什么|哪些)")


_LOOK = re.compile(
    r"(?:\b(?:describe|inspect|look\s+at|what(?:\s+is|['\u2019]s)\s+in|(?:shape|columns|dtypes|nulls)\s+of)\b"
    r"|描述|查看|看看|看一下|检查)\s*"
    r"(?:(?:the\s+|my\s+)?(?:variable|data\s?frame|array|变量)\s+)?(?P<name>[A-Za-z_]\w*)(?![\w/-]|\.\w|\s+\w)",
    re.IGNORECASE,
)
_NAMED = re.compile(r"`(?P<name>[A-Za-z_]\w*)`")
_NO_NAMES = frozenset(
    {"a", "all", "it", "me", "memory", "that", "the", "them", "there", "these", "this", "us"}
)


def variables_to_inspect(prompt: str) -> list[str]:
    """Return the names of variables that a prompt asks to look at; they may not exist.

    They stand in backticks, or at the end behind “describe”, “what is in”, 看看 and the like.
    """
    if len(prompt) > QUESTION_CHARS:
        return []
    found = [match["name"] for pattern in (_LOOK, _NAMED) for match in pattern.finditer(prompt)]
    return [name for name in dict.fromkeys(found) if name.lower() not in _NO_NAMES]


def fact_to_keep(prompt: str) -> str:
    """Return what the prompt says to remember, or "" if it says no such thing.

    "Remember …", "please remember that …", "… Remember that.", 记住…, and the like. A question whether or
    what one remembers is none.
    """
    prompt = prompt.strip()
    if order := _ORDER.fullmatch(prompt):
        fact = (order["fact"] or order["fact_zh"]).strip()
        asks = fact.endswith(tuple(_QUESTION_MARKS)) and not order["asked"]
        if asks or _POINTER.fullmatch(fact) or _QUESTION_WORD.match(fact):
            return ""
        return fact.rstrip(_QUESTION_MARKS).rstrip()
    start = max(0, len(prompt) - _BEHIND_CHARS)
    if order := _ORDER_BEHIND.search(prompt, start):
        return prompt[: order.start()].strip()
    return ""


def asks_for_recap(prompt: str) -> bool:
    """Whether the prompt asks what was said in this conversation."""
    return _asks(prompt, _RECAP, _RECAP_ZH)


def asks_for_memories(prompt: str) -> bool:
    """Whether the prompt asks what is remembered."""
    return _asks(prompt, _MEMORIES, _MEMORIES_ZH)


def _asks(prompt: str, questions: tuple[tuple[set[str], ...], ...], pattern_zh: re.Pattern[str]) -> bool:
    if len(prompt) > QUESTION_CHARS:
        return False
    words = set(re.findall(r"[a-z]+", prompt.lower()))
    return any(all(words & group for group in groups) for groups in questions) or bool(
        pattern_zh.search(prompt)
    )
