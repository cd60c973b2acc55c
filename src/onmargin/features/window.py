"""Window features of tokens for sequence tagging."""

import re
from collections.abc import Sequence

from onmargin._core.text.token_window import Window

_PART = re.compile(r"(\w+)\[(-?\d+)\]")

# The usual templates for chunking: words and part-of-speech tags up to two tokens away, and adjacent ones combined.
CHUNKING = (
    *("w[-2]", "w[-1]", "w[0]", "w[1]", "w[2]", "w[-1]|w[0]", "w[0]|w[1]"),
    *("pos[-2]", "pos[-1]", "pos[0]", "pos[1]", "pos[2]"),
    *("pos[-2]|pos[-1]", "pos[-1]|pos[0]", "pos[0]|pos[1]", "pos[1]|pos[2]"),
    *("pos[-2]|pos[-1]|pos[0]", "pos[-1]|pos[0]|pos[1]", "pos[0]|pos[1]|pos[2]"),
)


class WindowFeatures:
    """Window features for sequence tagging: feature names from templates over a token and its neighbors.

    The template "w[-1]|pos[0]" gives a token the feature "w[-1]|pos[0]=the|NOUN" if the word before it is "the" and its
    own tag is NOUN. A template that reaches beyond the sentence gives no feature; the first and the last token have the
    features "first" and "last".

    Parameters
    ----------
    columns : sequence of str, default=("w", "pos")
        Names of the columns of a token.
    templates : sequence of str, default=CHUNKING
        Templates, each of one or several ``column[offset]`` separated by "|".

    Examples
    --------
    >>> from onmargin.features import WindowFeatures
    >>> features = WindowFeatures(columns=["w"], templates=["w[0]", "w[-1]|w[0]"])
    >>> features([("the",), ("dog",)])
    [['w[0]=the', 'first'], ['w[0]=dog', 'w[-1]|w[0]=the|dog', 'last']]
    """

    def __init__(self, columns: Sequence[str] = ("w", "pos"), templates: Sequence[str] = CHUNKING) -> None:
        self.columns = tuple(columns)
        self.templates = tuple(templates)
        self._window = Window([(f"{template}=", self._parse(template)) for template in self.templates])

    def _parse(self, template: str) -> list[tuple[int, int]]:
        """Return the column and the offset of each part of a template."""
        parts = []
        for text in template.split("|"):
            match = _PART.fullmatch(text)
            if match is None or match[1] not in self.columns:
                raise ValueError(
                    f"a template is made of column[offset], column one of {list(self.columns)}; got {text!r} in "
                    f"{template!r}"
                )
            parts.append((self.columns.index(match[1]), int(match[2])))
        return parts

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
        return self._window.names(list(map(tuple, sentence)))
