"""Texts that a model could be made to write, by a web page or a file it read, to do something in a page.

Each script in them sets `window.__pwned`, each address that would be loaded lies at `evil.example`.
"""

PWN = "window.__pwned=1"
EVIL = "http://evil.example"

HTML = [
    f"<script>{PWN}</script>",
    f"<img src=x onerror={PWN}>",
    f'<IMG SRC="{EVIL}/a.png">',
    f"text <svg/onload={PWN}> text",
    f'<details open ontoggle="{PWN}">x</details>',
    f'<iframe srcdoc="<script>parent.{PWN}</script>"></iframe>',
    f'<style>body {{ background: url("{EVIL}/b.png") }}</style>',
    f'<link rel=stylesheet href="{EVIL}/c.css">',
    f'<base href="{EVIL}/">',
    f'<a href="javascript:{PWN}">a</a>',
    f"<div>\n\n<img src=x onerror={PWN}>\n\n</div>",
    f"<!-- --><img src=x onerror={PWN}>-->",
    f"<![CDATA[<img src=x onerror={PWN}>]]>",
    f"<?php ?><img src=x onerror={PWN}>",
    f"</p></div><img src=x onerror={PWN}>",
    f"<img\nsrc=x\nonerror={PWN}>",
    f"a <b <img src=x onerror={PWN}>",
    f"<<img src=x onerror={PWN}>",
    f"&lt;img src=x onerror={PWN}&gt; &#60;img src=x onerror={PWN}&#62;",
    f"# <img src=x onerror={PWN}>",
    f"| a |\n|---|\n| <img src=x onerror={PWN}> |",
    f"> - <img src=x onerror={PWN}>",
    f"**<img src=x onerror={PWN}>**",
    f"[<img src=x onerror={PWN}>](/a)",
    f"\\<img src=x onerror={PWN}>",
]

CODE = [
    f"`<img src=x onerror={PWN}>`",
    f"``a ` <img src=x onerror={PWN}> ``",
    f"`<img src=x onerror={PWN}>",
    f"`` <img src=x onerror={PWN}> `",
    f"\\`<img src=x onerror={PWN}>`",
    f"`a\n<img src=x onerror={PWN}>\n`",
    f"`a\n\n<img src=x onerror={PWN}>\n`",
    f"```html\n<img src=x onerror={PWN}>\n```",
    f"```html\n<img src=x onerror={PWN}>",
    f"~~~\n```\n~~~\n<img src=x onerror={PWN}>\n```",
    f"````\n```\n<img src=x onerror={PWN}>\n````",
    f"    <img src=x onerror={PWN}>",
    f"- a\n\n      <img src=x onerror={PWN}>",
    f"- ```\n  <img src=x onerror={PWN}>\n  ```\n- <img src=x onerror={PWN}>",
    f"> ```\n<img src=x onerror={PWN}>\n> ```",
    f'```py"><img src=x onerror={PWN}>\nx\n```',
    f'```" onmouseover="{PWN}\nx\n```',
    f"| `a | <img src=x onerror={PWN}> ` |\n|---|---|\n| `b | <img src=x onerror={PWN}> ` |",
    f"www.evil.example/`x` <img src=x onerror={PWN}> `",
    f"{EVIL}/*`<img src=x onerror={PWN}>`*",
]

IMAGES = [
    f"![a]({EVIL}/d.png)",
    "![a](//evil.example/e.png)",
    f'![]( <{EVIL}/f.png> "title")',
    f"![a][r]\n\n[r]: {EVIL}/g.png",
    f"![r]\n\n[r]: {EVIL}/h.png",
    f"[![a]({EVIL}/i.png)](https://jupyter.org)",
    f"![![a]({EVIL}/j.png)]({EVIL}/k.png)",
    "![a](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+)",
    f"!\\[a]({EVIL}/l.png) !&#91;a]({EVIL}/m.png) ![a\\]({EVIL}/n.png)",
    f"wow![a]({EVIL}/o.png)",
    f"wow![text](/a)![a][]\n\n[a]: {EVIL}/p.png",
    "![a](attachment:q.png)",
    f'```mermaid\nflowchart TD\n A@{{ img: "{EVIL}/r.png", w: 60, h: 60 }}\n```',
    f"```mermaid\nflowchart TD\n A[\"<img src='{EVIL}/s.png'>\"]\n```",
]

