"""Turns displayed by a real kernel: what a front end gets, and what a notebook keeps."""

import json

import nbformat
import pytest
from nbclient import NotebookClient

PRELUDE = """
import time
from mewcode_magic.events import *
from mewcode_magic.messages import Surfaced, Usage
from mewcode_magic.render import show_turn

def ended(text="", stop="done", usage=Usage()):
    return TurnEnded(text, "a-model", usage, 1.25, 1, stop)
"""


def displayed(messages):
    return [m["content"]["data"] for m in messages if m["msg_type"] == "display_data"]


def updates(messages):
    return [m["content"] for m in messages if m["msg_type"] == "update_display_data"]


def final(messages):
    """Return what stands in the output in the end, in order."""
    shown = {}
    for message in messages:
        if message["msg_type"] in ("display_data", "update_display_data"):
            shown[message["content"]["transient"]["display_id"]] = message["content"]["data"]
    return list(shown.values())


def errors(messages):
    return [m["content"] for m in messages if m["msg_type"] == "error"]


WORDS = """
def turn(words=120, pause=0.005):
    for i in range(words):
        time.sleep(pause)
        yield TextDelta(f"word{i} ")
    yield ended()
began = time.monotonic()
shown = show_turn(turn(), shell=get_ipython())
print(time.monotonic() - began)
"""


def test_text_grows_in_one_display_updated_ten_times_a_second_at_most(run) -> None:
    messages = run(PRELUDE + WORDS)
    assert errors(messages) == []
    first, closing = displayed(messages)
    assert first["text/markdown"].startswith("word0")
    seconds = float(next(m["content"]["text"] for m in messages if m["msg_type"] == "stream"))
    assert 2 <= len(updates(messages)) <= seconds * 10 + 1
    texts = [u["data"]["text/markdown"] for u in updates(messages)]
    assert texts == sorted(texts, key=len)
    assert final(messages)[0]["text/markdown"].endswith("word119")
    assert "a-model" in closing["text/html"]


def test_the_last_words_before_a_pause_are_shown_in_it(run) -> None:
    messages = run(
        PRELUDE
        + """
def turn():
    yield TextDelta("one ")
    yield TextDelta("two ")
    time.sleep(0.5)
    print("pause over")
    yield ended()
show_turn(turn(), shell=get_ipython())
"""
    )
    kinds = [m["msg_type"] for m in messages]
    assert "two" in str(messages[kinds.index("update_display_data")]["content"]["data"])
    assert kinds.index("update_display_data") < kinds.index("stream")


EVERYTHING = """
def turn():
    yield Recalled((Surfaced("prefers-polars"), Surfaced("<b>")), "keywords")
    yield TextDelta("Let me <b>look</b>.\\n\\n```py\\nx = '<i>'")
    yield ToolStarted("t1", "ReadFile", {"path": "<u>.csv", "limit": 3})
    yield ToolEnded("t1", "ReadFile", "a,b\\n<script>1</script>", False, 0.5)
    yield ToolStarted("t2", "ReadFile", {"path": "no.csv"})
    yield ToolEnded("t2", "ReadFile", "cannot read no.csv: <it> is not there\\nsecond", True, 0.5)
    yield PermissionAsked("Bash", "run rm?")
    yield Notice("a <notice>\\nof two lines")
    yield TextDelta("  ")
    yield ThinkingDelta("hm")
    yield TextDelta("Done.")
    yield ended("Done.", usage=Usage(700, 50, 300, 200))
shown = show_turn(turn(), shell=get_ipython())
"""


