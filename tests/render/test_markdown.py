"""A model's Markdown, read by two parsers that know nothing of ours: nothing in it may be live."""

import re
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from render.live_html import live_parts
from render.markdown_corpus import NASTY

from mewcode_magic.render.markdown import safe_markdown
from mewcode_magic.render.tex import without_formulas


def commonmark(markdown: str) -> str:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.validateLink = lambda url: True
    return parser.render(markdown)


def nbconvert(markdown: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from nbconvert.filters.markdown_mistune import markdown2html_mistune
    return markdown2html_mistune(markdown)


READERS = {"commonmark": commonmark, "nbconvert": nbconvert}


def test_the_checker_sees_what_is_live() -> None:
    raw = "\n\n".join(text for text in NASTY if not text.startswith("`"))
    found = " ".join(live_parts(commonmark(raw)))
    for part in ("<script>", "<img onerror>", "link to javascript", "<!--", "<iframe srcdoc>"):
        assert part in found


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", NASTY)
def test_nothing_is_live(text: str, reader: str) -> None:
    assert live_parts(READERS[reader](safe_markdown(text))) == []


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=300)
@given(data=st.data())
def test_nothing_is_live_in_any_cut_of_any_mixture(reader: str, data: st.DataObject) -> None:
    pieces = data.draw(st.lists(st.sampled_from(NASTY), min_size=1, max_size=3))
    between = data.draw(st.sampled_from(["", " ", "\n", "\n\n", "\n- ", "\n> ", "`", "\n```\n", "$"]))
    text = between.join(pieces)
    cut = text[data.draw(st.integers(0, len(text))) :][: data.draw(st.integers(0, len(text)))]
    assert live_parts(READERS[reader](safe_markdown(cut))) == []


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            [
                "<img src=x onerror=p()>",
                "<b>",
                "</pre>",
                "<!--",
                "![a](//e/x)",
                "![a][r]",
                "\n[r]: //e/x\n",
                "](",
                "[x](javascript:p())",
                "<javascript:p()>",
                "www.e.example/",
                "`",
                "``",
                "\n```\n",
                "\n~~~\n",
                '```py" onx\n',
                "\n",
                "\n\n",
                "    ",
                "> ",
                "- ",
                "1. ",
                "|",
                "\n| a | b |\n|---|---|\n",
                "$",
                "$$",
                "$x$",
                "\\(",
                "\\)",
                "\\\\(",
                "\\\\)",
                "\n\\[\n",
                "\n\\]\n",
                "\\begin{a}",
                "\\end{a}",
                "{",
                "}",
                "@@0@@",
                "\\",
                '"onx="',
                "&#60;",
                "&colon;",
                "&#10;",
                "*",
                "**",
                "_",
                "~~",
                "!",
                "[",
                "]",
                "a",
                "b c",
                "é",
                "中",
                "\r\n",
                "\u2028",
                "#",
                "=",
            ]
        ),
        max_size=30,
    ).map("".join)
)
def test_nothing_is_live_in_any_salad(reader: str, text: str) -> None:  # fmt: skip
    assert live_parts(READERS[reader](safe_markdown(text))) == []


def test_code_keeps_every_character() -> None:
    code = "<div class='a'>$x$ & \\$HOME `b` ![i](j) \\(c\\) &lt; @@0@@</div>\n\n    indented\n"
    fence = f"```html\n{code}```"
    for text in (fence, "- a\n\n  " + fence.replace("\n", "\n  "), f"~~~~ html\n{code}"):
        fences = [t for t in MarkdownIt().parse(safe_markdown(text)) if t.type == "fence"]
        assert [(fence.content, fence.info) for fence in fences] == [(code, "html")]
    assert safe_markdown("`List<T>` and ``a`b``") == "`List<T>` and ``a`b``"


