"""What goes wrong with an expression: before it runs, and while it runs.

::

    CelError                 an expression's fault: tell its author
    ├── CompilationFailed    it can never run: syntax, an unknown name, types that do not fit; carries `Issue` rows
    │   └── NotInstantiated  it is well-formed, but what it says for good, as a pattern, is none
    └── EvaluationError      this evaluation has no value: a missing key, an overflow
        ├── NoSuchOverload   an operator or function got values of kinds it does not take
        └── CostExceeded     it did more work than the limit allows; the evaluation was cut

The texts are cel-go's, which Kubernetes hands on to its clients.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperkube.machinery.dataclass import dataclass

MOST_ISSUES = 100
"""Errors of one expression that are told. Source: cel-go ``common/errors.go`` (maxErrorsToReport)."""
MOST_ISSUE_TEXT = 1 << 16
"""Characters after which no more are told: 10,000 characters that are no words made 150 MB of text."""


class CelError(Exception):
    """Something is wrong with an expression; ``str()`` is what its author should read."""


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that is wrong at one place: `offset` counts characters from the start of the expression."""

    offset: int
    message: str

    def shown(self, source: str) -> str:
        """Return the message with the line it is about and a mark under the place; an empty text has no line."""
        if not source:
            return f"ERROR: <input>:1:0: {self.message}"
        before = source[: self.offset]
        line_number = before.count("\n")
        column = len(before) - (before.rfind("\n") + 1)
        line = source.split("\n")[line_number]
        return f"ERROR: <input>:{line_number + 1}:{column + 1}: {self.message}\n | {line}\n | {'.' * column}^"


class CompilationFailed(CelError):
    """The expression cannot be compiled.

    Attributes:
        issues: what is wrong, in the order of the source.
    """

    def __init__(self, source: str, issues: Sequence[Issue]) -> None:
        self.issues = tuple(sorted(issues, key=lambda issue: issue.offset))
        super().__init__("\n".join(_told(source, self.issues)))


def _told(source: str, issues: Sequence[Issue]) -> Iterator[str]:
    """Yield the texts of issues, and how many more there are; each shows the whole line that it is about."""
    size = 0
    for index, issue in enumerate(issues):
        if index == MOST_ISSUES or size > MOST_ISSUE_TEXT:
            yield f"{len(issues) - index} more errors were truncated"
            return
        text = issue.shown(source)
        size += len(text)
        yield text


class NotInstantiated(CompilationFailed):
    """The expression is well-formed, but what it says for good, as a pattern, is none; `why` says so."""

    def __init__(self, why: str) -> None:
        CelError.__init__(self, f"program instantiation failed: {why}")
        self.issues = ()
        self.why = why


class EvaluationError(CelError):
    """This evaluation has no value."""


class NoSuchOverload(EvaluationError):
    """An operator or function got values of kinds it does not take."""

    def __init__(self, name: str = "", kinds: Sequence[str] = ()) -> None:
        super().__init__(f"no such overload: {name}({', '.join(kinds)})" if name else "no such overload")


class CostExceeded(EvaluationError):
    """The evaluation was cut because it did too much work."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class Unfinished(Exception):
    """A value is not to be had yet, and the evaluation is to be made again once it is.

    Attributes:
        cost: of all evaluations that were cut.
    """

    def __init__(self) -> None:
        super().__init__()
        self.cost = 0
