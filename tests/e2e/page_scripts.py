"""The commands of documentation pages as one script: what a reader types, in the order in which it stands there.

Servers that a page starts in the foreground are the reader's first terminal, everything else is the second one. A
command that fails is typed again for a while, since objects need a moment. What a transcript shows is compared.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STARTS_CLUSTER = re.compile(r"^(\./dev|hyperkube) up\b")
ASKS_CLUSTER = re.compile(r"(kubectl|hyperkube|\./dev up)\b(?! plugins (new|check|list|show|why)\b)")
WATCHES = re.compile(r"\s--watch$")
PRELUDE = """
log=$HOME/up.log
SERVER=
# The first terminal: the line `up` ends with tells the second one which cluster it talks to.
serve() {
    leave
    echo "[$1]"
    : > "$log"
    eval "exec $1" > "$log" 2>&1 &
    SERVER=$!
    until grep -q "export KUBECONFIG=" "$log"; do
        kill -0 $SERVER 2>/dev/null || { cat "$log"; SERVER=; return 0; }
        sleep 0.1
    done
    eval "$(grep -o 'export KUBECONFIG=.*' "$log")"
}
leave() {
    [ -z "$SERVER" ] || { kill -INT $SERVER 2>/dev/null || true; wait $SERVER || { echo "[up failed]"; tail -50 "$log"; exit 1; }; }
    SERVER=
}
fresh() { leave; rm -rf "$HOME/.local"; }
again() {
    echo "[$1]"
    for _ in $(seq 30); do
        code=0
        eval "$1" || code=$?
        [ $code != 0 ] && [ $code != "$2" ] || return 0
        sleep 0.5
    done
    echo "[gave up: $1]"; tail -50 "$log"; exit 1
}
shows() {
    echo "[$1]"
    shown=$(eval "$1" 2>&1) || true
    [ "$shown" = "$2" ] || { echo "[differs: $shown]"; exit 1; }
}
"""


@dataclass(frozen=True)
class Rules:
    """What of the pages is not typed as it stands.

    Attributes:
        skipped: beginning of a command → why it is left out.
        results: beginning of a command → the other exit code with which it may end.
        together: names of pages whose clusters differ by their flags only, which go together: one with all flags serves
            them, and each page has a namespace of its own in it.
    """

    skipped: Mapping[str, str]
    results: Mapping[str, int]
    together: tuple[frozenset[str], ...] = ()


def script_of(pages: list[Path], rules: Rules) -> str:
    """Return a script for bash that types the commands of all pages.

    A page that starts a cluster begins on a fresh machine, alone or with those that `rules` allow beside it. The others
    are for readers who have one running, and share that.
    """
    lines = [PRELUDE]
    shared = False
    joined = [[page for page in pages if page.name in names] for names in rules.together]
    alone = [page for page in pages if not any(page in group for group in joined)]
    for page in sorted(alone, key=_starts_cluster):
        steps = _steps(page, rules)
        if not steps:
            continue
        lines.append(f"echo '== {page.name}'")
        starts = _starts_cluster(page)
        if starts or not shared:
            lines.append("fresh")
        if not starts or _is_used_before(steps):
            lines += [] if shared and not starts else ["serve './dev up'"]
        shared = not starts
        lines += [_typed(command, shown, rules) for command, shown in steps]
    for group in filter(None, joined):
        lines += _typed_together(group, rules)
    return "\n".join([*lines, "leave", "echo '== end'", ""])


def _typed_together(pages: list[Path], rules: Rules) -> Iterator[str]:
    """Yield the lines for pages with one cluster: what each does before, the start with all flags, and what follows."""
    flags, after = [], []
    yield "fresh"
    for page in pages:
        steps = _steps(page, rules)
        start = next(index for index, (command, _) in enumerate(steps) if STARTS_CLUSTER.match(command))
        yield f"echo '== {page.name}'"
        yield from (_typed(command, shown, rules) for command, shown in steps[:start])
        flags.append(STARTS_CLUSTER.sub("", steps[start][0]).strip())
        after.append((page, steps[start + 1 :]))
    yield f"serve {shlex.quote(' '.join(['./dev up', *filter(None, flags)]))}"
    for page, steps in after:
        yield f"echo '== {page.name}, in its cluster'"
        yield f"kubectl create namespace {page.stem}; kubectl config set-context --current --namespace={page.stem}"
        yield from (_typed(command, shown, rules) for command, shown in steps)


def _steps(page: Path, rules: Rules) -> list[tuple[str, str | None]]:
    """Return what is typed of a page; the same twice in a row is typed once."""
    typed = [step for step in commands(page) if not any(step[0].startswith(word) for word in rules.skipped)]
    return [step for index, step in enumerate(typed) if step not in typed[index - 1 : index]]


def _starts_cluster(page: Path) -> bool:
    return any(STARTS_CLUSTER.match(command) for command, _ in commands(page))


def _is_used_before(steps: list[tuple[str, str | None]]) -> bool:
    """Tell whether a page asks a cluster before it starts one."""
    first = next(command for command, _ in steps if ASKS_CLUSTER.match(command))
    return STARTS_CLUSTER.match(first) is None


def _typed(command: str, shown: str | None, rules: Rules) -> str:
    if shown is not None:
        return f"shows {shlex.quote(command)} {shlex.quote(shown)}"
    if STARTS_CLUSTER.match(command):
        return f"serve {shlex.quote(command)}"
    if WATCHES.search(command):
        return f"again {shlex.quote(f'timeout 3 {command}')} 124"
    other = next((code for word, code in rules.results.items() if command.startswith(word)), 0)
    return f"again {shlex.quote(command)} {other}"


def commands(page: Path) -> Iterator[tuple[str, str | None]]:
    """Yield each command of a page; with what it shows, where the page has a transcript of it."""
    for language, text in FENCED.findall(page.read_text()):
        if language == "sh":
            joined = text.replace("\\\n", " ")
            yield from ((line.partition("   # ")[0].strip(), None) for line in joined.splitlines() if line.strip())
        elif text.startswith("$ ") and language == "text":
            for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, shown = step.partition("\n")
                yield command, shown.rstrip("\n")
