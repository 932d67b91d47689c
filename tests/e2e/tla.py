"""tla.py — as much TLA+ as the modules of calm use: a strict parser and an evaluator that takes steps.

Junction lists (`/\\` or `\\/` at the start of lines) end by their column, as the language has it. What is not understood
is an error, never skipped: a module that passes is well formed.

Values are: str, int, bool, frozenset, tuple (sequences, from 1) and dict (functions and records).
"""
import re

TOKEN = re.compile(r"""
    (?P<space>[ \t]+) | (?P<line>\n) | (?P<remark>\\\*[^\n]*) | (?P<comment>\(\*.*?\*\))
  | (?P<bar>-{4,}|={4,}) | (?P<string>"[^"\\\n]*") | (?P<number>\d+) | (?P<word>[A-Za-z][A-Za-z0-9_]*)
  | (?P<mark>\\in\b|\\cup\b|\\A\b|\\E\b|\\/|/\\|\|->|<<|>>_|>>|==|=>|<=|->|\[\]|\]_|[\\='\#()\[\]{},:.!+_])
""", re.X | re.S)
KEYWORDS = {"MODULE", "EXTENDS", "CONSTANTS", "VARIABLES", "INSTANCE", "IF", "THEN", "ELSE", "CASE", "OTHER", "CHOOSE", "EXCEPT",
            "UNCHANGED"}


class Malformed(Exception):
    """A text that is no module, with the line."""


class Token:
    def __init__(self, kind, text, line, column):
        self.kind, self.text, self.line, self.column = kind, text, line, column


def tokens_of(text):
    found, at, line, start = [], 0, 1, 0
    while at < len(text):
        hit = TOKEN.match(text, at)
        if not hit:
            raise Malformed(f"line {line}: {text[at:at + 10]!r} is no TLA+")
        kind = "keyword" if hit.lastgroup == "word" and hit[0] in KEYWORDS else hit.lastgroup
        if kind not in ("space", "line", "remark", "comment"):
            found.append(Token(kind, hit[0], line, at - start))
        line += hit[0].count("\n")
        if "\n" in hit[0]:
            start = at + hit[0].rindex("\n") + 1
        at = hit.end()
    return found


