"""A session as Markdown: what others wrote in it stays data for whoever reads the file."""

import pytest
from exported_sessions import HOSTILE, IMAGE, PIXEL, call, conversation, info, tokens

from mewcode_magic.messages import Message
from mewcode_magic.render.document import document_of


def fences(markdown: str) -> list[tuple[str, str]]:
    return [(t.info, t.content) for t in tokens(markdown) if t.type == "fence"]


def test_prompts_answers_calls_and_results_stand_in_their_order() -> None:
    messages = [
        *conversation({"type": "text", "text": "I *look*."}, call("RunPython", code="df.head()"), result="1"),
        Message(role="assistant", content="Done.", model="claude-test"),
        Message(role="user", content="thanks"),
    ]
    text = document_of(info(), messages, folder="x").text
    assert text.startswith("# Sales\n")
    assert "20260618-091500-ab12" in text
    assert fences(text) == [("", "go\n"), ("python", "df.head()\n"), ("", "1\n"), ("", "thanks\n")]
    headings = [t.content for t in tokens(text) if t.type == "inline" and t.content in ("You", "claude-test")]
    assert headings == ["You", "claude-test", "You"]
    assert "I *look*." in text
    assert text.index("thanks") > text.index("Done.") > text.index("df.head()") > text.index("look")


@pytest.mark.parametrize("bad", HOSTILE)
def test_nothing_in_a_session_is_markup_of_the_file(bad: str) -> None:
    blocks = ({"type": "text", "text": bad}, call("Bash", command=bad), call(bad, **{bad: bad}))
    messages = conversation(*blocks, prompt=bad, result=bad)
    text = document_of(info(title=bad), messages, folder="x").text
    found = tokens(text)
    assert [t.content for t in found if t.type in ("html_block", "html_inline", "image")] == []
    links = [str(t.attrs["href"]) for t in found if t.type == "link_open"]
    assert not any(link.startswith("javascript") for link in links)
    # Each of the fences holds its text to the end: none was closed by what stands in it.
    last = bad.rpartition("\n")[2]
    assert sum(last in content for _, content in fences(text)) >= 3


def test_images_are_files_that_the_text_shows() -> None:
    messages = conversation(call("RunPython", code="plot()"), result=[{"type": "text", "text": "ok"}, IMAGE])
    messages[0] = Message(role="user", content="see", injected=[IMAGE])
    document = document_of(info(), messages, folder="my plots-images")
    assert list(document.images) == ["1.png", "2.png"]
    assert all(data.startswith(b"\x89PNG") for data in document.images.values())
    shown = [str(t.attrs["src"]) for t in tokens(document.text) if t.type == "image"]
    assert shown == ["my%20plots-images/1.png", "my%20plots-images/2.png"]


@pytest.mark.parametrize(
    "source",
    [
        {"type": "base64", "media_type": "image/svg+xml", "data": PIXEL},
        {"type": "base64", "media_type": "image/png", "data": "no base64!"},
        {"type": "base64", "media_type": "../../x", "data": PIXEL},
        {"type": "url", "url": "http://evil/x.png"},
        None,
    ],
)
def test_other_images_are_left_out_with_a_line(source: object) -> None:
    messages = conversation(call("RunPython", code="x"), result=[{"type": "image", "source": source}])
    document = document_of(info(), messages, folder="x")
    assert document.images == {}
    assert "Images that the session holds in no form that a file could have: 1." in document.text
    assert "evil" not in document.text


def test_failure_interrupt_and_missing_result_are_told() -> None:
    failed = document_of(info(), conversation(call("Bash", command="x"), is_error=True), folder="x").text
    assert "Failed:" in failed
    cut = [
        Message(role="user", content="go"),
        Message(role="assistant", content=[call("Bash", command="x")], interrupted=True),
    ]
    text = document_of(info(), cut, folder="x").text
    assert "*No result.*" in text
    assert "*Stopped here.*" in text


def test_session_without_a_title_goes_by_its_id() -> None:
    assert document_of(info(title=""), [], folder="x").text.startswith("# Session 20260618-091500-ab12\n")