def code_in(text: str) -> list[str]:
    found = []
    for token in MarkdownIt("commonmark", {"html": False}).enable("table").parse(text):
        inner = [t.content for t in token.children or () if t.type == "code_inline"]
        found += [token.content.removesuffix("\n")] if token.type in ("fence", "code_block") else inner
    return found


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            [
                "`",
                "``",
                "\n```\n",
                "\n~~~ py\n",
                "\n    ",
                "\n\n",
                "\n",
                "- ",
                "> ",
                "1. ",
                "x",
                "<b>",
                " ",
                "*",
                "&lt;",
                "|",
            ]
        ),
        max_size=25,
    ).map("".join)
)
def test_code_is_what_the_model_wrote(text: str) -> None:  # fmt: skip
    assert code_in(safe_markdown(text)) == code_in(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A #\n\nB\n===\n\ntwo  \nlines", "# A\n\n# B\n\ntwo\\\nlines"),
        ("**b** *e* __b__ ~~s~~ snake_case", "**b** *e* __b__ ~~s~~ snake_case"),
        ("- a\n- b\n  1. c\n\n- [x] d", "- a\n\n- b\n\n  1. c\n\n- [x] d"),
        ("3) a\n4) b", "3) a\n4) b"),
        ("> a\n> - b", "> a\n>\n> - b"),
        ("|a|b|\n|:-|-:|\n|`x\\|y`|2|", "| a | b |\n| :--- | ---: |\n| `x\\|y` | 2 |"),
        ("a\n\\# b\n\\> c\n1\\. d\n\\- e\n5-10", "a\n&#35; b\n&#62; c\n1&#46; d\n&#45; e\n5-10"),
        ("a < b > c & d", "a < b > c & d"),
        ("<b>x</b>", "&#60;b>x&#60;/b>"),
        ('[a](https://jupyter.org/x?y=1&z=2#f "t")', "[a](https://jupyter.org/x?y=1&z=2#f)"),
        ("<https://jupyter.org>", "[https://jupyter.org](https://jupyter.org)"),
        ("[a][b]\n\n[b]: ./c.md", "[a](./c.md)"),
        ("[a](javascript:x)", "a (javascript:x)"),
        ("![plot](https://a.example/b.png)", "[image: plot (https://a.example/b.png)](https://a.example/b.png)"),
        ("[![c](//d.example/e.svg)](/f)", "[image: c (//d.example/e.svg)](/f)"),
        ("![](data:image/png;base64,AAAA)", "image: (data:image/png;base64,AAAA)"),
        ("```py\nunclosed", "```py\nunclosed\n```"),
        ("~~~\n````\n~~~", "`````\n````\n`````"),
        ("\x1b[31mred", "␛[31mred"),
    ],
)  # fmt: skip
def test_form(text: str, expected: str) -> None:
    assert safe_markdown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$a<b$ and $$c$$", "$a< b$ and $$c$$"),
        ("函数$f(x)$是", "函数$f(x)$是"),
        ("\\(a_1\\)", "$a_1$"),
        ("\\[\nx = 1\n\\]", "$$ x = 1 $$"),
        ("so\n$$\nx % why\n= 1\n$$\nthen", "so\n\n$$ x = 1 $$\n\nthen"),
        ("\\begin{align}\na &= b\n\\end{align}", "$$ \\begin{align} a &= b \\end{align} $$"),
        ("| $\\|x\\|$ |\n|---|", "| $\\vert{}x\\vert{}$ |\n| --- |"),
        ("costs $5", "costs &#36;5"),
        ("from $5 to $10", "from &#36;*\u2060*5 to &#36;*\u2060*10"),
        ("$HOME and $PATH", "&#36;*\u2060*HOME and &#36;*\u2060*PATH"),
        ("`$HOME` and `$PATH`", "`$HOME` and `$PATH`"),
        ("$a{b$", "&#36;*\u2060*a{b&#36;*\u2060*"),
    ],
)
def test_formulas_stay_and_sums_of_money_are_none(text: str, expected: str) -> None:
    assert safe_markdown(text) == expected


def test_nested_code_with_dollars_has_empty_lines_around() -> None:
    """JupyterLab would take what lies between two dollars in a list for a formula, code and all."""
    text = "1. a\n   ```\n   $x\n   ```\n2. b\n   ```\n   $y\n   ```"
    assert without_formulas(text) != text
    assert without_formulas(safe_markdown(text)) == safe_markdown(text)


def test_a_diagram_that_names_a_picture_is_shown_as_code() -> None:
    assert safe_markdown("```mermaid\nA --> B\n```").startswith("```mermaid\n")
    assert safe_markdown('```mermaid\nA@{ img: "//evil.example/a.png" }\n```').startswith("```\n")


def test_what_a_reader_still_finds_live_is_shown_as_source() -> None:
    text = "> " * 60 + "deep"
    assert safe_markdown(text) == f"```\n{text}\n```"


@settings(max_examples=400)
@given(
    st.lists(
        st.sampled_from(
            [
                "word",
                "Some **bold** words",
                "a _b_ snake_case",
                "so `x < df['a']` holds",
                "`",
                "*",
                "\n",
                "\n",
                "\n\n",
                "\n\n",
                "\n\nAnd then",
                "\n\n## Head\n\n",
                "\n- item\n- other",
                "\n\n  - inner",
                "\n1. one\n2. two",
                "1. ",
                "    ",
                "\n```python\n",
                "\n```\n",
                "\n````\n",
                "\n~~~ x\n",
                "\n   ```\n",
                "- ```\n",
                "\n> ",
                " ",
                "é, 中文。",
            ]
        ),
        max_size=14,
    ).map("".join)
)
def test_what_needs_no_change_means_what_it_meant_in_parts_and_as_a_whole(text: str) -> None:  # fmt: skip
    shown = safe_markdown(text)
    assert words_of(commonmark(shown)) == words_of(commonmark(text))


def words_of(html: str) -> str:
    """Return HTML without blanks, line ends and what tells a tight list from a loose one."""
    return re.sub(r"\s+|</?p>|<br />", "", html)


def test_address_that_is_given_below_is_that_of_a_link_above() -> None:
    text = "See [the page][1].\n\nMore words.\n\n[1]: https://jupyter.org"
    assert safe_markdown(text) == "See [the page](https://jupyter.org).\n\nMore words."


@pytest.mark.parametrize("text", ["1. " * 90 + "deep", "*a " * 90 + "deep" + "*" * 90, "- " * 90 + "deep"])
def test_what_nests_deeply_is_shown_as_source_beside_what_does_not(text: str) -> None:
    assert safe_markdown(f"Before.\n\nSo {text}\n\nAfter.").startswith("Before.\n\n")
    assert max(t.level for t in MarkdownIt().parse(safe_markdown(f"Before.\n\n{text}"))) < 41


def test_fence_is_one_part_whatever_stands_in_it() -> None:
    code = "def f():\n    return 1\n\nf()\n\nclass A:\n    pass\n"
    for fence in ("```", "~~~~"):
        assert code_in(safe_markdown(f"So:\n\n{fence}py\n{code}{fence}\n\nThen.")) == [
            code.removesuffix("\n")
        ]
