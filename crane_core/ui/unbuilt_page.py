"""A page of the documentation where its site was not built: the same text, with its links, tables and pictures.

Takes Markdown that ships with the app, so it is not escaped. `make docs` builds the site, with a menu and search.
"""

from __future__ import annotations

import re
from html import escape

from markdown import markdown

_EXTENSIONS = [
    *(
        "admonition",
        "attr_list",
        "def_list",
        "fenced_code",
        "footnotes",
        "md_in_html",
        "tables",
        "toc",
    ),
    # As the site's builder reads lists: four spaces or two.
    "sane_lists",
]
_LINK = re.compile(r'(href="(?![a-z]+:|#)[^"#]*)\.md((?:#[^"]*)?")')
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --line: light-dark(#d9dddc, #3a4347); --link: light-dark(#0b5c8a, #7cc4ee);
  --soft: light-dark(#eef1f0, #1d2225) }}
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; line-height: 1.6; overflow-wrap: break-word;
  font-family: system-ui, sans-serif; background: light-dark(#fcfcfb, #14181a); color: light-dark(#1b2124, #e3e7e6) }}
a {{ color: var(--link) }}
img {{ max-width: 100%; border: 1px solid var(--line) }}
pre, table {{ display: block; overflow-x: auto }}
pre {{ background: var(--soft); padding: .75rem }}
code {{ background: var(--soft); font-size: .9em }}
table {{ border-collapse: collapse }}
th, td {{ border-bottom: 1px solid var(--line); padding: .35rem .75rem .35rem 0; text-align: left;
  vertical-align: top }}
nav, footer {{ color: light-dark(#566066, #9aa5a9); font-size: .9rem }}
</style></head><body>
<nav><a href="{start}">All pages</a></nav>
"""
_END = """
<footer><p>The text of this page. <code>make docs</code> in a checkout builds the site, with a menu and
search.</p></footer>
</body></html>
"""


def page_html(text: str, *, depth: int) -> str:
    """The whole page of a Markdown text that lies `depth` folders below the start page of the documentation."""
    found = _HEADING.search(text)
    title = found[1] if found else "Documentation"
    body = _LINK.sub(
        r"\1.html\2", markdown(text, extensions=_EXTENSIONS, output_format="html")
    )
    return (
        _HEAD.format(title=escape(title), start=f"{'../' * depth}index.html")
        + body
        + _END
    )