class Module:
    def __init__(self, text):
        self.tokens, self.at, self.lists = tokens_of(text), 0, []
        self.name, self.extends, self.constants, self.variables = "", [], [], []
        self.definitions = {}  # name -> (parameters, body)
        self.instances = {}    # name -> module
        self.read()

    # --- tokens ---

    def peek(self):
        """The next token, or None at the end of the text or of the item of a junction list."""
        if self.at == len(self.tokens):
            return None
        token = self.tokens[self.at]
        if self.lists and token.column <= self.lists[-1][0] and token.line > self.lists[-1][1]:
            return None
        return token

    def sees(self, *texts):
        token = self.peek()
        return token is not None and token.kind != "string" and token.text in texts

    def take(self, *texts):
        token = self.peek()
        if token is None or (texts and not self.sees(*texts)):
            last = self.tokens[min(self.at, len(self.tokens) - 1)]
            raise Malformed(f"line {last.line}: expected {' or '.join(texts) or 'more'}, found {last.text}")
        self.at += 1
        return token

    def word(self):
        token = self.take()
        if token.kind != "word":
            raise Malformed(f"line {token.line}: expected a name, found {token.text}")
        return token.text

    def words(self):
        found = [self.word()]
        while self.sees(","):
            self.take(",")
            found.append(self.word())
        return found

    # --- the module ---

    def bar(self, letter):
        token = self.take()
        if token.kind != "bar" or token.text[0] != letter:
            raise Malformed(f"line {token.line}: expected a line of {letter}")

    def read(self):
        self.bar("-")
        self.take("MODULE")
        self.name = self.word()
        self.bar("-")
        while self.peek() is not None and self.peek().kind != "bar":
            if self.sees("EXTENDS"):
                self.take()
                self.extends += self.words()
            elif self.sees("CONSTANTS", "VARIABLES"):
                names = self.constants if self.take().text == "CONSTANTS" else self.variables
                names += self.words()
            else:
                self.definition()
        self.bar("=")
        if self.at != len(self.tokens):
            raise Malformed(f"line {self.tokens[self.at].line}: something stands after the end of the module")
        known = [*self.constants, *self.variables, *self.definitions, *self.instances]
        if len(known) != len(set(known)):
            raise Malformed(f"{self.name}: a name stands for two things")
        if not set(self.extends) <= {"Naturals", "Sequences"}:
            raise Malformed(f"{self.name}: extends {self.extends}")

    def definition(self):
        name, parameters = self.word(), []
        if self.sees("("):
            self.take()
            parameters = self.words()
            self.take(")")
        self.take("==")
        if self.sees("INSTANCE"):
            self.take()
            self.instances[name] = self.word()
        elif name in self.definitions:
            raise Malformed(f"{name} is defined twice")
        else:
            self.definitions[name] = (parameters, self.expression())

    # --- expressions, from what binds least on ---

    def expression(self):
        left = self.junction()
        if self.sees("=>"):
            self.take()
            return ("implies", left, self.expression())
        return left

    def junction(self):
        if self.sees("/\\", "\\/"):
            return self.junction_list()
        first = self.comparison()
        if not self.sees("/\\", "\\/"):
            return first
        mark, parts = self.peek().text, [first]
        while self.sees("/\\", "\\/"):
            if self.take().text != mark:
                raise Malformed(f"line {self.tokens[self.at].line}: /\\ and \\/ without brackets")
            parts.append(self.comparison())
        return ("and" if mark == "/\\" else "or", parts)

    def junction_list(self):
        first, parts = self.peek(), []
        while self.sees(first.text) and self.peek().column == first.column:
            bullet = self.take()
            self.lists.append((bullet.column, bullet.line))
            parts.append(self.expression())
            self.lists.pop()
        return ("and" if first.text == "/\\" else "or", parts)

    def comparison(self):
        if self.sees("\\A", "\\E", "CHOOSE"):
            kind = self.take().text
            name = self.word()
            self.take("\\in")
            domain = self.union()
            self.take(":")
            return ("choose" if kind == "CHOOSE" else "all" if kind == "\\A" else "some", name, domain, self.expression())
        if self.sees("IF"):
            self.take()
            condition = self.expression()
            self.take("THEN")
            then = self.expression()
            self.take("ELSE")
            return ("if", condition, then, self.expression())
        if self.sees("CASE"):
            return self.cases()
        if self.sees("UNCHANGED"):
            self.take()
            return ("unchanged", self.postfix())
        left = self.union()
        if self.sees("=", "#", "\\in", "<="):
            return (self.take().text, left, self.union())
        return left

    def cases(self):
        self.take("CASE")
        arms, otherwise = [], None
        while True:
            if self.sees("OTHER"):
                self.take()
                self.take("->")
                otherwise = self.expression()
                break
            condition = self.expression()
            self.take("->")
            arms.append((condition, self.expression()))
            if not self.sees("[]"):
                break
            self.take("[]")
        return ("case", arms, otherwise)

    def union(self):
        left = self.postfix()
        while self.sees("\\cup", "\\", "+"):
            left = (self.take().text, left, self.postfix())
        return left

    def postfix(self):
        value = self.primary()
        while self.sees("'", "[", "."):
            mark = self.take().text
            if mark == "'":
                value = ("prime", value)
            elif mark == ".":
                value = ("apply", value, ("value", self.word()))
            else:
                value = ("apply", value, self.expression())
                self.take("]")
        return value

    def primary(self):
        token = self.take()
        if token.kind == "string":
            return ("value", token.text[1:-1])
        if token.kind == "number":
            return ("value", int(token.text))
        if token.kind == "word":
            return self.name_or_call(token.text)
        if token.text == "(":
            inner = self.expression()
            self.take(")")
            return inner
        if token.text == "{":
            return ("set", self.listed("}"))
        if token.text == "<<":
            return ("tuple", self.listed(">>"))
        if token.text == "[":
            return self.bracket()
        if token.text == "[]":
            self.take("[")
            action = self.expression()
            self.take("]_")
            return ("always", action, self.postfix())
        raise Malformed(f"line {token.line}: {token.text} begins no expression")

    def listed(self, end):
        parts = []
        while not self.sees(end):
            if parts:
                self.take(",")
            parts.append(self.expression())
        self.take(end)
        return parts

    def name_or_call(self, name):
        if self.sees("!"):
            self.take()
            name += "!" + self.word()
        arguments = []
        if self.sees("("):
            self.take()
            arguments = self.listed(")")
        return ("name", name, arguments)

    def bracket(self):
        """What stands in [ ]: a record, a function, a set of functions, or one with a change."""
        if self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].text == "|->":
            fields = {}
            while not self.sees("]"):
                if fields:
                    self.take(",")
                name = self.word()
                self.take("|->")
                if name in fields:
                    raise Malformed(f"the field {name} stands twice")
                fields[name] = self.expression()
            self.take("]")
            return ("record", fields)
        left = self.comparison()
        mark = self.take("|->", "->", "EXCEPT").text
        if mark == "EXCEPT":
            self.exclamation()
            self.take("[")
            where = self.expression()
            self.take("]")
            self.take("=")
            made = ("except", left, where, self.expression())
        elif mark == "->":
            made = ("functions", left, self.expression())
        elif left[0] == "\\in" and left[1][0] == "name":
            made = ("function", left[1][1], left[2], self.expression())
        else:
            raise Malformed("a function needs [x \\in S |-> e]")
        self.take("]")
        return made

    def exclamation(self):
        self.take("!")


