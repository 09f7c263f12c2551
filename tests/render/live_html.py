"""Finds what a page would do more than show text, in HTML that a front end makes of Markdown."""

import re
from html.parser import HTMLParser

TAGS = {
    *("p", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "br", "blockquote", "ul", "ol", "li", "input"),
    *("table", "thead", "tbody", "tr", "th", "td", "em", "strong", "del", "s", "code", "pre", "a"),
    *("div", "span"),  # a renderer's own, around code and formulas
}
ATTRIBUTES = {"href", "id", "start", "class", "style", "type", "disabled", "checked"}
ADDRESS = re.compile(r"(?:https?:|mailto:|[^:]*$|[^:]*[/?#])", re.IGNORECASE)


class _Finder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in TAGS:
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            if name not in ATTRIBUTES:
                self.found.append(f"<{tag} {name}>")
            elif name == "href" and not ADDRESS.match("".join((value or "").split())):
                self.found.append(f"link to {value}")
            elif name == "style" and not re.fullmatch(r"text-align: ?(left|center|right);?", value):
                self.found.append(f"style {value}")
            elif name == "class" and not re.fullmatch(r"[\w+#. -]*", value):
                self.found.append(f"class {value}")

    def handle_comment(self, data):
        self.found.append(f"<!--{data}-->")

    def handle_decl(self, decl):
        self.found.append(f"<!{decl}>")

    unknown_decl = handle_decl

    def handle_pi(self, data):
        self.found.append(f"<?{data}>")


def live_parts(html: str) -> list[str]:
    """Return the tags, attributes and addresses in `html` that plain formatted text has no use for."""
    finder = _Finder()
    finder.feed(html)
    finder.close()
    return finder.found