def test_each_event_has_its_place_and_data_is_escaped(run) -> None:
    messages = run(PRELUDE + EVERYTHING, present=False)
    recalled, text, call, failed, notice, done, closing = final(messages)
    assert recalled["text/plain"] == "[Recalled: prefers-polars, <b>]"
    assert "prefers-polars, &lt;b&gt;" in recalled["text/html"]
    assert text["text/markdown"] == "Let me &#60;b>look&#60;/b>.\n\n```py\nx = '<i>'\n```"
    assert "<b>ReadFile</b> &lt;u&gt;.csv, 3</summary>" in call["text/html"]
    assert "&lt;script&gt;" in call["text/html"]
    assert call["text/plain"] == "[ReadFile: <u>.csv, 3]"
    assert "failed: cannot read no.csv: &lt;it&gt; is not there</span>" in failed["text/html"]
    assert notice["text/plain"] == "[a <notice> of two lines]"
    assert done["text/markdown"] == "Done."
    assert (
        closing["text/plain"]
        == "[a-model · 1,200 tokens in (200 from cache, 300 written to it) · 50 out · 1.2 s]"
    )


def test_with_nobody_there_everything_is_displayed_once_and_final(run) -> None:
    cell = PRELUDE + EVERYTHING.replace('    yield PermissionAsked("Bash", "run rm?")\n', "")
    there, alone = run(cell), run(cell, present=False)
    assert updates(there)
    assert updates(alone) == []
    assert displayed(alone) == final(there)


def test_a_captured_cell_keeps_no_intermediate_states(run) -> None:
    code = "%%capture kept\n" + PRELUDE + WORDS
    run(code)
    (stream,) = [m for m in run("print(len(kept.outputs))") if m["msg_type"] == "stream"]
    assert stream["content"]["text"] == "2\n"


def test_console_gets_each_text_once_and_as_plain_text(run) -> None:
    messages = run(PRELUDE + EVERYTHING, console=True)
    assert "update_display_data" not in [m["msg_type"] for m in messages]
    plain = [m["content"]["data"]["text/plain"] for m in messages if m["msg_type"] == "display_data"]
    assert any("Let me <b>look" in text for text in plain)
    assert all(plain)


def test_a_saved_notebook_holds_the_final_text_only(tmp_path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(PRELUDE + EVERYTHING)])
    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = notebook.cells[0].outputs
    assert [o.output_type for o in outputs] == ["display_data"] * 7
    assert "Let me &#60;b>look" in outputs[1]["data"]["text/markdown"]
    assert "object at 0x" not in json.dumps(notebook)


def test_an_offline_answer_leaves_the_same_output_each_time(run) -> None:
    code = PRELUDE + "e = TurnEnded('', 'offline', Usage(), time.time(), 1, 'done')\n"
    code += "show_turn((x for x in [TextDelta('hi'), e]), shell=get_ipython())\nNone"
    first, second = run(code, present=False), run(code, present=False)
    assert displayed(first) == displayed(second)
    assert displayed(first)[1]["text/plain"] == "[offline · no tokens]"


INTERRUPTED = """
import signal, os
log = []
def turn():
    text = ""
    try:
        for word in ["one ", "two ", "three "]:
            text += word
            yield TextDelta(word)
            WHERE
        yield ended(text)
    except KeyboardInterrupt:
        log.append(text)
        yield ended(text, "interrupted")
        raise
show_turn(turn(), shell=get_ipython())
"""


def test_an_interrupt_inside_the_turn_is_shown_and_stops_the_cell(run) -> None:
    stop = "time.sleep(0.2); os.kill(os.getpid(), signal.SIGINT); time.sleep(5)"
    messages = run(PRELUDE + INTERRUPTED.replace("WHERE", stop))
    text, closing = final(messages)
    assert text["text/markdown"] == "one"
    assert closing["text/plain"] == "[stopped · a-model]"
    (error,) = errors(messages)
    assert error["traceback"] == ["Stopped."]


def test_an_interrupt_while_something_is_displayed_reaches_the_turn(run) -> None:
    code = """
def stop_then_display(message):
    ip.display_pub.unregister_hook(stop_then_display)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1)
    return message
ip = get_ipython()
ip.display_pub.register_hook(stop_then_display)
"""
    begin, show, end = INTERRUPTED.replace("WHERE", "pass").partition("show_turn(")
    messages = run(PRELUDE + begin + code + show + end)
    assert final(messages)[-1]["text/plain"] == "[stopped · a-model]"
    assert errors(messages)[0]["traceback"] == ["Stopped."]
    (stream,) = [m for m in run("print(log)") if m["msg_type"] == "stream"]
    assert stream["content"]["text"] == "['one ']\n"


