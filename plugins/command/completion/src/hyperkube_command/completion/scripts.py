"""The scripts: a table of words, and the few lines that look into it.

A script is complete in itself: to ask hyperkube at each press of the key would take a sixth of a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_BASH = """# bash completion of hyperkube; made by: hyperkube completion bash
_hyperkube_words() {{
    case "$1" in
{cases}
    esac
}}

_hyperkube() {{
    local current path="" word index
    current="${{COMP_WORDS[COMP_CWORD]}}"
    for ((index = 1; index < COMP_CWORD; index++)); do
        word="${{COMP_WORDS[index]}}"
        case "$word" in -*) continue ;; esac
        if [ -n "$(_hyperkube_words "${{path:+$path }}$word")" ]; then
            path="${{path:+$path }}$word"
        fi
    done
    COMPREPLY=($(compgen -W "$(_hyperkube_words "$path")" -- "$current"))
}}

complete -o default -F _hyperkube hyperkube
"""
_ZSH = """#compdef hyperkube
# zsh completion of hyperkube; made by: hyperkube completion zsh
_hyperkube_words() {{
    case "$1" in
{cases}
    esac
}}

_hyperkube() {{
    local path_so_far="" word
    for word in "${{(@)words[2,CURRENT-1]}}"; do
        [[ "$word" == -* ]] && continue
        if [[ -n "$(_hyperkube_words "${{path_so_far:+$path_so_far }}$word")" ]]; then
            path_so_far="${{path_so_far:+$path_so_far }}$word"
        fi
    done
    compadd -- ${{=$(_hyperkube_words "$path_so_far")}} || _files
}}

if [ "$funcstack[1]" = "_hyperkube" ]; then
    _hyperkube "$@"
elif (( $+functions[compdef] )); then
    compdef _hyperkube hyperkube
fi
"""
_FISH = """# fish completion of hyperkube; made by: hyperkube completion fish
function __hyperkube_words
    switch "$argv[1]"
{cases}
    end
end

function __hyperkube_complete
    set -l path
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; and continue
        if test -n "$(__hyperkube_words (string join ' ' $path $word))"
            set path $path $word
        end
    end
    __hyperkube_words (string join ' ' $path)
end

complete -c hyperkube -a '(__hyperkube_complete)'
"""


def bash(words: Mapping[str, Sequence[str]]) -> str:
    """Return the script for bash."""
    return _BASH.format(cases=_cases(words))


def zsh(words: Mapping[str, Sequence[str]]) -> str:
    """Return the script for zsh."""
    return _ZSH.format(cases=_cases(words))


def fish(words: Mapping[str, Sequence[str]]) -> str:
    """Return the script for fish."""
    rows = [f'        case "{path}"\n            printf "%s\\n" {" ".join(row)}' for path, row in words.items()]
    return _FISH.format(cases="\n".join(rows))


def _cases(words: Mapping[str, Sequence[str]]) -> str:
    return "\n".join(f'        "{path}") echo "{" ".join(row)}" ;;' for path, row in words.items())


SHELLS = {"bash": bash, "fish": fish, "zsh": zsh}
