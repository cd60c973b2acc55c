"""Window features of tokens for sequence tagging."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from onmargin._core.text.token_window import Window

_PART = re.compile(r"(\w+)\[(-?\d+)\](?:\[(-?\d+)?:(-?\d+)?\])?")

# The usual templates for chunking: words and part-of-speech tags up to two tokens away, and adjacent ones combined.
CHUNKING = (
    *("w[-2]", "w[-1]", "w[0]", "w[1]", "w[2]", "w[-1]|w[0]", "w[0]|w[1]"),
    *("pos[-2]", "pos[-1]", "pos[0]", "pos[1]", "pos[2]"),
    *("pos[-2]|pos[-1]", "pos[-1]|pos[0]", "pos[0]|pos[1]", "pos[1]|pos[2]"),
    *("pos[-2]|pos[-1]|pos[0]", "pos[-1]|pos[0]|pos[1]", "pos[0]|pos[1]|pos[2]"),
)
# Templates for words without tags: the words up to two tokens away, and how the word itself begins and ends.
WORDS = (
    *(template for template in CHUNKING if "pos" not in template),
    *("w[0][:1]", "w[0][:2]", "w[0][:3]", "w[0][-1:]", "w[0][-2:]", "w[0][-3:]"),
)


class TokenFeatures(list[list[str]]):
    """The features of the tokens of a sentence. `WindowFeatures` returns them unchanged."""


@dataclass(frozen=True)
class WindowFeatures:
    """Window features for sequence tagging: feature names from templates over a token and its neighbors.

    The template "w[-1]|pos[0]" gives a token the feature "w[-1]|pos[0]=the|NOUN" if the word before it is "the" and its
    own tag is NOUN. A slice takes a part of a word: "w[0][-3:]" is its last three letters. A template that reaches
    beyond the sentence gives no feature; the first and the last token have the features "first" and "last".

    Use it for tokens that have columns, such as those of CoNLL files: pass it to :class:`onmargin.SequenceTagger` as
    ``window=``, or call it. Tokens that are already lists of feature names or dicts, as for CRFsuite, go to the tagger
    as they are.

    Parameters
    ----------
    columns : sequence of str, default=("w", "pos")
        Names of the columns of a token.
    templates : sequence of str or None, default=None
        Templates, each of one or several ``column[offset]`` or ``column[offset][start:stop]`` separated by "|". If
        None, they are ``CHUNKING`` if there is a column "pos", and otherwise ``WORDS``.

    Examples
    --------
    >>> from onmargin.features import WindowFeatures
    >>> features = WindowFeatures(columns=["w"], templates=["w[0]", "w[-1]|w[0]", "w[0][-2:]"])
    >>> features([("the",), ("dog",)])
    [['w[0]=the', 'w[0][-2:]=he', 'first'], ['w[0]=dog', 'w[-1]|w[0]=the|dog', 'w[0][-2:]=og', 'last']]
    """

    columns: Sequence[str] = ("w", "pos")
    templates: Sequence[str] | None = None

    def __post_init__(self) -> None:
        self._check_parameters()

    def _check_parameters(self) -> None:
        for name, value in self.get_params().items():
            listed = isinstance(value, tuple | list) and all(isinstance(part, str) for part in value)
            if not listed and (name, value) != ("templates", None):
                raise TypeError(f"{name} must be a tuple of strings; got {value!r:.80}")
        self._compile_templates()

    def _compile_templates(self) -> "_Templates":
        return _compile(tuple(self.columns), self.all_templates)

    @property
    def all_templates(self) -> tuple[str, ...]:
        """Return the templates, or the default ones for the columns.

        Returns
        -------
        templates : tuple of str
            The templates.
        """
        return tuple((CHUNKING if "pos" in self.columns else WORDS) if self.templates is None else self.templates)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Not used, present for compatibility with scikit-learn.

        Returns
        -------
        parameters : dict
            The parameters of the constructor.
        """
        return {"columns": self.columns, "templates": self.templates}

    def __call__(self, sentence: Iterable[Any]) -> list[list[str]]:
        """Return the features of every token.

        Parameters
        ----------
        sentence : sequence of tokens
            Tokens, each a sequence of its columns, in their order, or a dict of them; further columns are ignored. If
            there is one column, a token may also be a string.

        Returns
        -------
        features : list of lists of str
            The names of the features of each token, as :class:`onmargin.SequenceTagger` accepts them.
        """
        if isinstance(sentence, TokenFeatures):
            return sentence
        n, tokens = len(self.columns), []
        for i, token in enumerate(sentence):
            parts = map(token.get, self.columns) if isinstance(token, Mapping) else token
            fields = (token,) if isinstance(token, str) else tuple(parts)
            if len(fields) < n or not all(isinstance(field, str) for field in fields[:n]):
                raise ValueError(f"token {i} must have the columns {list(self.columns)}, got {token!r:.80}")
            tokens.append(fields)
        return TokenFeatures(self._compile_templates()(tokens))


class _Templates:
    """Templates for some columns, compiled."""

    def __init__(self, columns: tuple[str, ...], templates: tuple[str, ...]) -> None:
        self._columns = columns
        self._slices: list[tuple[int, slice]] = []  # further columns, each a slice of one with a name
        self._window = Window([(f"{template}=", self._parse(template)) for template in templates])

    def _parse(self, template: str) -> list[tuple[int, int]]:
        """Return the column and the offset of each part of a template."""
        parts = []
        for text in template.split("|"):
            match = _PART.fullmatch(text)
            if match is None or match[1] not in self._columns:
                raise ValueError(
                    f"a template is made of column[offset] or column[offset][start:stop], column one of "
                    f"{list(self._columns)}; got {text!r} in {template!r}"
                )
            column = self._columns.index(match[1])
            if text.count("[") == 2:
                start, stop = (None if end is None else int(end) for end in match.group(3, 4))
                column = self._slice_column(column, slice(start, stop))
            parts.append((column, int(match[2])))
        return parts

    def _slice_column(self, column: int, part: slice) -> int:
        """Return the index of the column with a part of each word."""
        if (column, part) not in self._slices:
            self._slices.append((column, part))
        return len(self._columns) + self._slices.index((column, part))

    def __call__(self, tokens: list[tuple[str, ...]]) -> list[list[str]]:
        n, slices = len(self._columns), self._slices
        if slices:
            tokens = [(*token[:n], *[token[k][part] for k, part in slices]) for token in tokens]
        return self._window.names(tokens)


_compile = cache(_Templates)
