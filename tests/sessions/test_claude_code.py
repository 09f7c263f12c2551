from typing import Any

from claude_transcripts import ClaudeTranscript, bash, said, session_with_tools
from session_files import told

from mewcode_magic.messages import Message, Usage
from mewcode_magic.sessions.claude_code import UNANSWERED, read_claude_code
from mewcode_magic.sessions.records import Marker


def messages(transcript: ClaudeTranscript) -> list[Message]:
    return [record for record in read_claude_code(transcript.lines).records if isinstance(record, Message)]


def texts(transcript: ClaudeTranscript) -> list[str]:
    return told(messages(transcript))


def test_reply_of_several_lines_is_one_message_and_its_results_the_next() -> None:
    prompt, reply, results, answer = messages(session_with_tools())
    assert prompt.content == "why does the parser fail?"
    assert reply.content == [
        {"type": "thinking", "thinking": "Look first.", "signature": "seal"},
        bash("t1"),
        bash("t2", "cat parser.py"),
    ]
    assert (reply.model, reply.usage) == ("claude-test", Usage(input_tokens=10, output_tokens=4))
    assert results.content == [
        {"type": "tool_result", "tool_use_id": "t1", "content": "parser.py"},
        {"type": "tool_result", "tool_use_id": "t2", "content": [said("def parse(): ...")], "is_error": True},
    ]
    assert answer.text() == "It has no body."
    assert [m.ts for m in (prompt, reply, results, answer)] == [
        1_781_774_102.123,
        1_781_774_103.123,
        1_781_774_107.123,
        1_781_774_108.123,
    ]


def test_block_that_was_written_twice_is_taken_once() -> None:
    t = ClaudeTranscript()
    t.user("u1", "go")
    t.reply("a1", bash("t1"), message="msg_1")
    t.reply("a2", bash("t1"), message="msg_1")
    t.result("r1", "t1", "1")
    assert texts(t) == ["go", "tool_use:t1", "tool_result:t1"]


def test_result_between_two_blocks_of_a_reply_does_not_split_it() -> None:
    t = ClaudeTranscript()
    t.user("u1", "go")
    t.reply("a1", bash("t1"), message="msg_1")
    t.result("r1", "t1", "1")
    t.reply("a2", bash("t2"), message="msg_1")
    t.result("r2", "t2", "2")
    t.reply("a3", said("done"))
    assert texts(t) == ["go", "tool_use:t1,tool_use:t2", "tool_result:t1,tool_result:t2", "done"]


def test_agents_of_the_agent_and_the_programs_own_lines_are_left_out() -> None:
    t = session_with_tools()
    t.user("s1", "you are a sub-agent", isSidechain=True, parent=None)
    t.reply("s2", said("sub-answer"), isSidechain=True)
    t.reply("e1", said("API Error: 529"), isApiErrorMessage=True, parent="a4")
    t.user("m0", "report to me", teamName="builders")
    own = {"id": "x", "model": "<synthetic>", "content": [said("No response requested.")]}
    t.add("assistant", "e2", message=own)
    t.user("m2", [said("<system-reminder>be good</system-reminder>"), said("and the lexer?")])
    t.user("m3", "<local-command-stdout>ok</local-command-stdout>", isMeta=True)
    t.add("system", "y1", subtype="turn_duration", durationMs=3)
    t.reply("a5", said("Sound."))
    assert texts(t)[3:] == ["It has no body.", "and the lexer?", "Sound."]


def test_branch_that_was_left_is_left_out() -> None:
    t = ClaudeTranscript()
    t.user("u1", "first")
    t.reply("a1", said("one"))
    t.user("u2", "a wrong turn")
    t.reply("a2", said("wrong"))
    t.user("u3", "a right turn", parent="a1")
    t.reply("a3", said("right"))
    assert texts(t) == ["first", "one", "a right turn", "right"]


def test_lost_line_does_not_cost_what_stands_before_it() -> None:
    t = ClaudeTranscript()
    t.user("u1", "first")
    t.reply("a1", said("one"))
    t.user("u2", "second")
    t.lines[-1] = t.lines[-1][:40]
    t.reply("a2", said("two"))
    found = read_claude_code(t.lines)
    assert told([r for r in found.records if isinstance(r, Message)]) == ["first", "one", "two"]
    assert found.skipped == 1


def test_parents_in_a_circle_end_the_search() -> None:
    t = ClaudeTranscript()
    t.user("u1", "first", parent="a1")
    t.reply("a1", said("one"), parent="u1")
    assert texts(t) == ["first", "one"]


def test_call_without_a_result_gets_one_that_says_so() -> None:
    t = ClaudeTranscript()
    t.user("u1", "go")
    t.reply("a1", bash("t1"))
    t.user("u2", [said("[Request interrupted by user for tool use]")])
    t.user("u3", "stop")
    _, reply, results, prompt = messages(t)
    assert reply.interrupted
    assert results.content == [
        {"type": "tool_result", "tool_use_id": "t1", "content": UNANSWERED, "is_error": True}
    ]
    assert prompt.content == "stop"


