"""A widget as its user has it: what is seen of it, found by the words on it, pressed and filled in."""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from ipywidgets import HTML, Button, Widget


class Text(HTMLParser):
    """The text of an HTML widget, and the tags in it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.parts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """Take a tag."""
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        """Take text between tags."""
        self.parts.append(data)


class Screen:
    """What is seen of a widget and its children."""

    def __init__(self, widget: Widget) -> None:
        self.widget = widget

    def seen(self, widget: Widget | None = None) -> Iterator[Widget]:
        """Yield the widgets that are displayed."""
        widget = widget or self.widget
        if widget.layout.display != "none":
            yield widget
            for child in getattr(widget, "children", ()):
                yield from self.seen(child)

    def button(self, text: str) -> Button:
        """Return the only button with this text."""
        found = [w for w in self.seen() if isinstance(w, Button) and w.description == text]
        assert len(found) == 1, (text, [w.description for w in self.seen() if isinstance(w, Button)])
        return found[0]

    def press(self, text: str) -> None:
        """Press a button that is displayed and not disabled."""
        button = self.button(text)
        assert not button.disabled
        button.click()

    def has(self, text: str) -> bool:
        """Whether a button with this text is displayed."""
        return any(isinstance(w, Button) and w.description == text for w in self.seen())

    def field(self, label: str) -> Any:
        """Return the only text field or menu with this label."""
        found = [
            w for w in self.seen() if not isinstance(w, Button) and getattr(w, "description", "") == label
        ]
        assert len(found) == 1
        return found[0]

    def rows(self) -> list[list[str]]:
        """Return each row that is displayed: the text of its button, then of its cells that hold any."""
        rows = [w for w in self.seen() if "mew-row" in w._dom_classes]
        return [[row.children[0].description, *Text(row.children[1].value).parts] for row in rows]

    def names(self) -> list[str]:
        """Return the texts of the rows' buttons."""
        return [row[0] for row in self.rows()]

    def text(self) -> str:
        """Return all text that is displayed, but for the rows' buttons."""
        return "\n".join("".join(Text(w.value).parts) for w in self.seen() if isinstance(w, HTML))

    def tags(self) -> set[str]:
        """Return the tags in all HTML that is displayed."""
        return {tag for w in self.seen() if isinstance(w, HTML) for tag in Text(w.value).tags}

    def said(self) -> str:
        """Return the line that says what was done, or how it failed."""
        return "".join(Text(self._line().value).parts)

    def failed(self) -> bool:
        """Whether that line says how something failed."""
        return 'role="alert"' in self._line().value

    def _line(self) -> HTML:
        (line,) = [w for w in self.seen() if "mew-said" in w._dom_classes]
        return line


@pytest.fixture
def screen() -> type[Screen]:
    """The class that drives a widget."""
    return Screen