def test_a_call_that_was_stopped_says_so(run) -> None:
    messages = run(
        PRELUDE
        + """
def turn():
    yield ToolStarted("t1", "Bash", {"command": "sleep 9"})
    yield ended(stop="interrupted")
    raise KeyboardInterrupt
show_turn(turn(), shell=get_ipython())
"""
    )
    call, _ = final(messages)
    assert "running" in displayed(messages)[0]["text/html"]
    assert "stopped" in call["text/html"]
    assert "running" not in call["text/html"]


def test_an_error_keeps_what_was_shown_and_fails_the_cell(run) -> None:
    messages = run(
        PRELUDE
        + """
from mewcode_magic.errors import ReplyCutOff
def turn():
    yield TextDelta("half an ans")
    yield TextDelta("wer")
    raise ReplyCutOff("the stream ended before the reply did; ask again")
show_turn(turn(), shell=get_ipython())
"""
    )
    (text,) = final(messages)
    assert text["text/markdown"] == "half an answer"
    (error,) = errors(messages)
    assert error["ename"] == "ReplyCutOff"
    assert error["traceback"] == ["ReplyCutOff: the stream ended before the reply did; ask again"]


def test_an_update_from_a_thread_lands_in_the_cell_that_it_was_displayed_in(tmp_path) -> None:
    first = """
import threading, time
from mewcode_magic.render import View, output_for
handle = output_for(get_ipython()).open()
handle.show(View("before"))
thread = threading.Timer(0.3, lambda: handle.show(View("after")))
thread.start()
"""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(first), nbformat.v4.new_code_cell("thread.join()\nprint('second')")]
    )
    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert [o["data"]["text/plain"] for o in notebook.cells[0].outputs] == ["after"]
    assert [o.output_type for o in notebook.cells[1].outputs] == ["stream"]


REMEMBERED = """
import threading
from concurrent.futures import Future
from pathlib import Path
from mewcode_magic.memory import Extraction, Memory, Saved

made = Memory("tea <b>", "when drinks are offered", "user", "Tea.", path=Path("tea.md"))
gone = Memory("coffee", "when drinks are offered", "user", "Coffee.")
found = Extraction(written=(Saved(made, made.path, "created"),), deleted=(gone,))

def turn(future):
    yield TextDelta("An answer.")
    yield TurnEnded("An answer.", "a-model", Usage(), 1.0, 1, "done", future)
"""


def test_what_is_remembered_later_joins_the_closing_line_of_its_own_cell(run) -> None:
    messages = run(
        PRELUDE
        + REMEMBERED
        + """
future = Future()
show_turn(turn(future), shell=get_ipython())
threading.Timer(0.3, future.set_result, [found]).start()
"""
    )
    closing = displayed(messages)[-1]
    assert "Remembered" not in closing["text/plain"]
    later = run("import time; time.sleep(0.8); print('next cell')")
    (update,) = updates(later)
    identity = next(
        m["content"]["transient"]["display_id"]
        for m in messages
        if m["msg_type"] == "display_data" and m["content"]["data"] == closing
    )
    assert update["transient"]["display_id"] == identity
    lines = update["data"]["text/plain"].splitlines()
    assert lines[0] == closing["text/plain"].strip()
    assert "Remembered: the user memory 'tea <b>' in" in lines[1]
    assert "; undo: %forget tea-b-" in lines[1]
    assert "Forgotten: the user memory 'coffee'; undo: %memory restore" in lines[2]
    assert "<b>" not in update["data"]["text/html"]


def test_nothing_joins_the_closing_line_where_nothing_was_remembered_or_it_failed(run) -> None:
    for outcome in ("set_result(Extraction())", "set_exception(ValueError('away'))", "cancel()"):
        messages = run(
            PRELUDE
            + REMEMBERED
            + f"""
future = Future()
show_turn(turn(future), shell=get_ipython())
future.{outcome}
"""
        )
        assert errors(messages) == []
        assert updates(messages) == []
        assert "away" not in str(displayed(messages))


