import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from credential_samples import (
    ALNUM,
    SEEN_CREDENTIALS,
    SEEN_LOOKALIKES,
    UNSEEN_CREDENTIALS,
    UNSEEN_LOOKALIKES,
    UPPER,
    key_block,
    made,
)
from hypothesis import given
from hypothesis import strategies as st

from mewcode_magic.credentials import Credential, find_credentials, mask_credentials

CREDENTIALS = [*SEEN_CREDENTIALS, *UNSEEN_CREDENTIALS]
LOOKALIKES = [*SEEN_LOOKALIKES, *UNSEEN_LOOKALIKES]
ACCESS_KEY = "AKIA" + made(UPPER, 16)
PROSE = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@pytest.mark.parametrize(("text", "value"), CREDENTIALS)
def test_credential_is_found_and_nothing_of_it_is_left(text: str, value: str) -> None:
    found = find_credentials(text)
    masked = mask_credentials(text)
    assert len(found) == 1
    assert f"[credential: {found[0].kind}]" in masked
    assert value not in masked
    assert not any(line in masked for line in value.split("\n") if len(line) > 3)


INTERRUPTED = """
import importlib.abc, os, signal, sys, time
from mewcode_magic.credentials import mask_credentials

class Stop(importlib.abc.MetaPathFinder):
    seen = set()
    def find_spec(self, name, path=None, target=None):
        if name.startswith("detect_secrets") and name not in self.seen:
            self.seen.add(name)
            if len(self.seen) == int(sys.argv[1]):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.05)  # in which the interrupt arrives

sys.meta_path.insert(0, Stop())
try:
    mask_credentials(sys.argv[2])
except KeyboardInterrupt:
    print("stopped, then", mask_credentials(sys.argv[2]))
"""


@pytest.mark.parametrize("modules", [1, 3, 8, 15, 25])
def test_interrupt_while_the_library_is_imported_leaves_it_usable(modules: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(modules), f"the key is {ACCESS_KEY}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "stopped, then the key is [credential: AWS access key]\n"


@pytest.mark.parametrize("text", LOOKALIKES)
def test_lookalike_is_left_alone(text: str) -> None:
    assert find_credentials(text) == []
    assert mask_credentials(text) == text


@pytest.mark.parametrize(("text", "value"), CREDENTIALS)
def test_masked_text_holds_nothing_more_to_find(text: str, value: str) -> None:
    masked = mask_credentials(text)
    assert find_credentials(masked) == []
    assert mask_credentials(masked) == masked


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (ACCESS_KEY, "AWS access key"),
        ("sk-ant-api03-" + made(ALNUM, 95), "Anthropic API key"),
        ("ghp_" + made(ALNUM, 36), "GitHub token"),
        (key_block("RSA PRIVATE KEY"), "private key"),
        ("postgres://etl:" + made(ALNUM, 12) + "@db01/sales", "password in an address"),
        ("密码：" + made(ALNUM, 10), "password"),
        ("client_secret=" + made(ALNUM, 40), "key or token"),
    ],
)
def test_kind_names_what_was_found(text: str, kind: str) -> None:
    assert [c.kind for c in find_credentials(text)] == [kind]


def test_the_rest_of_a_text_stays_as_it_is() -> None:
    text = f"# Deploy\r\n\r\nUse {ACCESS_KEY}, then 密码：{made(ALNUM, 8)}。\tDone.\n"
    assert mask_credentials(text) == (
        "# Deploy\r\n\r\nUse [credential: AWS access key], then 密码：[credential: password]。\tDone.\n"
    )


def test_lines_are_counted_from_one() -> None:
    text = f"one\n{ACCESS_KEY}\n\n{key_block('EC PRIVATE KEY')}\nlast: {ACCESS_KEY}"
    assert [c.line for c in find_credentials(text)] == [2, 4, 10]


def test_what_is_returned_never_holds_a_value() -> None:
    for text, value in CREDENTIALS:
        assert value not in repr(find_credentials(text))


def test_known_credentials_are_not_told_again_but_others_are() -> None:
    other = "AKIA" + made(UPPER, 16)
    before = f"The key is {ACCESS_KEY}.\n{key_block('RSA PRIVATE KEY')}"
    changed = f"Since May the key is {ACCESS_KEY},\nthen {other}.\n{before}"
    assert find_credentials(before, known=before) == []
    assert find_credentials(changed, known=before) == [Credential("AWS access key", 2)]
    assert len(find_credentials(key_block("RSA PRIVATE KEY"), known=before)) == 1


@pytest.mark.parametrize("length", range(6, 21))
@pytest.mark.parametrize(
    "said", ["The password is @@.", "DB_PASSWORD=@@", "密码：@@", "log in with password @@"]
)
def test_password_of_any_letters_and_digits_is_found(said: str, length: int) -> None:
    for _ in range(100):
        value = made(ALNUM, length)
        assert value not in mask_credentials(said.replace("@@", value))


@given(PROSE, PROSE)
def test_no_text_around_it_hides_a_credential(before: str, after: str) -> None:
    assert ACCESS_KEY not in mask_credentials(f"{before} {ACCESS_KEY} {after}")


@given(PROSE)
def test_masking_any_text_fails_on_nothing_and_is_done_once(text: str) -> None:
    masked = mask_credentials(text)
    assert mask_credentials(masked) == masked
    assert (masked == text) == (find_credentials(text) == [])


@pytest.mark.parametrize("at", [0, 3_970, 3_990, 4_000, 6_990, 7_000, 100_000])
def test_credential_is_found_wherever_it_stands_in_a_long_line(at: int) -> None:
    value = "sk-ant-api03-" + made(ALNUM, 95)
    text = "x" * at + f" {value} " + "y" * 10_000
    assert mask_credentials(text) == text.replace(value, "[credential: Anthropic API key]")


def test_quotes_of_another_kind_belong_to_a_password() -> None:
    value = "it's " + made(ALNUM, 8)
    assert mask_credentials(f'password = "{value}"') == 'password = "[credential: password]"'


def test_unfinished_private_key_is_masked_to_its_end() -> None:
    block = key_block("OPENSSH PRIVATE KEY").rpartition("\n")[0]
    masked = mask_credentials(f"Key:\n{block}")
    assert not any(line in masked for line in block.split("\n"))


def test_settings_of_detect_secrets_neither_matter_nor_change() -> None:
    from detect_secrets.settings import get_settings, transient_settings

    before = get_settings().json()
    with transient_settings({"plugins_used": [], "filters_used": []}):
        assert find_credentials(ACCESS_KEY)
    assert get_settings().json() == before


def test_threads_find_the_same() -> None:
    texts = [text for text, _ in CREDENTIALS] * 5
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(mask_credentials, texts)) == [mask_credentials(text) for text in texts]


def test_detect_secrets_is_imported_for_the_first_text_that_could_hold_a_token() -> None:
    code = (
        "import sys\nfrom mewcode_magic.credentials import find_credentials\n"
        "find_credentials('The password is stored elsewhere; see the customer_churn_features folder.')\n"
        "print('detect_secrets' in sys.modules)\nfind_credentials(sys.argv[1])\n"
        "print('detect_secrets' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, ACCESS_KEY], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True"]


def test_warnings_of_the_process_are_still_shown_after_a_search() -> None:
    code = (
        "import sys, warnings\nfrom mewcode_magic.credentials import find_credentials\n"
        "find_credentials(sys.argv[1])\nassert 'detect_secrets' in sys.modules\nwarnings.warn('mind this')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, ACCESS_KEY], capture_output=True, text=True, check=True
    )
    assert "UserWarning: mind this" in done.stderr
