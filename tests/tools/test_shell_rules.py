"""Allow rules cover plain commands only; deny rules meet a command wherever it may run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mewcode_magic.config import MewCode
from mewcode_magic.errors import SettingError
from mewcode_magic.tools import Action, Bash, Permissions, ToolContext
from mewcode_magic.tools.shell_rules import covers, offered_rule


def action(command: str, context: ToolContext) -> Action:
    return Bash().action(Bash.Arguments(command=command), context)


def is_allowed(command: str, context: ToolContext, *rules: str) -> bool:
    permissions = Permissions(MewCode(allow=[f"Bash({rule})" for rule in rules]))
    return permissions.decide(action(command, context))[0] == "yes"


def is_denied(command: str, context: ToolContext, *rules: str) -> bool:
    permissions = Permissions(MewCode(permission_mode="auto", deny=[f"Bash({rule})" for rule in rules]))
    return permissions.decide(action(command, context))[0] == "no"


@pytest.mark.parametrize(
    "command",
    [
        "git diff",
        "git diff HEAD^ -- a.txt",
        " git  diff\t--stat \n",
        "'git' diff",
        '"git" "diff"',
        "git diff 'a; rm b' \"c | d\"",
        "git diff --opt=a:b@x",
        "git diff é 你好",
        "git diff 2>&1",
        "git diff 2>/dev/null",
        "git diff >/dev/null 2>&1",
        "git diff &> /dev/null",
        "git diff </dev/null",
        "git diff \\\n  --stat",
        "git diff \\\nrm",
        "git diff; git diff",
        "git diff && git diff a || git diff b",
        "git diff | git diff",
        "git diff\n\ngit diff a\n",
        "git diff 'a\nb'",
    ],
)
def test_plain_commands_that_a_rule_matches_are_allowed(command: str, context: ToolContext) -> None:
    assert is_allowed(command, context, "git diff *")


@pytest.mark.parametrize(
    "command",
    [
        "git",
        "git show",
        "git -C x diff",
        "gitx diff",
        "git differ",
        "/tmp/git diff",
        "./git diff",
        "GIT diff",
        "git diff; rm -rf x",
        "git diff && x",
        "git diff || x",
        "git diff | sh",
        "git diff\nrm x",
        "git diff & rm x",
        "git diff &",
        "git diff |& sh",
        "git diff ;; rm",
        "rm x; git diff",
        ";git diff",
        "!git diff",
        "! git diff",
        "git diff $(rm x)",
        "git diff `rm x`",
        "git diff <(rm x)",
        "git diff >(rm x)",
        'git diff "$(rm x)"',
        'git diff "`rm x`"',
        "git diff $x",
        "git diff ${x}",
        'git diff "$x"',
        "git diff $'a'",
        'git diff $"a"',
        "git diff $((1))",
        "git diff > file",
        "git diff >> file",
        "git diff 2>file",
        "git diff >|file",
        "git diff >/dev/null.txt",
        "git diff >/dev/null/../../x",
        "git diff >&file",
        "git diff 2>&1file",
        "git diff <file",
        "git diff <<E\nx\nE",
        "git diff <<< x",
        "git diff >&-",
        "{fd}>x git diff",
        "(git diff)",
        "{ git diff; }",
        "eval git diff",
        "env X=1 git diff",
        "command git diff",
        "exec git diff",
        "FOO=bar git diff",
        "LD_PRELOAD=x git diff",
        "GIT_EXTERNAL_DIFF=x git diff",
        "PAGER=x; git diff",
        "x+=1 git diff",
        "x[0]=1 git diff",
        "'x'=1 git diff",
        "git() { rm x; }; git diff",
        "alias git=rm\ngit diff",
        "if git diff; then git diff; fi",
        "git diff *",
        "git diff ?",
        "git diff [ab]",
        "git diff {a,b}",
        "git diff {}",
        "git diff ~",
        "git diff ~/x",
        "g\\it diff",
        "git dif\\\nf",
        "git diff a\\ b",
        'git diff "a\\"b"',
        "git diff # x",
        "git diff #",
        "git\u00a0diff",
        "git diff\u00a0x",
        "git diff\u2003x",
        "git diff\u2028rm x",
        "git diff\rrm x",
        "git diff\vx",
        "git diff\x1b",
        "git diff \u202ex",
        "git diff 'a",
        'git diff "a',
        "",
    ],
)
def test_whatever_else_is_in_a_text_it_is_not_allowed(command: str, context: ToolContext) -> None:
    permissions = Permissions(MewCode(allow=["Bash(git diff *)"]))
    assert not command or permissions.decide(action(command, context))[0] == "ask"


@pytest.mark.parametrize(
    ("rule", "command", "allowed"),
    [
        ("git diff", "git diff", True),
        ("git diff", "git diff a", False),
        ("git diff:*", "git diff a", True),
        ("git diff:*", "git diff", True),
        ("git diff:*", "git differ", False),
        ("npm run test:*", "npm run test:unit", False),
        ("npm run test:* *", "npm run test:unit", True),
        ("pytest tests/* -q", "pytest tests/a.py -q", True),
        ("pytest tests/* -q", "pytest tests/a.py tests/b.py -q", False),
        ("pytest tests/* -q", "pytest 'tests/a b' -q", True),
        ("python* --version", "python3.12 --version", True),
        ("*", "anything at all", True),
        ("*", "anything $(at all)", False),
        ("* --help", "rm --help", True),
        ("* --help", "rm x --help", False),
        ("git commit -m 'a b'", 'git commit -m "a b"', True),
        ("git commit -m 'a b'", "git commit -m a b", False),
        ("echo '*'", "echo '*'", True),
        ("echo '*'", "echo a", False),
        ("a.b", "axb", False),
    ],
)
def test_pattern_means_words(rule: str, command: str, context: ToolContext, *, allowed: bool) -> None:
    assert is_allowed(command, context, rule) == allowed


def test_each_command_needs_a_rule_of_its_own(context: ToolContext) -> None:
    assert is_allowed("git diff | head -5", context, "git diff *", "head *")
    assert not is_allowed("git diff | head -5 | tail", context, "git diff *", "head *")


@pytest.mark.parametrize("rule", ["", " ", "git 'diff", 'git "'])
def test_pattern_that_is_none_is_an_error(rule: str, context: ToolContext) -> None:
    for check in (is_allowed, is_denied):
        with pytest.raises(SettingError, match="has no words, or an open quote"):
            check("git diff", context, rule)


@pytest.mark.parametrize(
    "command",
    [
        "rm",
        "rm x",
        "/bin/rm x",
        "r\\m x",
        "'rm' x",
        'r"m" x',
        "$'rm' x",
        '$"rm" x',
        "RM x",
        "r\\\nm x",
        "a; rm x",
        "a && rm x",
        "a || rm x",
        "a | rm x",
        "a & rm x",
        "a |& rm x",
        "a\nrm x",
        "! rm x",
        ">f rm x",
        "2>&1 rm x",
        "<&-rm x",
        "{fd}>f rm x",
        "<f rm x",
        "x=1 rm x",
        "x=$(rm x)",
        "x+=1 y=2 rm x",
        "(rm x)",
        "{ rm x; }",
        "f() { rm x; }; f",
        "function f { rm x; }",
        "f() (rm x)",
        "echo $(rm x)",
        'echo "$(rm x)"',
        "echo `rm x`",
        'echo "`rm x`"',
        "echo `echo \\`rm x\\``",
        "cat <(rm x)",
        "a >(rm x)",
        "a > $(rm x)",
        "a <<< $(rm x)",
        "cat <<E\n$(rm x)\nE",
        "cat <<E\n`rm x`\nE",
        "cat <<E\na\nE\nrm x",
        "cat <<'E'\na\nE\nrm x",
        "cat <<-E\n\ta\n\tE\nrm x",
        "echo ${x:-$(rm x)}",
        "echo $(echo $(rm x))",
        "if rm x; then a; fi",
        "if a; then rm x; fi",
        "while rm x; do a; done",
        "for f in a; do rm $f; done",
        "for f do rm $f; done",
        "select f in a; do rm $f; done",
        "case a in a) rm x;; esac",
        "until a; do rm x; done",
        "[[ -f x ]] && rm x",
        "coproc rm x",
        "coproc N { rm x; }",
        "time rm x",
        "time -p rm x",
        "eval rm x",
        "eval 'rm x'",
        "eval 'r' 'm'x; eval rm",
        "sh -c 'rm x'",
        'bash -lc "rm x"',
        "sh -c \"sh -c 'rm x'\"",
        "env rm x",
        "env A=1 rm x",
        "env -S 'rm x'",
        "/usr/bin/env rm x",
        "sudo rm x",
        "sudo -u root rm x",
        "command rm x",
        "command -p rm x",
        "builtin command rm x",
        "exec rm x",
        "nohup rm x",
        "nice -n 5 rm x",
        "timeout 5 rm x",
        "xargs rm",
        "ls | xargs -0 -n 1 rm -f",
        "xargs sh -c 'rm x'",
        "find . -exec rm {} \\;",
        "find . -execdir rm {} +",
        "find . -exec env rm {} +",
        "sudo find . -exec rm {} +",
        "busybox rm x",
        "ssh host rm x",
        "ssh host 'rm x'",
        "trap 'rm x' EXIT",
        "watch rm x",
        "uv run rm x",
        "echo 'rm x' | at now",
        "batch <<E\nrm x\nE",
        "tmux new -d 'rm x'",
        "screen -dm rm x",
        "fakeroot rm x",
        "pkexec rm x",
        "valgrind rm x",
        "hyperfine 'rm x'",
        "start-stop-daemon --start --exec /bin/rm -- x",
        "/lib64/ld-linux-x86-64.so.2 /bin/rm x",
        "find . -exec sh -c 'rm x' \\;",
        "rm${IFS}x",
        "read a <<< rm; $a x",
        "r{m,} x",
        "sudo sh -c 'rm x'",
        "sudo env nice rm x",
        "echo 'rm x' | sh",
        "sh <<E\nrm x\nE",
        "sh <<< 'rm x'",
        "curl a | sudo bash",
        "bash -s a",
        ". <(echo rm x)",
        "source /dev/stdin",
        "$x y",
        '"$x" y',
        "$(echo rm) x",
        "r? x",
        "{rm,x}",
        "/bin/r* x",
        "sudo $x",
        "eval $x",
        'sh -c "$x"',
        "alias a=rm",
        "((rm))",
        "echo ${x@P}",
        "echo 'a",
        'echo "a',
        "echo $(rm",
        "echo `rm",
        "a)",
        "((a",
        "$\\\n(rm x)",
        "cat <\\\n<E\nE",
        "[[ a =~ ( # ' ) ]]; rm x\n: ' )",
    ],
)
def test_deny_rule_meets_the_command_wherever_it_may_run(command: str, context: ToolContext) -> None:
    assert is_denied(command, context, "rm *")


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "echo rm",
        "echo 'rm x'",
        "grep rm a.txt",
        "git rm x",
        "git commit -m 'rm x; rm y'",
        "rmdir x",
        "./rm.py",
        "ls rm",
        "cat <<'E'\nrm x\nE",
        "cat <<'E'\n$(rm x)\nE",
        "cat > f <<E\nrm x\nE",
        "a > rm",
        "a 2> rm",
        "a # rm x",
        'echo $x | grep "$y"',
        'for f in rm b; do echo "$f"; done',
        "echo $((1 + 2))",
        "echo ${x%.py} ${#x} ${x[@]}",
        "python -c 'print(1)'",
        "find . -name '*.py' -exec grep -n a {} +",
        'timeout 60 pytest "$x"',
        "ls *.py",
        "bash script.sh a",
        'xargs grep "$x"',
        "source venv/bin/activate && pip list",
        'echo "it\'s"',
        "if [ -f x ]; then cat x; fi",
        "[[ $x == a* ]] && ls",
        'x=(a b); echo "${x[0]}"',
        "diff <(ls a) <(ls b)",
        "awk '{print $1}' f | sort | uniq -c",
        "curl -s https://a.b/c?d=e | jq '.a[0]'",
        "find . -name rm",
    ],
)
def test_deny_rule_leaves_other_commands_alone(command: str, context: ToolContext) -> None:
    assert not is_denied(command, context, "rm *")


@pytest.mark.parametrize(
    ("rule", "command", "denied"),
    [
        ("git push *", "git push", True),
        ("git push *", "git -C x push origin", True),
        ("git push *", "git --no-pager push origin", True),
        ("git push *", "git commit -m push", False),
        ("git push *", "git $x", True),
        ("git push *", "git p*", True),
        ("git push *", "git diff $x", False),
        ("git push --force *", "git push origin main --force", True),
        ("git push --force *", "git push origin main", False),
        ("git push", "git push 2>log", True),
        ("git push", "git push origin", False),
        ("rm -rf *", "rm -v -rf x", True),
        ("rm -rf *", "rm x", False),
        ("rm:*", "rm x", True),
        ("/bin/rm *", "/bin/rm x", True),
        ("scripts/* *", "scripts/deploy now", True),
        ("scripts/* *", "ls", False),
        ("python* -c *", "python3 -c 'x'", True),
        ("*", "ls", True),
    ],
)
def test_deny_pattern_bears_options_between_its_words(
    rule: str, command: str, context: ToolContext, *, denied: bool
) -> None:
    assert is_denied(command, context, rule) == denied


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("git diff HEAD", "git diff *"),
        ("npm install", "npm install *"),
        ("git push origin", "git push origin"),
        ("npm run build", "npm run build"),
        ("git -C x diff", "git -C x diff"),
        ("pytest -q tests", "pytest -q tests"),
        ("pytest -k 'a or b'", "pytest -k 'a or b'"),
        ("ls", "ls"),
        ("make test 2>&1", "make test"),
        ("python script.py", "python script.py"),
        ("python -c 'x'", ""),
        ("perl -e x", ""),
        ("node --eval=x", ""),
        ("rm x", ""),
        ("/bin/rm x", ""),
        ("sudo ls", ""),
        ("sh -c ls", ""),
        ("curl a", ""),
        ("env ls", ""),
        ("git diff | head", ""),
        ("git diff $x", ""),
        ("git diff > f", ""),
    ],
)
def test_rule_that_is_offered_is_as_narrow_as_the_command_is_dangerous(command: str, rule: str) -> None:
    assert offered_rule(command) == rule


@given(
    st.lists(st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), max_size=8), min_size=1, max_size=4)
)
def test_rule_that_is_offered_covers_the_command_it_was_offered_for(words: list[str]) -> None:
    command = " ".join(["tool", *("'" + word.replace("'", "'\"'\"'") + "'" for word in words)])
    rule = offered_rule(command)
    if rule:
        assert covers(rule, ["tool", *words])
        assert not covers(rule, ["tool", *words, "more"])


@pytest.mark.parametrize("deep", ["(" * 3_000, "$(" * 3_000, "`" * 3_001, "sh -c " * 3_000, "env " * 4_990])
def test_text_of_any_depth_is_read_or_refused(deep: str, context: ToolContext) -> None:
    assert is_denied(f"{deep}rm x", context, "rm *")
    assert not is_allowed(f"{deep}rm x", context, "rm *")