def test_compaction_becomes_a_boundary_behind_what_was_compacted() -> None:
    t = ClaudeTranscript()
    t.user("u1", "first")
    t.reply("a1", said("one"))
    t.add("system", "c1", parent=None, logicalParentUuid="a1", subtype="compact_boundary", content="…")
    t.user("k1", "This session is being continued: parsers.", isCompactSummary=True)
    t.user("u2", "second")
    records = read_claude_code(t.lines).records
    assert isinstance(records[2], Marker)
    assert (records[2].kind, records[2].content) == (
        "compact_boundary",
        {"summary": "This session is being continued: parsers.", "keep": []},
    )
    assert texts(t) == ["first", "one", "second"]


def test_what_a_compaction_kept_and_wrote_again_stands_once_and_behind_it() -> None:
    t = ClaudeTranscript()
    t.user("u1", "first")
    t.reply("a1", said("one"))
    t.user("u2", "kept")
    t.reply("a2", said("two"))
    t.add("system", "c1", parent=None, logicalParentUuid="a2", subtype="compact_boundary", content="…")
    t.user("k1", "About parsers.", isCompactSummary=True)
    t.user("u2", "kept")
    t.reply("a2", said("two"))
    t.user("u3", "third")
    records = read_claude_code(t.lines).records
    kinds = [r.kind if isinstance(r, Marker) else r.text() for r in records]
    assert kinds == ["first", "one", "compact_boundary", "kept", "two", "third"]


def test_reminder_inside_of_a_prompt_is_no_part_of_it() -> None:
    t = ClaudeTranscript()
    t.user("u1", "review\n<system-reminder>\nthe folder changed\n</system-reminder>\nand merge")
    t.user("u2", "<system-reminder>cut off")
    t.user("u3", "    indented\n")
    assert texts(t) == ["review\n\nand merge", "    indented\n"]


def test_command_is_what_the_user_typed_unless_the_program_answered_it() -> None:
    t = ClaudeTranscript()
    t.user("u1", "<command-name>/model</command-name>\n<command-args>opus</command-args>")
    t.user("u2", "<local-command-stdout>Set model to opus</local-command-stdout>")
    t.user("u3", "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
                 "<command-args>parser.py 12</command-args>")  # fmt: skip
    t.reply("a1", said("Looks good."))
    assert texts(t) == ["/review parser.py 12", "Looks good."]


def test_prompt_that_was_typed_while_the_model_worked_is_kept() -> None:
    t = ClaudeTranscript()
    t.user("u1", "go")
    t.reply("a1", bash("t1"))
    t.result("r1", "t1", "1")
    queued = {"type": "queued_command", "commandMode": "prompt", "prompt": "and be quick"}
    t.add("attachment", "q1", attachment=queued)
    t.reply("a2", said("done"))
    assert texts(t) == ["go", "tool_use:t1", "tool_result:t1", "and be quick", "done"]


def test_images_and_what_the_editor_told_go_in_front_of_what_was_typed() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    opened = said("<ide_opened_file>The user opened parser.py</ide_opened_file>")
    t = ClaudeTranscript()
    t.user("u1", [opened, image, said("what is this?")])
    (prompt,) = messages(t)
    assert (prompt.content, prompt.injected) == ("what is this?", [opened, image])


def test_what_another_request_cannot_hold_is_dropped() -> None:
    t = ClaudeTranscript()
    t.user("u1", "go")
    t.reply("a1", {"type": "thinking", "thinking": "unsigned"}, message="msg_1")
    t.reply("a2", {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}, message="msg_1")
    t.reply("a3", bash("t1"), message="msg_1")
    t.result("r1", "t1", [{"type": "tool_reference", "tool_name": "Grep"}])
    _, reply, results = messages(t)
    assert reply.content == [bash("t1")]
    assert results.tool_results()[0]["content"] == []


def test_title_by_hand_counts_before_that_of_a_model_and_that_before_a_summary() -> None:
    def title(*lines: dict[str, Any]) -> str:
        t = session_with_tools()
        for line in lines:
            t.beside(line)
        return read_claude_code(t.lines).title

    summary = {"type": "summary", "summary": "Parser fails", "leafUuid": "a4"}
    by_model = {"type": "ai-title", "aiTitle": "Mend the parser", "sessionId": "5a3c"}
    by_hand = {"type": "custom-title", "customTitle": "parser", "sessionId": "5a3c"}
    assert title() == ""
    assert title(summary) == "Parser fails"
    assert title(by_model, summary) == "Mend the parser"
    assert title(by_hand, by_model, {**by_model, "aiTitle": "Later"}) == "parser"


def test_values_of_any_shape_are_put_up_with() -> None:
    t = session_with_tools()
    for content in (None, 7, [None, 3, {"type": "text"}, {"type": "text", "text": None}], {"a": 1}):
        t.user(f"x{content}", content)
        t.add("assistant", f"y{content}", message={"content": content, "usage": content, "id": content})
    for line in (b"[]", b"null", b"\0\0", b'{"type": ["user"], "uuid": 3}', b'{"type":"user","message":{}}'):
        t.beside(line)
    t.reply("z", said("still here"))
    assert texts(t)[-1] == "still here"
    assert len(texts(t)) == 5
