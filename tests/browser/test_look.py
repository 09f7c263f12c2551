"""How outputs look, measured in the page: colours can be read, lines stay lines, nothing is cut off."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from api_server import ApiServer
from live_lab import NARROW, WIDE, LiveLab, Notebook
from playwright.sync_api import Locator, Page, expect

from mewcode_magic import widgets

TEXT = """Tents, see `price`:

| region | units |
|---|---:|
| North | 120 |
"""

FAINTEST = """root => {
  const paper = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const laid = (...colors) => {  // what is seen of colours over one another, the backmost first
    for (const color of colors) {
      paper.fillStyle = color;
      paper.fillRect(0, 0, 1, 1);
    }
    return [...paper.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = color => color.map(c => c / 255)
    .map(c => c <= 0.04 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => element
    ? [...behind(element.parentElement), getComputedStyle(element).backgroundColor] : ["white"];
  let least = [21, ""];
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement, text = texts.currentNode.data.trim();
    if (!text || element.tagName === "STYLE" || !element.checkVisibility()) continue;
    const back = behind(element);
    const pair = [laid(...back), laid(...back, getComputedStyle(element).color)].map(light);
    const contrast = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (contrast < least[0]) least = [contrast, `${element.tagName}.${element.className}: ${text}`];
  }
  return least;
}"""
"""The least contrast of a text inside an element with what is behind it, as WCAG counts it, and that text."""

BEYOND = """root => {
  const edge = root.getBoundingClientRect().right + 1;
  const reaches = element => element.getBoundingClientRect().right > edge;
  const bounds = element => getComputedStyle(element).overflowX !== "visible" && !reaches(element);
  const bounded = element => !element.matches(".jp-OutputArea-output")
    && (bounds(element) || bounded(element.parentElement));
  return [...root.querySelectorAll(".jp-OutputArea-output *")].filter(element =>
    element.checkVisibility() && reaches(element) && !bounded(element)).map(element => element.outerHTML);
}"""
"""What reaches beyond the right edge of an output, but for what one of our own elements scrolls or cuts."""

USE_THEME = "async theme => { await jupyterapp.commands.execute('apputils:change-theme', {theme}); }"

SET_OPEN = "(root, open) => root.querySelectorAll('details').forEach(details => { details.open = open; })"


def call(name: str, number: int, **arguments: object) -> list[dict[str, object]]:
    """Return a reply that calls a tool."""
    return [{"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}]


def script(api: ApiServer) -> None:
    """Script a turn that has each kind of output."""
    api.reply(call("ReadFile", 1, path="a.py"))
    api.reply(call("EditFile", 2, path="a.py", old="x = 1", new="x = 2"))
    api.reply(call("Bash", 3, command="exit 3 " + "# a long remark " * 20))
    api.reply(TEXT)


CELLS = (
    "%config MewCode.permission_mode = 'auto'\n%remember --type project The API is frozen until May.",
    "%%agent\nset x",
    "%memory",
    "%sessions",
    "%context",
    "%mewcode",
    "%sessions search frozen",
)


@pytest.fixture(scope="module")
def shown(lab: LiveLab, page: Page, api: ApiServer) -> Iterator[list[Locator]]:
    """The outputs of a notebook in which everything is displayed, the turn's first."""
    notebook = Notebook(lab, page, "everything", CELLS)
    (notebook.project / "a.py").write_text("x = 1\n", encoding="utf-8")
    script(api)
    yield [notebook.run(number) for number in range(len(CELLS) + 1)][2:]
    notebook.close()


def a_list() -> str:
    """Return each colour that the widgets have, on a page without widgets."""
    sheet = Path(widgets.__file__).with_name("style.css").read_text(encoding="utf-8")
    kinds = ("faint", "when", "failed", "badge mew-expired", "badge mew-here")
    texts = "".join(f'<span class="mew-{kind}">{kind}</span>' for kind in kinds)
    return f'<style>{sheet}</style><div class="mew">{texts}</div>'


def contrast(shown: Locator) -> tuple[float, str]:
    """Return the least contrast in an output, and the text that has it."""
    least, text = shown.evaluate(FAINTEST)
    return float(least), str(text)


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_every_text_can_be_read(page: Page, shown: list[Locator], theme: str) -> None:
    page.evaluate(USE_THEME, theme)
    expect(page.locator(f'body[data-jp-theme-name="{theme}"]')).to_have_count(1)
    shown[0].evaluate(SET_OPEN, arg=True)
    expect(shown[0].locator(".mew-added")).to_be_visible()
    assert [found for found in map(contrast, shown) if found[0] < 4.5] == []


@pytest.mark.parametrize("colors", ["background: #fff; color: #222", "background: #111; color: #ddd"])
def test_every_text_can_be_read_without_a_front_ends_colours(
    page: Page, shown: list[Locator], colors: str
) -> None:
    html = "".join(output.inner_html() for output in (shown[0], *shown[3:])) + a_list()
    plain = page.context.new_page()
    plain.set_content(f'<body style="{colors}">{html.replace("<details", "<details open")}</body>')
    least, text = contrast(plain.locator("body"))
    plain.close()
    assert least >= 4.5, text


def test_narrow_window_cuts_nothing_off(page: Page, shown: list[Locator]) -> None:
    page.set_viewport_size(NARROW)
    shown[0].evaluate(SET_OPEN, arg=False)
    for output in shown:
        expect(output).to_be_visible()
        assert output.evaluate(BEYOND) == []
    calls = shown[0].locator("summary")
    assert calls.count() == 3
    assert len({line.bounding_box()["height"] for line in calls.all()}) == 1
    page.set_viewport_size(WIDE)


def test_call_is_opened_by_keys(page: Page, shown: list[Locator]) -> None:
    shown[0].evaluate(SET_OPEN, arg=False)
    call = shown[0].locator("details", has_text="EditFile")
    expect(call.locator("pre").first).to_be_hidden()
    call.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(call.locator("pre").first).to_be_visible()
    expect(call.locator("pre").first).to_have_css("border-left-width", "2px")  # JupyterLab's own have none
