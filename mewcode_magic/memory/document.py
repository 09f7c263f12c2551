"""The text of one memory file, read whatever people and programs made of it, and written.

::

    ---
    name: prefers-polars
    description: when writing dataframe code, use polars rather than pandas
    type: user
    updated: '2026-11-29T10:00:00.000+00:00'
    ---

    The user asked for polars in all new code.

Every key may be missing, and so may the whole frontmatter. Keys that are not ours are kept.
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any

from mewcode_magic.errors import InvalidMemory
from mewcode_magic.memory.record import TYPES, Memory, Place, moment

__all__ = ["NOT_YAML", "NO_FRONTMATTER", "NO_TYPE", "first_sentence", "read_document", "write_document"]

NO_FRONTMATTER = "it has no frontmatter"
NO_TYPE = "it has no type"
NOT_YAML = "its frontmatter is not valid YAML, so it was read line by line"

SENTENCE_LENGTH = 200
"""Characters of a sentence that stands for a whole text."""

_MARKS = re.compile(r"^\s*(?:(?:#{1,6}|>|[-*+]|\d{1,3}[.)])\s+)*")
_SENTENCE_END = re.compile(
    r"[\N{IDEOGRAPHIC FULL STOP}\N{FULLWIDTH EXCLAMATION MARK}\N{FULLWIDTH QUESTION MARK}]"
    r"|(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)[.!?](?=\s)"
)

MOST_VALUES = 10_000
"""Values that a frontmatter may hold; aliases can make a handful of lines into billions."""


def read_document(
    text: str, slug: str, place: Place, *, path: Path | None = None, modified: datetime | None = None
) -> tuple[Memory, list[str]]:
    """Return the memory that a file's text holds, and what is wrong with the text; nothing makes it fail.

    What the frontmatter does not say follows from the file: the name from `slug`, the description from the
    first sentence, the type from `place`.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    keys, body, faults = _split(text)
    nested = keys.get("metadata")
    within = nested if isinstance(nested, dict) else {}

    def take(key: str) -> str:
        value = keys.pop(key, None)
        value = within.get(key) if value is None else value
        return "" if value is None or isinstance(value, (dict, list, set)) else str(value).strip()

    name, description, kind, source = take("name"), take("description"), take("type").lower(), take("source")
    if kind not in TYPES:
        if kind or not faults:
            faults.append(f"its type {kind!r} is unknown" if kind else NO_TYPE)
        kind = place
    times = {}
    for key in ("created", "updated", "expires"):
        if keys.get(key) is None:
            continue
        try:
            times[key] = moment(keys[key], end_of_day=key == "expires")
            del keys[key]
        except ValueError:
            faults.append(f"its time {key!r} is not ISO 8601")
    memory = Memory(
        name or slug.rpartition("/")[2] or "unnamed",
        description or first_sentence(body),
        kind,
        body,
        source=source or None,
        extra=keys,
        path=path,
        found_in=place,
        file_slug=slug,
        modified=modified,
        **times,
    )
    return memory, faults


def write_document(memory: Memory) -> str:
    """Return the file's text for a memory.

    Raises:
        InvalidMemory: a value in `extra` is none that YAML knows.
    """
    import frontmatter
    import yaml

    keys: dict[str, Any] = {"name": memory.name, "description": memory.description, "type": memory.type}
    for key in ("created", "updated", "expires"):
        if stamp := getattr(memory, key):
            keys[key] = stamp.isoformat(timespec="milliseconds")
    if memory.source:
        keys["source"] = memory.source
    extra = {key: value for key, value in memory.extra.items() if key not in keys}
    nested = extra.get("metadata")
    if isinstance(nested, dict) and "type" in nested:
        extra["metadata"] = {**nested, "type": memory.type}
    post = frontmatter.Post(memory.body)
    post.metadata = keys | extra
    style: dict[str, Any] = {
        "Dumper": yaml.SafeDumper,  # the one in C escapes emoji
        "width": float("inf"),  # programs that read line by line trip over folded ones
        "sort_keys": False,
        "allow_unicode": r"\x85" not in repr(extra),  # PyYAML cannot read this line end as it writes it
    }
    try:
        text: str = frontmatter.dumps(post, **style)
    except yaml.YAMLError as error:
        raise InvalidMemory(
            f"the memory {memory.name!r} has a key that cannot be written: {error}"
        ) from error
    return text + "\n"