LINKS = [
    f"[a](javascript:{PWN})",
    f"[a](JaVaScRiPt:{PWN})",
    f"[a](java\tscript:{PWN})",
    f"[a](<java\nscript:{PWN}>)",
    f"[a](&#106;avascript:{PWN}) [a](javascript&colon;{PWN}) [a](javascript&amp;colon;{PWN})",
    f"[a](\\javascript:{PWN}) [a](javascript\\:{PWN})",
    f"[a]\n\n[a]: javascript:{PWN}",
    f"[a][b]\n\n[b]: <javascript:{PWN}>",
    f"<javascript:{PWN}>",
    "[a](vbscript:x) [a](data:text/html,x) [a](file:///etc/passwd) [a](command:x) [a](vscode://x)",
    f'[a](/b "title\\" onmouseover=\\"{PWN}")',
    f'[a](/b" onmouseover="{PWN})',
    f"[a](https://jupyter.org/<img src=x onerror={PWN}>)",
]

FORMULAS = [
    f'[a](https://jupyter.org/$"onmouseover="{PWN}"$)',
    f'https://jupyter.org/$x"onmouseover="{PWN}"$',
    f'www.jupyter.org/$x"onmouseover="{PWN}"$',
    f'[a](/b "$x"onmouseover="{PWN}"$")',
    f'# h $"onmouseover="{PWN}"$',
    f'```$"onmouseover="{PWN}"$\nx',
    f'![$"onerror="{PWN}"$](a)',
    f"$<img src=x onerror={PWN}>$",
    f"$$\n<img src=x onerror={PWN}>\n$$",
    f"$ ` $ <img src=x onerror={PWN}> `",
    f"$x$ ` $y <img src=x onerror={PWN}> ` $",
    f"- a\n  ```\n  $\n  ```\n  b $x$ $5\n  ```\n  <img src=x onerror={PWN}>\n  ```",
    f"> ```\n> $\n> ```\n> $x$\n> ```\n> <img src=x onerror={PWN}>\n> ```",
    f"``\\\\(`` a `\\\\)` b `<img src=x onerror={PWN}>`",
    f"`\\begin{{a}}` x\n\n```\n\\end{{a}}\n<img src=x onerror={PWN}>\n```",
    f"`$$`\n\n```\n$$\n<img src=x onerror={PWN}>\n```",
    f"\\begin{{a}}`\\end{{a}} <img src=x onerror={PWN}> `",
    f"$\\href{{javascript:{PWN}}}{{x}}$ \\$\\href{{javascript:{PWN}}}{{x}}\\$",
    f"&#36;\\href{{javascript:{PWN}}}{{x}}&#36; \\\\(\\href{{javascript:{PWN}}}{{x}}\\\\)",
    f"\\(\\href{{javascript:{PWN}}}{{x}}\\) \\begin{{a}}\\href{{javascript:{PWN}}}{{x}}\\end{{a}}",
    f"$\\style{{background:url({EVIL}/t.png)}}{{x}}$ $\\bbox[background:url({EVIL}/u.png)]{{x}}$",
    f"$\\def\\a{{\\href}} \\a{{javascript:{PWN}}}{{x}}$ $\\mmlToken{{mi}}[href='javascript:{PWN}']{{x}}$",
    "@@0@@ $x$ @@1@@ `@@0@@` [a](/@@0@@)",
    f"$a{{b$ `x` $c}}d$ <img src=x onerror={PWN}>",
]

STREAM = [
    "\x1b[2J\x1b]0;title\x07 \x9b31m \x00 \ud800",
    "a\u2028<b>\u2029\u202ereversed\u202c",
    "> " * 60 + f"<img src=x onerror={PWN}>",
]

NASTY = [*HTML, *CODE, *IMAGES, *LINKS, *FORMULAS, *STREAM]
