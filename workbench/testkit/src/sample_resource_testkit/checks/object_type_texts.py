"""The texts of ObjectType (2.3), of ``key`` and of ``someProperty``."""

from sample_resource_testkit.checks.names import TEXTS
from sample_resource_testkit.checks.object_type import kept, sent
from sample_resource_testkit.checks.refusals import refused
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

UNICODE = {
    "the empty text": "",
    "blanks at both ends": "  a  ",
    "quotes": "\"'`„“",
    "a backslash": "\\",
    "an escape that is text": "\\u0041\\n",
    "controls": "\u0001\u0008\u001f\u007f\u0085",
    "line ends": "a\nb\r\nc\td\u2028e\u2029f",
    "a family": "👨‍👩‍👧‍👦",
    "a combining accent": "e\u0301",
    "the last character": "\U0010ffff",
    "noncharacters": "\ufffe\uffff\ufdd0",
    "a byte order mark": "\ufeffa",
    "SQL": "'; DROP TABLE resource; --",
    "a percent sign": "%s %00 %41 {} {0} ${a}",
    "a word of JSON": "null",
    "10,000 characters": "ü" * 10_000,
}


@check("2.3-16", cases=UNICODE)
def any_text_is_kept(world: World, text: str) -> None:
    kept(world, {TEXTS: [text, f"{text}a"]})


UNKEEPABLE = {
    "U+0000 within": "a\\u0000b",
    "a high surrogate": "\\ud800",
    "a low surrogate": "\\udc00",
    "a pair and a half": "\\ud83d\\ude00\\ud83d",
}


@check("2.3-17", cases=UNKEEPABLE)
def such_a_text_is_refused(world: World, text: str) -> None:
    refused(sent(world, f'{{"{TEXTS}": ["a", "{text}"]}}'), 400, "InvalidField")