def first_sentence(text: str) -> str:
    """Return a text's first sentence, without Markdown's marks before it, at most SENTENCE_LENGTH long."""
    words: list[str] = []
    for line in text.split("\n"):
        plain = _MARKS.sub("", line, count=1).strip()
        if words and (not plain or plain != line.strip()):
            break
        if plain.strip("-=*_"):  # else it is a rule, or the border of a frontmatter
            words.append(plain)
        if words and line.lstrip().startswith("#"):
            break
    paragraph = " ".join(words)
    end = _SENTENCE_END.search(paragraph)
    sentence = paragraph[: end.end()] if end else paragraph
    if len(sentence) <= SENTENCE_LENGTH:
        return sentence
    cut = sentence[: SENTENCE_LENGTH - 1]
    return (cut.rpartition(" ")[0] or cut) + "…"


def _split(text: str) -> tuple[dict[str, Any], str, list[str]]:
    """Return a text's keys, its body and what is wrong with it."""
    from frontmatter.default_handlers import YAMLHandler

    handler = YAMLHandler()
    text = text.strip()
    if not handler.detect(text):
        return {}, text, [NO_FRONTMATTER]
    try:
        header, body = handler.split(text)
    except ValueError:
        return {}, text, ["its frontmatter does not end"]
    try:
        found = handler.load(header)
        if found is None or (isinstance(found, dict) and _is_small(found)):
            return _as_written(header, found or {}), body, []
    except Exception:  # noqa: BLE001 - YAML's constructors raise nearly anything, from KeyError to RecursionError
        found = None
    keys = _line_by_line(header)
    if keys.keys() & {"name", "description", "type", "metadata"}:
        return keys, body, [NOT_YAML]
    return {}, text, [NO_FRONTMATTER]  # two rules with text between them


def _as_written(header: str, found: dict[Any, Any]) -> dict[Any, Any]:
    """Return the keys with our texts as people meant them: a name `404` is no number, ` #` no comment."""
    ours = {key: found[key] for key in ("name", "description", "type", "source") if key in found}
    if any(not isinstance(value, (str, type(None))) for value in ours.values()):
        import yaml

        plain = yaml.load(header, Loader=yaml.BaseLoader)  # noqa: S506 - it makes strings, lists and dicts only
        ours = {key: text if isinstance(text := plain.get(key), str) else ours[key] for key in ours}
    for key in ours.keys() & {"name", "description"}:
        line = re.search(rf"^{key}:[ \t]+(\S.*)$", header, re.MULTILINE)
        if line and " #" in line[1] and line[1][0] not in "'\"|>&*!%@`[{#":
            ours[key] = line[1]
    return {**found, **ours}


def _line_by_line(header: str) -> dict[str, Any]:
    """Return the keys of a frontmatter that is no YAML: lines of `key: value`, also below `metadata:`."""
    keys: dict[str, Any] = {}
    last = ""
    for line in header.split("\n"):
        match = re.fullmatch(r"(\s*)([A-Za-z_][\w-]*):(?:\s+(.*))?", line)
        if match and not match[1]:
            last = match[2]
            keys[last] = _unquoted(match[3] or "")
        elif match and last == "metadata" and not isinstance(keys[last], str):
            keys[last][match[2]] = _unquoted(match[3] or "")
        elif match and last == "metadata":
            keys[last] = {match[2]: _unquoted(match[3] or "")}
        elif last and isinstance(keys[last], str) and line[:1] in (" ", "\t"):
            keys[last] = f"{keys[last]} {line.strip()}".strip()
    return keys


def _unquoted(value: str) -> str:
    value = value.strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value


def _is_small(value: object) -> bool:
    """Return whether walking the whole of `value`, aliases included, comes to an end soon."""
    waiting, seen = [value], 0
    while waiting:
        seen += 1
        if seen > MOST_VALUES:
            return False
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, (list, set, tuple)):
            waiting += item
    return True