class Machine:
    """A module with its constants bound, ready to be asked. A state is a dict from variable to value."""

    def __init__(self, module, constants=None, library=()):
        self.module, self.constants = module, dict(constants or {})
        self.known = {}
        missing = set(module.constants) - set(self.constants)
        if missing:
            raise Malformed(f"{module.name}: no value for {sorted(missing)}")
        self.inner = {}
        for name, other in module.instances.items():
            bound = {constant: self.value(("name", constant, []), {}, {}) for constant in library[other].constants}
            self.inner[name] = Machine(library[other], bound, library)

    def holds(self, name, state):
        return self.value(("name", name, []), state, {})

    def first_states(self):
        """The states that Init describes."""
        return list(self.act(self.module.definitions["Init"][1], None, {}, {}))

    def steps(self, state, expression=("name", "Next", [])):
        """Every state that a step of `expression` leads to."""
        for after in self.act(expression, state, {}, {}):
            if set(after) != set(self.module.variables):
                raise Malformed(f"{self.module.name}: a step leaves {set(self.module.variables) - set(after)} undefined")
            yield after

    # --- values ---

    def value(self, node, state, local):
        kind = node[0]
        if kind == "value":
            return node[1]
        if kind == "name":
            return self.name(node[1], node[2], state, local)
        if kind == "apply":
            function, place = self.value(node[1], state, local), self.value(node[2], state, local)
            return function[place - 1] if isinstance(function, tuple) else function[place]
        if kind == "tuple":
            return tuple(self.value(part, state, local) for part in node[1])
        if kind == "set":
            return frozenset(self.value(part, state, local) for part in node[1])
        if kind == "record":
            return {name: self.value(part, state, local) for name, part in node[1].items()}
        if kind in ("and", "or"):
            return (all if kind == "and" else any)(self.value(part, state, local) for part in node[1])
        if kind == "implies":
            return not self.value(node[1], state, local) or self.value(node[2], state, local)
        if kind in ("=", "#", "\\in", "<=", "\\cup", "\\", "+"):
            return self.infix(kind, node[1], node[2], state, local)
        if kind in ("all", "some"):
            domain = self.value(node[2], state, local)
            return (all if kind == "all" else any)(self.value(node[3], state, {**local, node[1]: one}) for one in domain)
        if kind == "choose":
            return min(one for one in self.value(node[2], state, local) if self.value(node[3], state, {**local, node[1]: one}))
        if kind == "if":
            return self.value(node[2] if self.value(node[1], state, local) else node[3], state, local)
        if kind == "function":
            return {one: self.value(node[3], state, {**local, node[1]: one}) for one in self.value(node[2], state, local)}
        if kind == "except":
            changed, place = dict(self.value(node[1], state, local)), self.value(node[2], state, local)
            if place not in changed:
                raise Malformed(f"EXCEPT at {place}, which is not in the domain")
            changed[place] = self.value(node[3], state, local)
            return changed
        raise Malformed(f"{kind} has no value")

    def infix(self, mark, left, right, state, local):
        if mark == "\\in" and right[0] == "functions":
            function, domain = self.value(left, state, local), self.value(right[1], state, local)
            image = self.value(right[2], state, local)
            return set(function) == set(domain) and set(function.values()) <= image
        a, b = self.value(left, state, local), self.value(right, state, local)
        return {"=": lambda: a == b, "#": lambda: a != b, "\\in": lambda: a in b, "<=": lambda: a <= b, "\\cup": lambda: a | b,
                "\\": lambda: a - b, "+": lambda: a + b}[mark]()

    def name(self, name, arguments, state, local):
        if name in local:
            return local[name]
        if name in self.constants:
            return self.constants[name]
        if name in self.module.variables:
            return state[name]
        if name == "Len":
            return len(self.value(arguments[0], state, local))
        if name in self.known:
            return self.known[name]
        machine, parameters, body, bound = self.look_up(name, arguments, state, local)
        result = machine.value(body, state, bound)
        if machine is self and not parameters and self.is_constant(name):
            self.known[name] = result
        return result

    def look_up(self, name, arguments, state, local):
        """The machine that defines the name, its parameters and body, and what the parameters stand for."""
        machine, plain = self, name
        if "!" in name:
            outer, plain = name.split("!")
            machine = self.inner[outer]
        if plain not in machine.module.definitions:
            raise Malformed(f"{self.module.name}: {name} is not defined")
        parameters, body = machine.module.definitions[plain]
        if len(parameters) != len(arguments):
            raise Malformed(f"{self.module.name}: {name} takes {len(parameters)} arguments")
        return machine, parameters, body, {parameter: self.value(argument, state, local)
                                           for parameter, argument in zip(parameters, arguments)}

    def is_constant(self, name):
        """True when no variable is anywhere in a definition."""
        key = ("constant", name)
        if key not in self.known:
            self.known[key] = not self.any_in(self.module.definitions[name][1], lambda node: node[0] == "name" and (
                node[1] in self.module.variables or "!" in node[1] or
                (node[1] in self.module.definitions and not self.is_constant(node[1]))))
        return self.known[key]

    def any_in(self, node, wanted):
        """True when some part of an expression is wanted."""
        if isinstance(node, tuple) and node and isinstance(node[0], str) and wanted(node):
            return True
        parts = node.values() if isinstance(node, dict) else node if isinstance(node, (tuple, list)) else ()
        return any(self.any_in(part, wanted) for part in parts)

    # --- actions: they yield what is known of the next state ---

    def act(self, node, state, local, after):
        kind = node[0]
        if kind == "and":
            yield from self.act_all(node[1], state, local, after)
        elif kind == "or":
            for part in node[1]:
                yield from self.act(part, state, local, after)
        elif kind == "some":
            for one in sorted(self.value(node[2], state, local)):
                yield from self.act(node[3], state, {**local, node[1]: one}, after)
        elif kind == "if":
            yield from self.act(node[2] if self.value(node[1], state, local) else node[3], state, local, after)
        elif kind == "case":
            chosen = next((arm for condition, arm in node[1] if self.value(condition, state, local)), node[2])
            yield from self.act(chosen, state, local, after)
        elif kind == "unchanged":
            for name in self.names_in(node[1]):
                after = {**after, name: state[name]}
            yield after
        elif kind == "=" and (node[1][0] == "prime" or (state is None and node[1][0] == "name")):
            name, value = (node[1][1] if node[1][0] == "prime" else node[1])[1], self.value(node[2], state, local)
            if after.get(name, value) == value:
                yield {**after, name: value}
        elif kind == "name" and self.is_action(node[1]):
            machine, _, body, bound = self.look_up(node[1], node[2], state, local)
            yield from machine.act(body, state, bound, after)
        elif self.value(node, state, local):
            yield after

    def act_all(self, parts, state, local, after):
        if not parts:
            yield after
            return
        for known in self.act(parts[0], state, local, after):
            yield from self.act_all(parts[1:], state, local, known)

    def names_in(self, node):
        """The variables that a tuple, or a definition of one, holds."""
        if node[0] == "tuple":
            return [name for part in node[1] for name in self.names_in(part)]
        if node[1] in self.module.variables:
            return [node[1]]
        return self.names_in(self.module.definitions[node[1]][1])

    def is_action(self, name):
        machine, plain = (self.inner[name.split("!")[0]], name.split("!")[1]) if "!" in name else (self, name)
        key = ("action", name)
        if key not in self.known:
            definition = machine.module.definitions.get(plain)
            self.known[key] = definition is not None and machine.changes(definition[1])
        return self.known[key]

    def changes(self, node):
        """True when a prime or UNCHANGED is anywhere in it."""
        return self.any_in(node, lambda part: part[0] in ("prime", "unchanged") or (
            part[0] == "name" and ("!" in part[1] or part[1] in self.module.definitions) and self.is_action(part[1])))
