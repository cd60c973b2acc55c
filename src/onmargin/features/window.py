"""Window features of tokens for sequence tagging."""

import re
from collections.abc import Sequence

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


class WindowFeatures:
    """Window features for sequence tagging: feature names from templates over a token and its neighbors.

    The template "w[-1]|pos[0]" gives a token the feature "w[-1]|pos[0]=the|NOUN" if the word before it is "the" and its
    own tag is NOUN. A slice takes a part of a word: "w[0][-3:]" is its last three letters. A template that reaches
    beyond the sentence gives no feature; the first and the last token have the features "first" and "last".

    Use it for tokens that have columns, such as those of CoNLL files. Tokens that are already lists of feature names or
    dicts, as for CRFsuite, go to :class:`onmargin.SequenceTagger` as they are.

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

    def __init__(self, columns: Sequence[str] = ("w", "pos"), templates: Sequence[str] | None = None) -> None:
        self.columns = tuple(columns)
        self.templates = tuple((CHUNKING if "pos" in columns else WORDS) if templates is None else templates)
        self._slices: list[tuple[int, slice]] = []  # further columns, each a slice of one with a name
        self._window = Window([(f"{template}=", self._parse(template)) for template in self.templates])

    def _parse(self, template: str) -> list[tuple[int, int]]:
        """Return the column and the offset of each part of a template."""
        parts = []
        for text in template.split("|"):
            match = _PART.fullmatch(text)
            if match is None or match[1] not in self.columns:
                raise ValueError(
                    f"a template is made of column[offset] or column[offset][start:stop], column one of "
                    f"{list(self.columns)}; got {text!r} in {template!r}"
                )
            column = self.columns.index(match[1])
            if text.count("[") == 2:
                start, stop = (None if end is None else int(end) for end in match.group(3, 4))
                column = self._slice_column(column, slice(start, stop))
            parts.append((column, int(match[2])))
        return parts

    def _slice_column(self, column: int, part: slice) -> int:
        """Return the index of the column with a part of each word."""
        if (column, part) not in self._slices:
            self._slices.append((column, part))
        return len(self.columns) + self._slices.index((column, part))

    def __call__(self, sentence: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the features of every token.

        Parameters
        ----------
        sentence : sequence of sequences of str
            Tokens, each with its columns; columns without a name are ignored.

        Returns
        -------
        features : list of lists of str
            The names of the features of each token, as :class:`onmargin.SequenceTagger` accepts them.
        """
        for i, token in enumerate(sentence):
            if isinstance(token, str) or len(token) < len(self.columns):
                raise ValueError(f"token {i} must have the columns {list(self.columns)}, got {token!r}")
        n, slices = len(self.columns), self._slices
        if not slices:
            return self._window.names(list(map(tuple, sentence)))
        return self._window.names([(*token[:n], *[token[k][part] for k, part in slices]) for token in sentence])
