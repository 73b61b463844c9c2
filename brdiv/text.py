"""Text from files stays text: it controls no terminal, and is no markup of a figure and no spreadsheet's formula."""

import re
import unicodedata
from typing import Any

CONTROL = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # control and format signs, halves of signs, ends of lines and paragraphs
FORMULA = ("=", "+", "-", "@")
ENDLESS = re.compile("[0-9a-fA-F_]{1000}")


def plain(text: object, most: int = 200) -> str:
    r"""Write text in one line of at most so many signs, with escape sequences and the like spelt out.

    >>> plain("\x1b[31mred\n")
    '\\x1b[31mred\\n'
    >>> plain("a long one", most=6)
    'a l...'
    """
    whole = str(text)
    spelt = "".join(
        sign.encode("unicode_escape").decode() if unicodedata.category(sign) in CONTROL else sign
        for sign in whole[: most + 1]
    )
    return spelt if len(spelt) <= most else spelt[: most - 3] + "..."


def has_endless_number(text: str) -> bool:
    """Whether a text may have a number of so many digits that Python reads or writes none like it.

    >>> has_endless_number("9" * 2000), has_endless_number(f"[0x{'f' * 2000}]"), has_endless_number("12")
    (True, True, False)
    """
    return ENDLESS.search(text) is not None


def for_figure(text: object) -> str:
    r"""Write text so that a figure shows it as it stands: between two dollars it would be taken for a formula.

    >>> for_figure("$x$")
    '\\$x\\$'
    """
    return plain(text).replace("$", r"\$")


def for_cell(value: Any) -> Any:
    """Write text so that a spreadsheet takes it for text; numbers stay numbers.

    >>> for_cell("=1+1"), for_cell("BRDiv"), for_cell(-0.5)
    ("'=1+1", 'BRDiv', -0.5)
    """
    if not isinstance(value, str):
        return value
    told = plain(value)
    return f"'{told}" if told.lstrip().startswith(FORMULA) else told
