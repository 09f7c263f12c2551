from pathlib import Path
from typing import Any

from mewcode_magic.errors import NoKey
from mewcode_magic.messages import Message
from mewcode_magic.sessions import SessionStore, summary_in


def fill(shell: Any, turns: int = 16) -> None:
    """Put a conversation into the open session."""
    session = shell.meta["mewcode_magic"].mew.session
    for number in range(turns):
        session.append(Message(role="user", content=f"q{number} " + "words " * 500))
        session.append(Message(role="assistant", content=f"a{number} " + "words " * 500))


def test_conversation_is_compacted_and_the_line_says_from_what_to_what(
    run: Any, shell: Any, project: Path
) -> None:
    fill(shell)
    ran = run("%compact the {names} of $columns, please?")
    assert ran.error is None
    begun, done = ran.text.strip().split("\n")
    assert begun == "[Compacting the conversation…]"
    assert done.startswith("[Compacted the conversation: ")
    assert " tokens" in done
    store = SessionStore(project)
    (info,) = store.list()
    summary = summary_in(store.read(info.id).messages[0]) or ""
    assert "kept in mind: the {names} of $columns, please?" in summary
    assert "q0 words" in run(f"%sessions show {info.id}").text
    assert run("%agent what did I ask so far?").error is None


def test_cell_says_what_to_keep_in_mind_too(run: Any, shell: Any, project: Path) -> None:
    fill(shell)
    assert run("%%compact names\nand\n  numbers").error is None
    assert "names\nand\n  numbers" in (summary_in(shell.meta["mewcode_magic"].mew.session.messages[0]) or "")


def test_short_conversation_is_declined_without_failing(run: Any, project: Path) -> None:
    ran = run("%compact")
    assert ran.error is None
    assert ran.text.startswith("Nothing was compacted: ")
    assert not (project / ".mewcode").exists()
    run("%agent hello")
    assert "fewer than 2,000 tokens" in run("%compact").text


def test_failure_is_one_line_and_leaves_the_conversation(
    run: Any, shell: Any, monkeypatch: Any, server: Any
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    fill(shell)
    mew = shell.meta["mewcode_magic"].mew
    before = list(mew.session.messages)
    ran = run("%compact")
    assert isinstance(ran.error, NoKey)
    assert "it is as it was" in ran.text
    assert mew.session.messages == before


def test_context_shows_what_of_the_window_is_used(run: Any, shell: Any) -> None:
    fill(shell)
    run("%config MewCode.context_window = 100_000")
    assert "used of 100,000; compacted above 67,000" in run("%context").text
    run("%config MewCode.auto_compact = False")
    assert "above 77,000 no prompt is taken" in run("%context").text
    run("%config MewCode.context_window = 0")
    assert "used of 1,000,000" in run("%context").text


def test_full_conversation_takes_no_prompt_and_says_what_to_do(run: Any, shell: Any) -> None:
    fill(shell, turns=40)
    run("%config MewCode.auto_compact = False")
    run("%config MewCode.context_window = 40_000")
    ran = run("%agent hello")
    assert type(ran.error).__name__ == "ConversationFull"
    assert "%compact" in ran.stderr + ran.text
    assert run("%compact").error is None
    assert run("%agent hello").error is None