ASKING = """
asked = PermissionAsked("EditFile", "Edit <a>.py?", "-x = 1\\n+x = '<b>'\\n y", "diff", "EditFile")
def turn():
    yield TextDelta("I will edit.")
    yield asked
    yield TextDelta(f"Told {asked.answer}.")
    yield ended()
show_turn(turn(), shell=get_ipython())
"""


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y", "yes"),
        (" Yes. ", "yes"),
        ("是", "yes"),
        ("", "no"),
        ("n", "no"),
        ("always", "always"),
        ("use the other file", "use the other file"),
    ],
)
def test_question_shows_all_that_would_be_done_and_takes_what_is_typed(run, typed: str, answer: str) -> None:
    messages = run(PRELUDE + ASKING, answers=[typed])
    (prompt,) = [m["content"]["prompt"] for m in messages if m["msg_type"] == "input_request"]
    assert prompt == "yes, no, always (EditFile), or what to do instead: "
    question = displayed(messages)[1]
    assert "EditFile waits for you:</b> Edit &lt;a&gt;.py?" in question["text/html"]
    assert ">+x = &#x27;&lt;b&gt;&#x27;</span>" in question["text/html"]
    assert "    -x = 1\n    +x = '<b>'\n     y" in question["text/plain"]
    _, answered, told, _ = final(messages)
    assert answered["text/plain"] == f"[EditFile: {answer}]"
    assert told["text/markdown"] == f"Told {answer}."


@pytest.mark.parametrize("language", ["bash", "python", "diff"])
def test_question_hides_nothing_of_what_would_be_run(run, language: str) -> None:
    code = "rm x \u202e# \u2066gnihton\u2069 \u200b\u3164\u00a0\x1b[8mhidden\ufe0f"
    asking = f"""
asked = PermissionAsked("Bash", "Run this?", {code!r}, {language!r})
def turn():
    yield asked
    yield ended()
show_turn(turn(), shell=get_ipython())
"""
    question = displayed(run(PRELUDE + asking, answers=["no"]))[0]
    shown = r"rm x \u202e# \u2066gnihton\u2069 \u200b\u3164\xa0\x1b[8mhidden\ufe0f"
    for form in question.values():
        assert shown in form
        assert "cannot be seen" in form


def test_call_that_nobody_could_allow_is_shown_with_what_it_would_have_done(run) -> None:
    denied = """
def turn():
    yield ToolStarted("t1", "Bash", {"command": "rm a\\nrm b"})
    yield PermissionAsked("Bash", "Run this command?", "rm a\\nrm b", "bash")
    yield ToolEnded("t1", "Bash", "not allowed: nobody", True, 0.1, "rm a\\nrm b", "bash")
    yield ended()
show_turn(turn(), shell=get_ipython())
"""
    messages = run(PRELUDE + denied, present=False)
    call, _ = final(messages)
    assert call["text/plain"] == "[Bash: rm a … - failed: not allowed: nobody]"
    assert "rm a\nrm b</pre>" in call["text/html"]
    assert "input_request" not in [m["msg_type"] for m in messages]


COMPACTION = """
def turn():
    yield CompactionStarted(168_100)
    time.sleep(0.1)
    yield CompactionEnded(168_100, 12_345, 0.1, Usage(1, 1))
    yield TextDelta("Done.")
    yield ended()
show_turn(turn(), shell=get_ipython())
"""


def test_compaction_is_one_line_that_changes_when_it_has_ended(run) -> None:
    messages = run(PRELUDE + COMPACTION)
    assert errors(messages) == []
    assert displayed(messages)[0]["text/plain"] == "[Compacting the conversation…]"
    told = "Compacted the conversation: 168,100 → 12,345 tokens in 0.1 s"
    assert final(messages)[0]["text/plain"] == f"[{told}]"
    assert told in final(messages)[0]["text/html"]


def test_compaction_with_nobody_there_is_told_once_when_it_has_ended(run) -> None:
    messages = run(PRELUDE + COMPACTION, present=False)
    assert updates(messages) == []
    assert "Compacted" in displayed(messages)[0]["text/plain"]
