"""The page ``/docs/specification``, made from the document ahead of time, so that the service needs no Markdown."""

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from tests.specification.clauses import NUMBER, ROOT, Clause, read

PAGE = ROOT / "app/pages/site/specification.html"

_TEMPLATE = (Path(__file__).parent / "page.html").read_text("utf-8")


class _Renderer(RendererHTML):
    """HTML without links to files beside the document, which no service has; a clause's number becomes a link to it."""

    def code_inline(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        rendered = super().code_inline(tokens, index, options, env)
        number = tokens[index].content
        return f'<a href="#{number}">{rendered}</a>' if number in env["numbers"] else rendered

    def link_open(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return self.renderToken(tokens, index, options, env) if _is_outside(tokens[index]) else ""

    def link_close(self, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        opened = next(token for token in reversed(tokens[:index]) if token.type == "link_open")
        return self.renderToken(tokens, index, options, env) if _is_outside(opened) else ""


def _is_outside(link: Token) -> bool:
    return "://" in str(link.attrs["href"])


_markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer)


def made_from(document: str) -> str:
    """The page of a document; ``{root}`` in it stands for the path that the service is below."""
    clauses = {clause.clause: clause for clause in read(document)}
    env = {"numbers": clauses.keys()}
    introduction: list[str] = []
    how: list[str] = []
    parts: list[str] = []
    contents: list[str] = []
    prose = introduction
    for block in document.split("\n\n")[1:]:  # the template has the title
        anchored = re.match(rf'<a id="({NUMBER.pattern})">', block)
        themed = re.fullmatch(r"## (.+) \(`(.+)`\)", block.strip())
        if anchored is not None:
            parts.append(_article(clauses[anchored.group(1)], env))
        elif themed is not None:
            heading, theme = themed.groups()
            parts.append(f'<h2 id="theme-{theme}">{escape(heading)} <span>{theme}</span></h2>')
            contents.append(f'<li><a href="#theme-{theme}"><span>{theme}</span> {escape(heading)}</a></li>')
            prose = parts
        elif block.strip() == "## How to read it":
            prose = how  # folded: a reader comes for the clauses
        else:
            prose.append(_markdown.render(block, env).rstrip())
    places = {"contents": contents, "introduction": introduction, "how": how, "clauses": parts}
    page = _TEMPLATE
    for place, lines in places.items():
        page = page.replace(f"{{{place}}}", "\n".join(lines))
    return page


def _article(clause: Clause, env: dict[str, Any]) -> str:
    number = clause.clause
    return (
        f'<article id="{number}">\n'
        f'<p class="head"><a href="#{number}">{number}</a> <b class="{clause.level}">{clause.level}</b>'
        f" <span>{clause.profile}</span> <span>{escape(clause.source)}</span></p>\n"
        f"<p>{_markdown.renderInline(clause.text, env)}</p>\n"
        "</article>"
    )
