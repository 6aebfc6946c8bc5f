"""From tokens to nodes: a descent over the grammar that words its refusals as the generated parser of cel-go does.

Source: cel-go ``parser/gen/CEL.g4``, ``parser/parser.go``.
"""

from __future__ import annotations

from hyperkube_lib.cel.errors import CompilationFailed, Issue
from hyperkube_lib.cel.macros import expand
from hyperkube_lib.cel.syntax import (
    Call,
    Entry,
    FieldValue,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
    StructLiteral,
)
from hyperkube_lib.cel.tokens import EOF, KINDS_SHOWN, BadLiteral, Token, tokenize, unquote
from hyperkube_lib.cel.values import UInt

_CONSTANTS = ("true", "false", "null", "FLOAT", "INT", "UINT", "STRING", "BYTES", "IDENTIFIER")
_FIELDS = frozenset({"IDENTIFIER", "ESCAPED"})
_KEYWORDS = frozenset({"true", "false", "null", "in"})
_STARTS = frozenset({"[", "{", "(", ".", "-", "!", *_CONSTANTS})
_RELATIONS = {"<": "_<_", "<=": "_<=_", ">=": "_>=_", ">": "_>_", "==": "_==_", "!=": "_!=_", "in": "@in"}
_OPERATORS = frozenset({*_RELATIONS, "||", "&&", "?", "+", "*", "/", "%"})
_SUMS = {"+": "_+_", "-": "_-_"}
_PRODUCTS = {"*": "_*_", "/": "_/_", "%": "_%_"}
_ORDER = ("[", "{", "}", "(", ")", ".", ",", "-", "!", "?", *_CONSTANTS, "ESCAPED")
RESERVED = frozenset(
    {
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import"),
        *("in", "let", "loop", "namespace", "null", "package", "return", "true", "var", "void", "while"),
    }
)
_MOST_DIGITS = 20
"""Of a number of 64 bits; Python reads no more than 4,300 without an error of its own."""
MAX_DEPTH = 250


class _Stop(Exception):
    """The rest cannot be read."""


def parse(source: str) -> Node:
    """Parse an expression.

    Raises:
        CompilationFailed: it is none.
    """
    parser = _Parser(source)
    try:
        node = parser.whole()
    except _Stop:
        raise CompilationFailed(source, sorted(parser.issues, key=lambda issue: issue.offset)) from None
    if parser.issues:
        raise CompilationFailed(source, sorted(parser.issues, key=lambda issue: issue.offset))
    return node


def _listed(kinds: set[str] | frozenset[str]) -> str:
    names = [kind for kind in _ORDER if kind in kinds]
    shown = [KINDS_SHOWN.get(kind, kind) if kind.isupper() else f"'{kind}'" for kind in names]
    return shown[0] if len(shown) == 1 else "{" + ", ".join(shown) + "}"


