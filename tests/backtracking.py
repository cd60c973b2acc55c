"""How often a regular expression can match the same text in different ways, by its automaton.

Each position of a pattern is a state. A match that fails takes more than linear time only if two loops can share a
word: there are states p and q and a word that leads from p to p, from p to q and from q to q, so that n repetitions of
it can be cut in n places (A. Weber and H. Seidl, On the degree of ambiguity of finite automata, 1991). With p = q, two
ways from p to p make it exponential.
"""

import re
from collections import defaultdict
from functools import cache
from itertools import product

parser = re._parser
ALPHABET = [chr(k) for k in range(1, 128)] + list("\u00a0\u202f\u2028\u00df\u0660\u20ac")
REPEATS = {parser.MAX_REPEAT, parser.MIN_REPEAT, parser.POSSESSIVE_REPEAT}
LOOKS = {parser.AT, parser.ASSERT, parser.ASSERT_NOT}


class Automaton:
    """The positions of a pattern, the characters that each accepts, and the positions that may follow it.

    Once an atomic part has matched, it is not matched in another way: two ways within the same one do not count, and
    one that is not repeated gives nothing back to the parts after it.
    """

    def __init__(self, pattern, *, searched=False):
        if isinstance(pattern, bytes):
            pattern = pattern.decode("latin-1")
        tree = parser.parse(pattern)
        self._state, self._groups = tree.state, {}
        self.accepts, self.follows, self._doubled = [], defaultdict(set), set()
        self._atoms, self._atom, self._loops = [], None, 0  # outermost atomic parts of positions, and where we are
        first, _, _ = self._sequence(tree)
        if searched:  # the search begins anywhere
            start = self._position(set(ALPHABET))
            self._connect({start}, {start} | first)

    def _position(self, accepted):
        self.accepts.append(frozenset(accepted))
        self._atoms.append(self._atom)
        return len(self.accepts) - 1

    def _connect(self, before, after):
        for one in before:
            self._doubled |= {(one, other) for other in self.follows[one] & after}
            self.follows[one] |= after

    def _sequence(self, tokens):
        """Return the first and last positions of a part, and whether it can be empty."""
        return self._chain(self._part(kind, argument) for kind, argument in tokens)

    def _part(self, kind, argument):
        if kind in LOOKS:
            return set(), set(), True
        if kind in {parser.ATOMIC_GROUP, parser.POSSESSIVE_REPEAT} and self._atom is None:
            self._atom = len(self.accepts), self._loops > 0
            found = self._part(kind, argument)
            self._atom = None
            return found
        if kind is parser.ATOMIC_GROUP:
            return self._sequence(argument)
        if kind in REPEATS:
            least, most, body = argument
            unbounded = most == parser.MAXREPEAT
            self._loops += unbounded
            copies = [(*self._sequence(body), k >= least) for k in range(max(least, 1) if unbounded else most)]
            self._loops -= unbounded
            if unbounded:
                self._connect(copies[-1][1], copies[-1][0])
            return self._chain([(begins, ends, empty or over) for begins, ends, empty, over in copies])
        if kind is parser.SUBPATTERN:
            self._groups[argument[0]] = argument[-1]
            return self._sequence(argument[-1])
        if kind is parser.BRANCH:
            found = [self._sequence(branch) for branch in argument[1]]
            first, last, empty = zip(*found, strict=True)
            return set().union(*first), set().union(*last), any(empty)
        if kind is parser.GROUPREF:
            return self._sequence(self._groups[argument])
        one = re._compiler.compile(parser.SubPattern(self._state, [(kind, argument)]))
        place = self._position(c for c in ALPHABET if one.fullmatch(c))
        return {place}, {place}, False

    def _chain(self, parts):
        first, last, empty = set(), set(), True
        for begins, ends, skipped in parts:
            self._connect(last, begins)
            first |= begins if empty else set()
            last = ends | last if skipped else ends
            empty = empty and skipped
        return first, last, empty

    def shared(self):
        """Return two loops that share a word, as the characters that they accept; None if there are none."""
        reach = {p: self._reached(p) for p in range(len(self.accepts))}
        loops = [p for p in reach if p in reach[p]]
        for p, q in product(loops, loops):
            doubled = (p, q) in self._doubled and p in reach[q]  # a loop within a loop goes there in two ways
            atom = self._atoms[p]
            settled = atom is not None and (atom == self._atoms[q] or not atom[1])
            if not settled and (doubled or (q in reach[p] and self._share(p, q, reach))):
                return self.accepts[p], self.accepts[q]
        return None

    def _reached(self, start):
        found, waiting = set(), [start]
        while waiting:
            new = self.follows[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    def _share(self, p, q, reach):
        """Return whether a word leads from p to p, from p to q and from q to q, for p = q in different ways."""
        start = (p, p, q)
        waiting, found = [(start, False)], set()
        while waiting:
            (a, b, c), apart = waiting.pop()
            for one in product(self.follows[a], self.follows[b], self.follows[c]):
                useful = p in reach[one[0]] and q in reach[one[1]] and q in reach[one[2]]
                if not useful or not self._common(*one):
                    continue
                split = apart or one[0] != one[1]
                if one == (p, q, q) and split:
                    return True
                if (one, split) not in found:
                    found.add((one, split))
                    waiting.append((one, split))
        return False

    @cache  # noqa: B019
    def _common(self, a, b, c):
        return bool(self.accepts[a] & self.accepts[b] & self.accepts[c])


def is_linear(pattern, *, searched=False):
    """Return whether matching takes linear time, whatever the text; in doubt, a pattern is not linear."""
    return Automaton(pattern, searched=searched).shared() is None
