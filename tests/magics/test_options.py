import pytest

from mewcode_magic.errors import CommandError
from mewcode_magic.magics.options import joined, option, split_text, split_words, sub_word, takes_text


@takes_text(
    option("--model", metavar="NAME", help="who answers"),
    option("-o", dest="output", metavar="NAME", help="where the answer goes"),
    option("--new", action="store_true", help="begin anew"),
    option("--days", type=int, metavar="N", help="whole days"),
)
def ask(self, options, text, cell):
    """Ask something."""


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        'a {"b": $c} \'d "e',
        "it ends in --new",
        "- a list",
        "-5 is negative",
        "--- a rule",
        "--> an arrow",
        "what?",
        "a  b\tc",
        r"back\slash\\",
        "",
    ],
)
def test_text_is_taken_as_it_stands(text: str) -> None:
    options, rest = split_text(ask.parser, text)
    assert rest == text
    assert vars(options) == {"model": None, "output": None, "new": False, "days": None, "help": False}


@pytest.mark.parametrize(
    "line",
    [
        "--model m -o x --new --days 3 say --new",
        "  --new  --days=3 --model=m   -o  x   say --new  ",
        "--new --days \"3\" --model 'm' -o=x -- say --new",
    ],
)
def test_options_come_first(line: str) -> None:
    options, rest = split_text(ask.parser, line)
    assert rest == "say --new"
    assert vars(options) == {"model": "m", "output": "x", "new": True, "days": 3, "help": False}


def test_quotes_keep_a_value_with_spaces_together() -> None:
    options, rest = split_text(ask.parser, "--model \"a 'b' c\" text")
    assert (options.model, rest) == ("a 'b' c", "text")


def test_double_dash_lets_a_text_begin_with_dashes() -> None:
    assert split_text(ask.parser, "-- --verbose is what?")[1] == "--verbose is what?"
    assert split_text(ask.parser, "--new -- -- twice")[1] == "-- twice"
    assert split_text(ask.parser, "--")[1] == ""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "--verbose is what",
            r"%ask has no option --verbose; it has --model, -o, --new.* %ask -- --verbose …",
        ),
        ("-x", "no option -x"),
        ("--mod m", "no option --mod"),
        ("-onx text", "no option -onx"),
        ("--model", "--model needs a value; write --model NAME"),
        ("--model= text", "--model needs a value"),
        ("--new=yes", "--new takes no value"),
        ("--days many", "--days is 'many', which does not fit: whole days"),
    ],
)
def test_bad_option_is_one_clear_error(line: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandError, match=message):
        split_text(ask.parser, line)
    assert capsys.readouterr() == ("", "")


def test_words_take_options_anywhere() -> None:
    options, words = split_words(ask.parser, "show 'a b' --days 3 c\"d --new")
    assert words == ["show", "a b", 'c"d']
    assert (options.days, options.new) == (3, True)


def test_words_after_double_dash_are_no_options() -> None:
    options, words = split_words(ask.parser, "show -- --new")
    assert words == ["show", "--new"]
    assert not options.new


def test_unknown_option_among_words_is_an_error() -> None:
    with pytest.raises(CommandError, match=r"no option --nwe; it has --model, -o, --new, --days, --help$"):
        split_words(ask.parser, "show --nwe")


def test_values_do_not_leak_into_the_next_line() -> None:
    split_text(ask.parser, "--new --days 3 text")
    assert not split_text(ask.parser, "text")[0].new


def test_sub_word_takes_what_it_needs() -> None:
    takes = {"show": "ID", "new": ""}
    assert sub_word("sessions", ["show", "a", "b"], takes) == ("show", "a b")
    assert sub_word("sessions", ["new"], takes) == ("new", "")
    assert sub_word("sessions", [], takes) == ("", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["shwo"], r"%sessions does not know 'shwo'; it knows show ID, new"),
        (["show"], r"%sessions show needs more: %sessions show ID"),
        (["new", "x"], r"%sessions new takes nothing more, so not 'x'"),
    ],
)
def test_wrong_sub_word_is_an_error(words: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        sub_word("sessions", words, {"show": "ID", "new": ""})


def test_line_and_cell_are_joined_as_they_stand() -> None:
    assert joined("first", "\n  indented\n\nlast  \n") == "first\n  indented\n\nlast  "
    assert joined("", "body\n") == "body"
    assert joined("line", None) == joined("line", " \n") == "line"
    assert joined(" ", "\n") == ""
