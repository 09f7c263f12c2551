"""What the offline answers take a prompt for."""

import pytest

from mewcode_magic.model.rules.asked import (
    asks_for_memories,
    asks_for_recap,
    fact_to_keep,
    variables_to_inspect,
)


@pytest.mark.parametrize(
    ("prompt", "fact"),
    [
        ("remember I prefer polars over pandas", "I prefer polars over pandas"),
        ("Remember that the deadline is 2027-03-01.", "the deadline is 2027-03-01."),
        ("please remember: never use print", "never use print"),
        ("Please, remember - tests first", "tests first"),
        ("Can you please remember that I like tea?", "I like tea"),
        ("ok, also remember to use type hints", "use type hints"),
        ("remember this: {'a': 1} and $x", "{'a': 1} and $x"),
        ("remember the following: two\nlines", "two\nlines"),
        ("I use tabs, not spaces. Remember that!", "I use tabs, not spaces."),
        ("I work in UTC. Please remember this.", "I work in UTC."),
        ("记住我喜欢用 polars", "我喜欢用 polars"),
        ("请记住：提交信息用英文", "提交信息用英文"),
        ("帮我记住，周五不部署", "周五不部署"),
        ("我更喜欢深色主题，请记住这一点。", "我更喜欢深色主题"),
    ],
)
def test_order_to_remember_gives_the_fact(prompt: str, fact: str) -> None:
    assert fact_to_keep(prompt) == fact


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "remember",
        "remember me",
        "remember that",
        "do you remember what I said?",
        "remember what I told you about polars?",
        "can you remember when we started?",
        "remember my name?",
        "what do you remember?",
        "the code must remember its state",
        "it remembers things",
        "remembering is hard",
        "记住",
        "你记得我喜欢什么吗？",
        "which dataframe library should you use for me?",
    ],
)
def test_other_prompts_give_none(prompt: str) -> None:
    assert fact_to_keep(prompt) == ""


@pytest.mark.parametrize(
    "prompt",
    [
        "what did we talk about?",
        "What did I ask you?",
        "what have we discussed so far",
        "What was my first question?",
        "where were we?",
        "recap our conversation",
        "Summarize this chat",
        "我们聊了什么",
        "我刚才问了什么？",
        "总结一下我们的对话",
    ],
)
def test_question_about_the_conversation_is_seen(prompt: str) -> None:
    assert asks_for_recap(prompt)


@pytest.mark.parametrize(
    "prompt",
    ["what did the model predict?", "which columns have we got?", "summarize sales.csv", "什么是回归"],
)
def test_question_about_anything_else_is_none_about_the_conversation(prompt: str) -> None:
    assert not asks_for_recap(prompt)


@pytest.mark.parametrize(
    "prompt",
    ["What do you know about me?", "what do you remember", "What have you remembered?", "你还记得什么？"],
)
def test_question_about_what_is_remembered_is_seen(prompt: str) -> None:
    assert asks_for_memories(prompt)


@pytest.mark.parametrize("prompt", ["what do you think?", "do you know pandas?", "remember I like tea"])
def test_question_about_anything_else_is_none_about_memories(prompt: str) -> None:
    assert not asks_for_memories(prompt)


@pytest.mark.parametrize(
    "text", ["remember " * 2000, "a " * 20000, "what you we did my I " * 500, "我们问说" * 2000]
)
def test_long_prompt_is_read_in_no_time(text: str) -> None:
    fact_to_keep(text)
    asks_for_recap(text)
    asks_for_memories(text)


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("describe df", ["df"]),
        ("Describe the variable sales.", ["sales"]),
        ("what's in df?", ["df"]),
        ("what is in my dataframe sales_2024?", ["sales_2024"]),
        ("What are the columns of df and `other`?", ["other"]),
        ("why is `x` larger than `y`?", ["x", "y"]),
        ("看看 df", ["df"]),
        ("describe the project", []),
        ("what is polars?", []),
        ("inspect it", []),
        ("look at data/sales.csv", []),
        ("describe how the import works", []),
        ("`df` " + "x" * 300, []),
    ],
)
def test_variables_to_look_at_are_named_by_the_prompt(prompt: str, names: list[str]) -> None:
    assert variables_to_inspect(prompt) == names
