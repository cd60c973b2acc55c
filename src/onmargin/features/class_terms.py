"""Class-dependent text features: terms that are frequent or rare in the messages of a class so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from onmargin._checks import check_classes, check_labels, check_sparse
from onmargin.features._transactional import Transactional
from onmargin.models.label_sets import LabelSets, are_label_sets, one_each, read_label_sets
from onmargin.models.labels import check_sorted

# Anything that scikit-learn's validation accepts: arrays, data frames, sparse matrices, lists of lists.
MatrixLike = Any
Codes = NDArray[np.intp]


class ClassTermFeatures(Transactional):
    r"""Class-dependent text features: which words of a message are frequent or rare in each class so far.

    For a message x, a class r and a word j, let :math:`n_r` be the number of messages of class r so far and
    :math:`c_{jr}` the number of them that contain the word. The feature is

    .. math:: \phi_j(x, r) = \begin{cases} 2 & \text{if } j \in x \text{ and } c_{jr} \ge n_r / 5 \\
        -1 & \text{if } j \in x \text{ and } c_{jr} < n_r / 50 \\ 0 & \text{otherwise} \end{cases}

    With ``kind="multiplicative"`` it is 1 in the first case and 0 otherwise. With ``kind="tfidf"`` it is

    .. math:: \phi_j(x, r) = \mathrm{tf}_j(x)\, \ln \frac{m}{\mathrm{df}_{jr}},

    with :math:`\mathrm{tf}_j(x)` the count of the word in the message, m the number of messages so far and
    :math:`\mathrm{df}_{jr}` the number of them that contain the word and are not of class r. It grows with the count,
    and is smaller for words that are frequent in other classes. One weight per word is then shared by all classes,
    including future ones: it measures how much it matters that a word is usual, or unusual, for a class.

    Use it for text whose classes come and go, such as mail folders, with a learner over :math:`\phi(x, r)`. For few
    classes with many messages each, one prototype per class over plain word counts may work as well.

    Parameters
    ----------
    kind : {"additive", "multiplicative", "tfidf"}, default="additive"
        Values of the features. "multiplicative" and "tfidf" are never negative, as multiplicative updates require.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_counts_ : ndarray of shape (n_classes,)
        Number of messages of each class so far.
    document_counts_ : ndarray of shape (n_features, n_classes)
        Number of messages of each class that contain each word; a copy.
    n_features_in_ : int
        Number of words.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the words, if the data had names.

    See Also
    --------
    sklearn.feature_extraction.text.CountVectorizer : Term matrix for a fixed vocabulary.
    sklearn.feature_extraction.text.HashingVectorizer : Term matrix for a growing vocabulary.

    Notes
    -----
    These are the features of the email experiment of [SIMPROJ] (Tables 1-3); "tfidf" are those of [JMLR] sec. 7.
    [SIMPROJ] leaves two choices open. The 2% refer here to the messages of the class, as does the fifth. A class
    without messages has only zeros. Shares are compared as integers, so they are exact. In "tfidf" a
    :math:`\mathrm{df}_{jr}` of 0 is replaced by 1, and before the first message all features are 0.

    A word is in a message where X is not zero. Its count matters only for "tfidf".

    The cost of a message is O(words of the message times classes), for any vocabulary. The counts take 4 bytes per word
    and class, with the number of classes rounded up to a power of two; while the table doubles, the old counts are kept
    as well. The features are seldom zero, since most words are rare in most classes: they take about 13 bytes per word
    of a message and class, so split a long stream into several calls. Calls with a single message spend most of their
    time on validation.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.

    [SIMPROJ] Y. Amit, S. Shalev-Shwartz, Y. Singer, *Online Learning of Complex Prediction Problems Using Simultaneous
    Projections*, JMLR 9:1399-1435, 2008.

    Examples
    --------
    >>> from onmargin.features import ClassTermFeatures
    >>> X = [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
    >>> terms = ClassTermFeatures()
    >>> Phi, ends, codes = terms.learn_transform(X, ["work", "work", "home"])
    >>> Phi[ends[2] : ends[3]].toarray()  # the third message: nothing is known of "home", and its words of "work"
    array([[0., 0., 0.],
           [0., 2., 2.]])
    >>> terms.transform([[1, 0, 1]]).toarray()
    array([[-1.,  0.,  2.],
           [ 2.,  0.,  2.]])
    """

    # Values of frequent and rare words. None: products of term and inverse document frequencies.
    _kinds: ClassVar[dict[str, tuple[int, int] | None]] = {
        "additive": (2, -1),
        "multiplicative": (1, 0),
        "tfidf": None,
    }
    _no_messages: ClassVar[str] = "no messages have been counted yet: call partial_fit or learn_transform first"

    classes_: NDArray[Any]
    class_counts_: NDArray[np.int64]
    n_features_in_: int
    _columns: Codes  # column of each class in the table
    _table: NDArray[np.int32]  # words x room for classes; zero in columns that no class has yet
    _messages: int  # messages so far; fewer than the sum over the classes if some had several labels
    _word_counts: NDArray[np.int32]  # messages that contain each word

    def __init__(self, *, kind: str = "additive") -> None:
        self.kind = kind

    def partial_fit(self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Update the counts with messages.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_messages, n_features)
            Messages; a word is in a message where X is not zero.
        y : array-like of shape (n_messages,), or list of label sets
            The class or classes of each message. New classes may appear at any time.
        classes : array-like of shape (n_classes,), default=None
            Labels to include from the start.

        Returns
        -------
        self : object
            The updated transformer.
        """
        with self._transaction():
            terms, sets, known = self._check_input(X, y, classes)
            self._add_labels(known)
            self._add_labels(sets.labels)
            codes, owners = np.searchsorted(self.classes_, sets.labels), sets.owners()
            counts = self.class_counts_ + np.bincount(codes, minlength=len(self.classes_))
            words = terms[owners]
            columns = np.repeat(self._columns[codes], np.diff(words.indptr))
            held = self._word_counts + np.bincount(terms.indices, minlength=terms.shape[1]).astype(np.int32)
            np.add.at(self._table, (words.indices, columns), np.int32(1))
            self.class_counts_, self._word_counts = counts, held
            self._messages += terms.shape[0]
        return self

    def transform(self, X: MatrixLike) -> sparse.csr_matrix:
        """Return the features of messages for every class, from the messages counted so far.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_messages, n_features)
            Messages; a word is in a message where X is not zero.

        Returns
        -------
        Phi : csr_matrix of shape (n_messages * n_classes, n_features)
            One row per message and class. The rows of a message are consecutive, in the order of ``classes_``.
        """
        self._check_parameters()
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(self._no_messages)
        terms = _as_terms(validate_data(self, check_sparse(X), reset=False, accept_sparse="csr", dtype="numeric"))
        n = terms.shape[0]
        nobody = LabelSets(self.classes_[:0], np.zeros(n + 1, np.intp))
        return self._walk(terms, nobody, np.zeros(n, bool), np.full(len(self.classes_), -1))[0]

    def learn_transform(
        self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None, live: ArrayLike | None = None
    ) -> tuple[sparse.csr_matrix, Codes, Codes]:
        """Return the features of each message from the messages before it, then count it (progressive use).

        A message has one row for each class seen before it and for its own, in sorted order. How a stream is divided
        into calls makes no difference.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_messages, n_features)
            Messages; a word is in a message where X is not zero.
        y : array-like of shape (n_messages,), or list of label sets
            The class or classes of each message. New classes may appear at any time.
        classes : array-like of shape (n_classes,), default=None
            Labels that have rows from the first message on.
        live : array-like of bool of shape (n_messages,), default=None
            Which messages to count. If None, all of them. The label of a message that is not counted does not add a
            class: the message has rows only for the classes seen so far, and none if there are none.

        Returns
        -------
        Phi : csr_matrix of shape (n_rows, n_features)
            The rows of all messages.
        ends : ndarray of shape (n_messages + 1,)
            Message i has the rows ``ends[i]`` to ``ends[i + 1]``.
        codes : ndarray of shape (n_messages,), or of the number of labels of all messages
            Index of the row of the message's own class among its rows; 0 if the message is not counted. For label sets,
            the indices of all classes of each message in ascending order, concatenated.
        """
        with self._transaction():
            terms, sets, known = self._check_input(X, y, classes)
            mask = _check_live(live, len(sets))
            self._add_labels(known)
            before = self.classes_
            alive, owners = mask[sets.owners()], sets.owners()
            self._add_labels(sets.labels[alive])
            met = np.full(len(self.classes_), len(sets))
            np.minimum.at(met, np.searchsorted(self.classes_, sets.labels[alive]), owners[alive])
            met[np.searchsorted(self.classes_, before)] = -1
            return self._walk(terms, sets, mask, met)

    def widen(self, n_features: int) -> None:
        """Make room for more words, which are in no message so far.

        Parameters
        ----------
        n_features : int
            The new number of words, at least the current one.
        """
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(self._no_messages)
        more = n_features - self.n_features_in_
        if more < 0:
            raise ValueError(f"n_features must be at least {self.n_features_in_}; got {n_features}")
        table, counts = np.pad(self._table, ((0, more), (0, 0))), np.pad(self._word_counts, (0, more))
        self._table, self._word_counts, self.n_features_in_ = table, counts, n_features

    def undoing(self, X: MatrixLike) -> Callable[[], None]:
        """Return a function that undoes a following `learn_transform` of these messages.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_messages, n_features)
            The messages.

        Returns
        -------
        undo : callable
            Restores the counts of the words in the messages.
        """
        before = dict(vars(self))
        table = before.get("_table")
        words = np.unique(_as_terms(X).indices)
        words = words[: 0 if table is None else np.searchsorted(words, len(table))]
        return partial(self._put_back, before, words, None if table is None else table[words])

    def _put_back(self, before: dict[str, Any], words: Codes, counts: NDArray[np.int32] | None) -> None:
        """Restore attributes, and the counts of some words."""
        self.__dict__ = before
        if counts is not None:
            self._table[words] = counts

    @property
    def document_counts_(self) -> NDArray[np.int32]:
        """Number of messages of each class that contain each word, one column per class."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(self._no_messages)
        return self._table[:, self._columns]

    def _walk(
        self, terms: sparse.csr_matrix, sets: LabelSets, live: NDArray[np.bool_], met: Codes
    ) -> tuple[sparse.csr_matrix, Codes, Codes]:
        """Return the features of each message, and count it if it is live; class r has rows from message met[r] on.

        The counts are updated on a copy of the rows of the words that occur, and stored once nothing can fail any more.
        """
        order, n_classes = self._columns, len(self.classes_)
        touched, places = np.unique(terms.indices, return_inverse=True)
        counted = _Counted(
            self._table[touched, :n_classes],
            self.class_counts_.copy(),
            self._word_counts[touched],
            self._messages,
            order,
        )
        values = self._kinds[self.kind]
        known = met < 0
        newcomers = set(met.tolist())
        codes = sets.codes(self.classes_).astype(np.intp)
        blocks, own = [], np.zeros(len(codes), np.intp)
        for i, (start, stop) in enumerate(pairwise(terms.indptr.tolist())):
            if i in newcomers:
                known = met <= i
            words = places[start:stop]
            phi = counted.tfidf(words, terms.data[start:stop]) if values is None else counted.shares(words, *values)
            blocks.append(phi.T.take(order[known], axis=0))
            if live[i]:
                first, last = sets.offsets[i : i + 2]
                rows = np.cumsum(known) - 1  # row of each known class
                own[first:last] = rows[codes[first:last]]
                counted.add(words, codes[first:last])
        Phi, ends = _pack_blocks(blocks, terms), np.cumsum([0, *map(len, blocks)], dtype=np.intp)
        if live.any():
            self._table[touched, :n_classes] = counted.held
            word_counts = self._word_counts.copy()
            word_counts[touched] = counted.word_counts
            self.class_counts_, self._word_counts, self._messages = counted.classes, word_counts, counted.messages
        return Phi, ends, own

    def _add_labels(self, labels: NDArray[Any]) -> None:
        """Make room for labels not seen before."""
        known = self.classes_
        if len(known):
            labels = labels[known[np.minimum(np.searchsorted(known, labels), len(known) - 1)] != labels]
        if not len(labels):
            return
        new = np.unique(labels)
        joined = np.concatenate([known, new]) if len(known) else new
        order = np.argsort(joined)
        if len(joined) > self._table.shape[1]:
            room = 1 << (len(joined) - 1).bit_length()
            table = np.zeros((self.n_features_in_, room), np.int32)
            table[:, : self._table.shape[1]] = self._table
            self._table = table
        self.classes_ = joined[order]
        self.class_counts_ = np.append(self.class_counts_, np.zeros(len(new), np.int64))[order]
        self._columns = np.append(self._columns, np.arange(len(known), len(joined)))[order]

    def _check_input(self, X: Any, y: Any, classes: Any) -> tuple[sparse.csr_matrix, LabelSets, NDArray[Any]]:
        """Validate and return terms, labels and classes; initialize the transformer on the first call."""
        first = not self.__sklearn_is_fitted__()
        if are_label_sets(y):
            X = validate_data(self, check_sparse(X), reset=first, accept_sparse="csr", dtype="numeric")
            sets = read_label_sets(y, X.shape[0])
        else:
            X, y = validate_data(self, check_sparse(X), y, reset=first, accept_sparse="csr", dtype="numeric")
            sets = one_each(y)
        known = sets.labels[:0] if classes is None else check_classes(classes)
        if sets.width is not None:
            known = np.union1d(known, np.arange(sets.width))
        check_labels(sets.labels, known, *([] if first else [self.classes_]))
        if first:
            self.classes_, self.class_counts_ = sets.labels[:0], np.zeros(0, np.int64)
            self._columns, self._table = np.zeros(0, np.intp), np.zeros((self.n_features_in_, 0), np.int32)
            self._messages, self._word_counts = 0, np.zeros(self.n_features_in_, np.int32)
        return _as_terms(X), sets, known

    def _check_parameters(self) -> None:
        if not (isinstance(self.kind, str) and self.kind in self._kinds):
            accepted = " or ".join(map(repr, self._kinds))
            name = type(self).__name__
            raise ValueError(f"kind must be {accepted}; got {self.kind!r}. Set it with {name}.set_params(kind=...).")

    def _check_learned(self) -> None:
        if not self.__sklearn_is_fitted__():
            return
        n, table, counts = len(check_sorted(self.classes_)), self._table, self.class_counts_
        sound = (
            table.dtype == np.int32 and table.ndim == 2 and len(table) == self.n_features_in_ and table.shape[1] >= n
        )
        if not sound or counts.shape != (n,) or counts.dtype != np.int64 or (counts < 0).any():
            raise ValueError(f"the counts of {n} classes have shapes {table.shape} and {counts.shape}")
        if self._columns.dtype != np.intp or sorted(self._columns.tolist()) != list(range(n)):
            raise ValueError(f"each of {n} classes must have a column; got {self._columns!r:.200}")
        if "_messages" not in vars(self):  # a file from before label sets, when each message had one label
            self._messages, self._word_counts = int(counts.sum()), table.sum(axis=1, dtype=np.int32)
        totals = self._word_counts
        if totals.shape != (len(table),) or totals.dtype != np.int32 or not isinstance(self._messages, int):
            raise ValueError(f"the counts of {len(table)} words have shape {totals.shape}")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_table")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


@dataclass
class _Counted:
    """Counts of the words that occur, from which features are computed."""

    held: NDArray[np.int32]  # words x columns: messages of each class that contain a word
    classes: NDArray[np.int64]  # messages of each class
    word_counts: NDArray[np.int32]  # messages that contain a word
    messages: int
    order: Codes  # the column of each class

    def __post_init__(self) -> None:
        self.least = np.zeros((2, len(self.order)), np.int32)  # minimum counts of frequent and not rare words by column
        self.least[:, self.order] = _thresholds(self.classes)

    def shares(self, words: Codes, frequent: int, rare: int) -> NDArray[np.int8]:
        """Return the values of words by whether they are frequent or rare in each class, words by columns."""
        c = self.held.take(words, axis=0)
        usual, unusual = (c >= self.least[0]).view(np.int8), (c < self.least[1]).view(np.int8)
        return np.asarray(np.int8(frequent) * usual + np.int8(rare) * unusual)

    def tfidf(self, words: Codes, counts: NDArray[Any]) -> NDArray[np.float64]:
        """Return the counts of words times the logarithm of m / df, words by columns."""
        c = self.held.take(words, axis=0)
        if self.messages == 0:
            return np.zeros(c.shape)
        elsewhere = np.maximum(self.word_counts[words][:, None] - c, 1)
        return np.asarray(counts[:, None] * np.log(self.messages / elsewhere))

    def add(self, words: Codes, codes: Codes) -> None:
        """Count a message with these words and classes."""
        columns = self.order[codes]
        self.held[words[:, None], columns] += 1
        self.classes[codes] += 1
        self.word_counts[words] += 1
        self.messages += 1
        self.least[:, columns] = _thresholds(self.classes[codes])


def _thresholds(n_messages: Any) -> NDArray[np.int64]:
    """Return the minimum counts for a word to be frequent in a class, and not to be rare.

    5 c >= n is c >= ceil(n / 5), and 50 c < n is c < ceil(n / 50): this is exact and cannot overflow. In a class
    without messages no word is frequent or rare.
    """
    return np.array([np.maximum(-(-n_messages // 5), 1), -(-n_messages // 50)])


def _pack_blocks(blocks: list[NDArray[Any]], terms: sparse.csr_matrix) -> sparse.csr_matrix:
    """Combine the blocks of all messages, each over the words of its message, into one matrix over all words."""
    ends = np.cumsum([0, *map(np.count_nonzero, blocks)])
    data, indices = np.empty(ends[-1]), np.empty(ends[-1], terms.indices.dtype)
    starts = [np.zeros(1, np.intp)]
    messages = zip(blocks, pairwise(terms.indptr.tolist()), pairwise(ends.tolist()), strict=True)
    for block, (first, last), (start, stop) in messages:
        places = np.flatnonzero(block.astype(bool))
        words = np.empty(block.shape, indices.dtype)
        words[:] = terms.indices[first:last]
        data[start:stop] = block.take(places)
        indices[start:stop] = words.take(places)
        starts.append(start + np.searchsorted(places, np.arange(1, len(block) + 1) * (last - first)))
    indptr = np.concatenate(starts)
    Phi = sparse.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, terms.shape[1]))
    Phi.has_canonical_format = True  # the words of a message are sorted
    return Phi


def _as_terms(X: Any) -> sparse.csr_matrix:
    """Return a CSR matrix with sorted indices and without explicit zeros; X is not modified."""
    terms = sparse.csr_matrix(X)
    if not (terms.has_canonical_format and terms.data.all()):
        terms = terms.copy()
        terms.sum_duplicates()
        terms.eliminate_zeros()
    return terms


def _check_live(live: Any, n_messages: int) -> NDArray[np.bool_]:
    """Return one flag per message."""
    if live is None:
        return np.ones(n_messages, bool)
    mask = np.asarray(live)
    if mask.dtype != bool or mask.shape != (n_messages,):
        raise ValueError(
            f"live must be a boolean mask of shape ({n_messages},), one flag per message; got {mask.dtype} of shape "
            f"{mask.shape}"
        )
    return mask
