import ast
import warnings

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from mewcode_magic.magics.question_mark import guard, unguard


def guarded() -> TransformerManager:
    manager = TransformerManager()
    guard(manager)
    return manager


def calls(cell: str) -> list[list[str]]:
    """Return name and arguments of the magics that a cell runs, in order."""
    tree = ast.parse(guarded().transform_cell(cell))
    found = [
        (node.lineno, [ast.literal_eval(a) for a in node.args])
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("run_line_magic", "run_cell_magic")
    ]
    return [arguments for _, arguments in sorted(found)]


@pytest.mark.parametrize(
    "prompt",
    [
        "what is this?",
        "really??",
        "?",
        'what does "a ? b : c" mean?',
        "what's in {df.columns} and $HOME?",
        "what is (a?",
        "why does ''' and \"\"\" differ?",
        "# is what?",
        "use a # sign, or not?",
        "--model x what?",
        r"what is C:\new\table?",
        "这是什么？ really?",
        "what is df.head?",
        "is 0x or 1__2 a number?",
        "😀?",
        "what is x; why?",
        "50% of what?",
        "ends with a backslash\\",
    ],
)
@pytest.mark.parametrize("magic", ["agent", "remember"])
def test_line_stays_a_prompt_whatever_it_holds(magic: str, prompt: str) -> None:
    assert calls(f"%{magic} {prompt}") == [[magic, prompt]]
    assert calls(f"%{magic}\t{prompt}   \n") == [[magic, prompt]]
    assert calls(f"answer = %{magic} {prompt}") == [[magic, prompt]]
    assert calls(f"%%{magic} {prompt}") == [[magic, prompt, "\n"]]
    assert calls(f"%%{magic} {prompt}\nmore?\n") == [[magic, prompt, "more?\n"]]


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1))
def test_any_text_arrives_as_it_stands(text: str) -> None:
    prompt = text.strip()
    assume(prompt and not prompt.endswith("\\"))
    assert calls(f"x = 1\n%agent {text}\ny = 2\n") == [["agent", prompt]]
    assert calls(f"%%agent {text}\n{text}\n") == [["agent", prompt, f"{text}\n"]]


def test_line_is_guarded_inside_blocks_and_several_times() -> None:
    cell = "if x:\n    %agent what is (a?\n    for y in z:\n        b = %agent and this'?\n%agent last?\nlen?"
    assert calls(cell) == [
        ["agent", "what is (a?"],
        ["agent", "and this'?"],
        ["agent", "last?"],
        ["pinfo", "len"],
    ]


def test_continued_lines_are_one_prompt() -> None:
    assert calls("%agent what is \\\nthis?\nx = 1") == [["agent", "what is  this?"]]


def test_prompt_holding_a_line_separator_is_not_split() -> None:
    assert calls("x = 1\n%agent what\u2028is this?\ny = 1") == [["agent", "what\u2028is this?"]]
    assert calls("%%agent what\u2028is this?\nmore") == [["agent", "what\u2028is this?", "more\n"]]


def test_body_keeps_pasted_prompts_and_indentation() -> None:
    body = ">>> 1 + 1\n... \nIn [3]: x?\n    indented\n"
    assert calls(f"\n  \n%%agent\n{body}") == [["agent", "", body]]


def test_cell_without_text_reaches_the_magic() -> None:
    assert calls("%%agent") == [["agent", "", "\n"]]


@pytest.mark.parametrize("cell", ["%agent?", "%agent??", "%%agent?", "?%agent", "x = 1\n%remember?"])
def test_help_on_a_magic_stays_help(cell: str) -> None:
    assert calls(cell)[-1][0] in ("pinfo", "pinfo2")


@pytest.mark.parametrize(
    ("typed", "status"),
    [
        ("%agent what is (this?", "complete"),
        ("%%agent what is this?", "incomplete"),
        ("%%agent\nwhat is this?", "incomplete"),
        ("%%agent\nwhat is this?\n\n", "complete"),
        ("if x:\n    %agent what?", "incomplete"),
    ],
)
def test_terminal_knows_whether_more_lines_follow(typed: str, status: str) -> None:
    assert guarded().check_complete(typed)[0] == status


LINES = st.one_of(
    st.sampled_from(
        [
            "x = 1", "x?", "x.y??", "?x", "%time x?", "%%time", "!ls?", "a = !ls", "b = %env HOME?", "if x:",
            "    y = 2", "    %pwd?", '"""', "'''", "(", "]", "# note?", "%agents x?", "%agent?", "%%agent?",
            "    %agent?", "agent", "agent?", "agent what?", "x = agent %agent", "y %agent z", "f(%agent x?)",
            '"%agent x?"', "print('%%agent what?')", "remember = 3", ">>> x", "In [1]: x", "...: y", "\\", "",
            "%magic %agent x", "x == %y?", "/f x", ",f x", ";f", "% agent x?", "%%agents what",
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs"])).filter(lambda t: "%agent" not in t and "%rem" not in t),
)  # fmt: skip


def outcome(manager: TransformerManager, cell: str) -> tuple[object, object]:
    results: list[object] = []
    for work in (manager.transform_cell, manager.check_complete):
        try:
            results.append(work(cell))
        except Exception as error:  # noqa: BLE001 - IPython's own failures must stay the same too
            results.append(repr(error))
    return results[0], results[1]


@given(st.lists(LINES, max_size=6).map("\n".join))
def test_other_cells_are_untouched(cell: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # IPython warns of cells whose first line has no line feed
        assert outcome(guarded(), cell) == outcome(TransformerManager(), cell)


def test_unguard_leaves_nothing_behind() -> None:
    manager = guarded()
    unguard(manager)
    unguard(manager)
    plain = TransformerManager()
    assert manager.cleanup_transforms == plain.cleanup_transforms
    assert manager.token_transformers == plain.token_transformers