class _Parser:
    def __init__(self, source: str) -> None:
        self._source = source
        self._tokens, self.issues = tokenize(source)
        self._at = 0
        self._depth = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._tokens[self._at]
        if token.kind != EOF:
            self._at += 1
        return token

    def _after(self) -> str:
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)].kind

    def _fail(self, token: Token, text: str) -> _Stop:
        self.issues.append(Issue(token.offset, f"Syntax error: {text}"))
        return _Stop()

    def _issue(self, offset: int, text: str) -> None:
        self.issues.append(Issue(offset, text))

    def _mismatch(self, kinds: set[str] | frozenset[str]) -> _Stop:
        token = self._next
        word = "extraneous" if self._after() in kinds and token.kind != EOF else "mismatched"
        return self._fail(token, f"{word} input '{token.text}' expecting {_listed(kinds)}")

    def _dead_end(self, start: Token) -> _Stop:
        """Refuse what comes after a dot, which begins several alternatives of the grammar."""
        token = self._next
        if token.kind in _KEYWORDS:
            return self._fail(token, f"mismatched input '{token.text}' expecting IDENTIFIER")
        end = token.offset + (len(token.text) if token.kind != EOF else 0)
        return self._fail(token, f"no viable alternative at input '{self._source[start.offset : end].rstrip()}'")

    def _expect(self, kind: str) -> Token:
        token = self._next
        if token.kind == kind:
            return self._take()
        wanted = f"'{kind}'" if not kind.isupper() else KINDS_SHOWN.get(kind, kind)
        if self._after() == kind and token.kind != EOF:
            raise self._fail(token, f"extraneous input '{token.text}' expecting {wanted}")
        if kind in ")]}" and token.kind in {EOF, ")", "]", "}"}:
            raise self._fail(token, f"missing {wanted} at '{token.text}'")
        raise self._fail(token, f"mismatched input '{token.text}' expecting {wanted}")

    def whole(self) -> Node:
        """Read an expression to the end of the text."""
        node = self.expression()
        token = self._next
        if token.kind != EOF:
            word = "extraneous" if self._after() == EOF else "mismatched"
            raise self._fail(token, f"{word} input '{token.text}' expecting <EOF>")
        return node

    def expression(self, extra: frozenset[str] = frozenset()) -> Node:
        """Read ``a ? b : c`` or what binds tighter; `extra` may come in place of an expression."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._issue(self._next.offset, f"expression recursion limit exceeded: {MAX_DEPTH}")
            raise _Stop
        node = self._or(extra)
        if self._next.kind == "?":
            mark = self._take()
            then = self._or()
            self._expect(":")
            node = Call(mark.offset, "_?_:_", None, (node, then, self.expression()))
        self._depth -= 1
        return node

    def _or(self, extra: frozenset[str] = frozenset()) -> Node:
        node = self._and(extra)
        while self._next.kind == "||":
            mark = self._take()
            node = Call(mark.offset, "_||_", None, (node, self._and()))
        return node

    def _and(self, extra: frozenset[str] = frozenset()) -> Node:
        node = self._relation(extra)
        while self._next.kind == "&&":
            mark = self._take()
            node = Call(mark.offset, "_&&_", None, (node, self._relation()))
        return node

    def _relation(self, extra: frozenset[str] = frozenset()) -> Node:
        node = self._sum(extra)
        while self._next.kind in _RELATIONS:
            mark = self._take()
            node = Call(mark.offset, _RELATIONS[mark.kind], None, (node, self._sum()))
        return node

    def _sum(self, extra: frozenset[str] = frozenset()) -> Node:
        node = self._product(extra)
        while self._next.kind in _SUMS:
            mark = self._take()
            node = Call(mark.offset, _SUMS[mark.kind], None, (node, self._product()))
        return node

    def _product(self, extra: frozenset[str] = frozenset()) -> Node:
        node = self._unary(extra)
        while self._next.kind in _PRODUCTS:
            mark = self._take()
            node = Call(mark.offset, _PRODUCTS[mark.kind], None, (node, self._unary()))
        return node

    def _unary(self, extra: frozenset[str] = frozenset()) -> Node:
        if self._next.kind in {"!", "-"}:
            mark = self._take()
            count = 1
            while self._next.kind == mark.kind:
                self._take()
                count += 1
            if mark.kind == "-" and count == 1 and self._next.kind in {"INT", "FLOAT"}:
                return self._member(self._number(self._take(), negative=True, offset=mark.offset))
            operand = self._member(self._primary())
            if count % 2 == 0:
                return operand
            return Call(mark.offset, "!_" if mark.kind == "!" else "-_", None, (operand,))
        return self._member(self._primary(extra))

    def _member(self, node: Node) -> Node:
        while self._next.kind in {".", "["}:
            node = self._dotted(node) if self._next.kind == "." else self._indexed(node)
        return node

    def _dotted(self, node: Node) -> Node:
        dot = self._take()
        if self._next.kind == "?":
            self._take()
            if self._next.kind not in _FIELDS:
                raise self._mismatch(_FIELDS)
            name = self._take()
            return Call(dot.offset, "_?._", None, (node, Literal(name.offset, _plain(name))))
        if self._next.kind not in _FIELDS:
            raise self._dead_end(dot)
        name = self._take()
        if name.kind == "IDENTIFIER" and self._next.kind == "(":
            opening = self._take()
            arguments = self._arguments()
            return self._expanded(Call(opening.offset, name.text, node, arguments))
        return Select(dot.offset, node, _plain(name))

    def _indexed(self, node: Node) -> Node:
        bracket = self._take()
        function = "_[_]"
        if self._next.kind == "?":
            self._take()
            function = "_[?_]"
        index = self.expression()
        self._expect("]")
        return Call(bracket.offset, function, None, (node, index))

    def _arguments(self) -> tuple[Node, ...]:
        if self._next.kind == ")":
            self._take()
            return ()
        found = [self.expression(frozenset({")"}))]
        while self._next.kind == ",":
            self._take()
            found.append(self.expression())
        self._expect(")")
        return tuple(found)

    def _expanded(self, call: Call) -> Node:
        return expand(call, self._issue)

    def _primary(self, extra: frozenset[str] = frozenset()) -> Node:
        token = self._next
        if token.kind not in _STARTS:
            refused = self._mismatch(_STARTS | extra)
            if token.kind not in _OPERATORS or self._after() in _STARTS | extra:
                raise refused
            return Literal(token.offset, None)  # cel-go's parser goes on with what is right of the operator
        if token.kind == "(":
            self._take()
            node = self.expression()
            self._expect(")")
            return node
        if token.kind == "[":
            return self._list()
        if token.kind == "{":
            return self._map()
        if token.kind in {"IDENTIFIER", "."}:
            return self._name()
        return self._constant(self._take())

    def _name(self) -> Node:
        start = self._take() if self._next.kind == "." else None
        if start and self._next.kind != "IDENTIFIER":
            raise self._dead_end(start)
        token = self._expect("IDENTIFIER")
        name = ("." if start else "") + token.text
        if self._next.kind == "(":
            self._refuse_reserved(token)
            opening = self._take()
            return self._expanded(Call(opening.offset, name, None, self._arguments()))
        dotted = self._struct_name()
        if dotted is not None:
            return self._struct(name + dotted)
        self._refuse_reserved(token)
        return Ident(start.offset if start else token.offset, name)

    def _refuse_reserved(self, token: Token) -> None:
        if token.text in RESERVED:
            self._issue(token.offset, f"reserved identifier: {token.text}")

    def _struct_name(self) -> str | None:
        """Return the rest of a message's name when a message begins here, having read it; None when not."""
        at, parts = self._at, ""
        while self._tokens[at].kind == "." and self._tokens[at + 1].kind == "IDENTIFIER":
            parts += "." + self._tokens[at + 1].text
            at += 2
        if self._tokens[at].kind != "{":
            return None
        self._at = at
        return parts

    def _struct(self, name: str) -> Node:
        brace = self._take()
        fields: list[FieldValue] = []
        first = True
        while self._next.kind != "}":
            optional = self._next.kind == "?"
            if optional:
                self._take()
            token = self._next
            if token.kind not in _FIELDS:
                more = {"}", ",", "?"} if first else {"}", "?"}
                raise self._mismatch(_FIELDS | (set() if optional else more))
            self._take()
            colon = self._expect(":")
            fields.append(FieldValue(colon.offset, _plain(token), self.expression(), optional))
            first = False
            if self._next.kind != ",":
                break
            self._take()
        self._expect("}")
        return StructLiteral(brace.offset, name, tuple(fields))

    def _list(self) -> Node:
        bracket = self._take()
        items: list[Node] = []
        optional: set[int] = set()
        while self._next.kind != "]":
            if self._next.kind == "?":
                self._take()
                optional.add(len(items))
            items.append(self.expression())
            if self._next.kind != ",":
                break
            self._take()
        self._expect("]")
        return ListLiteral(bracket.offset, tuple(items), frozenset(optional))

    def _map(self) -> Node:
        brace = self._take()
        entries: list[Entry] = []
        while self._next.kind != "}":
            optional = self._next.kind == "?"
            if optional:
                self._take()
            key = self.expression(frozenset() if entries or optional else frozenset({"}", ",", "?"}))
            colon = self._expect(":")
            entries.append(Entry(colon.offset, key, self.expression(), optional))
            if self._next.kind != ",":
                break
            self._take()
        self._expect("}")
        return MapLiteral(brace.offset, tuple(entries))

    def _constant(self, token: Token) -> Node:
        if token.kind in {"true", "false", "null"}:
            return Literal(token.offset, {"true": True, "false": False, "null": None}[token.kind])
        if token.kind in {"STRING", "BYTES"}:
            try:
                return Literal(token.offset, unquote(token))
            except BadLiteral as error:
                self._issue(token.offset, str(error))
                raise _Stop from error
        return self._number(token, negative=False, offset=token.offset)

    def _number(self, token: Token, *, negative: bool, offset: int) -> Node:
        if token.kind == "FLOAT":
            return Literal(offset, -float(token.text) if negative else float(token.text))
        is_hexadecimal = token.text[:2] == "0x"
        digits = token.text.removeprefix("0x").rstrip("uU").lstrip("0") or "0"
        value = 2**64 if len(digits) > _MOST_DIGITS else int(digits, 16 if is_hexadecimal else 10)
        if token.kind == "UINT":
            if value >= 2**64:
                self._issue(offset, "invalid uint literal")
            return Literal(offset, UInt(value))
        value = -value if negative else value
        if not -(2**63) <= value < 2**63:
            self._issue(offset, "invalid int literal")
        return Literal(offset, value)


def _plain(token: Token) -> str:
    return token.text.strip("`")
