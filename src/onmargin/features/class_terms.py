"""Terms that are frequent or rare in the messages of a class so far: features that depend on the class."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from onmargin._checks import check_classes, check_labels, check_sparse
from onmargin.features._whole import Whole
from onmargin.models.columns import check_known

# What scikit-learn's validation takes: arrays, frames, sparse matrices, lists of lists.
MatrixLike = Any
Codes = NDArray[np.intp]


class ClassTermFeatures(Whole):
    r"""Features of a message for each class: which of its words are frequent in that class so far, and which are rare.

    For a message x, a class r and a word j let :math:`n_r` be the messages so far of class r and :math:`c_{jr}` those
    of them that hold the word. The feature is

    .. math:: \phi_j(x, r) = \begin{cases} 2 & \text{if } j \in x \text{ and } c_{jr} \ge n_r / 5 \\
        -1 & \text{if } j \in x \text{ and } c_{jr} < n_r / 50 \\ 0 & \text{otherwise} \end{cases}

    ("multiplicative": 1 in the first case and 0 otherwise). One weight a word then serves all classes, those to come
    among them: how much it matters that a word is usual, or unusual, for a class.

    Use it for text whose classes come and go, such as folders of mail, with a learner over :math:`\phi(x, r)`. Where
    classes are few and have many messages each, one prototype a class over plain word counts may do as well.

    Parameters
    ----------
    kind : {"additive", "multiplicative"}, default="additive"
        Values of the features. "multiplicative" are never negative, as multiplicative updates need them.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_counts_ : ndarray of shape (n_classes,)
        Messages of each class so far.
    document_counts_ : ndarray of shape (n_features, n_classes)
        In how many messages of each class a word has been; a copy.
    n_features_in_ : int
        Number of words.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the words, if the data had names.

    See Also
    --------
    sklearn.feature_extraction.text.CountVectorizer : Makes the term matrix of a fixed vocabulary.
    sklearn.feature_extraction.text.HashingVectorizer : Makes it for a vocabulary that grows.

    Notes
    -----
    The features of the e-mail experiment of [SIMPROJ] (Tables 1-3). The paper leaves two things open. It does not say
    whose messages the 2% are of: here those of the class, as for the fifth. It does not say what a class without
    messages has: here zeros only. Shares are compared as integers, so they are exact.

    A word is in a message where X is not zero; how often makes no difference.

    A message costs O(its words times classes), whatever the vocabulary. The counts take 4 bytes a word and class, with
    room for as many classes as the next power of two; while the room doubles, the old counts are held as well. The
    features are seldom zero, since most words are rare in most classes: count on 13 bytes for each word of a message
    and class, and cut a long stream into several calls. Calls of one message each spend most time on checking it.

    References
    ----------
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

    _kinds: ClassVar[dict[str, tuple[int, int]]] = {"additive": (2, -1), "multiplicative": (1, 0)}  # frequent, rare
    _no_messages: ClassVar[str] = "no messages have been counted yet: call partial_fit or learn_transform first"

    classes_: NDArray[Any]
    class_counts_: NDArray[np.int64]
    n_features_in_: int
    _columns: Codes  # of each class in the table
    _table: NDArray[np.int32]  # words x room for classes; zero in columns that no class has yet

    def __init__(self, *, kind: str = "additive") -> None:
        self.kind = kind

    def partial_fit(self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Count these messages.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_messages, n_features)
            Messages; a word is in a message where X is not zero.
        y : array-like of shape (n_messages,)
            Their classes; ones not seen before may come at any time.
        classes : array-like of shape (n_classes,), default=None
            Labels to count with from the start.

        Returns
        -------
        self : object
            The transformer, having counted.
        """
        with self._all_or_nothing():
            terms, labels, known = self._checked(X, y, classes)
            self._meet(known)
            self._meet(labels)
            codes = np.searchsorted(self.classes_, labels)
            counts = self.class_counts_ + np.bincount(codes, minlength=len(self.classes_))
            columns = np.repeat(self._columns[codes], np.diff(terms.indptr))
            np.add.at(self._table, (terms.indices, columns), np.int32(1))
            self.class_counts_ = counts
        return self

    def transform(self, X: MatrixLike) -> sparse.csr_matrix:
        """Features of messages for every class, from the messages counted so far.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_messages, n_features)
            Messages; a word is in a message where X is not zero.

        Returns
        -------
        Phi : csr_matrix of shape (n_messages * n_classes, n_features)
            One row a message and class; those of a message stand together, in the order of ``classes_``.
        """
        self._check_parameters()
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(self._no_messages)
        terms = _as_terms(validate_data(self, check_sparse(X), reset=False, accept_sparse="csr", dtype="numeric"))
        codes = np.zeros(terms.shape[0], np.intp)
        return self._walk(terms, codes, codes > 0, np.full(len(self.classes_), -1))[0]

    def learn_transform(
        self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None, live: ArrayLike | None = None
    ) -> tuple[sparse.csr_matrix, Codes, Codes]:
        """Features of each message from those before it, and then it is counted: the progressive use.

        A message has one row for each class known before it and for its own, in sorted order. How a stream is cut into
        calls makes no difference.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_messages, n_features)
            Messages; a word is in a message where X is not zero.
        y : array-like of shape (n_messages,)
            Their classes; ones not seen before may come at any time.
        classes : array-like of shape (n_classes,), default=None
            Labels that have rows from the first message on.
        live : array-like of bool of shape (n_messages,), default=None
            Which messages are counted; all by default. Of one that is not, the label makes no class: it has rows for
            the classes known so far, none if there are none.

        Returns
        -------
        Phi : csr_matrix of shape (n_rows, n_features)
            The rows of all messages.
        ends : ndarray of shape (n_messages + 1,)
            Message i has the rows from ``ends[i]`` to ``ends[i + 1]``.
        codes : ndarray of shape (n_messages,)
            Which of its rows is that of the message's own class; 0 if it is not live.
        """
        with self._all_or_nothing():
            terms, labels, known = self._checked(X, y, classes)
            mask = _check_live(live, len(labels))
            self._meet(known)
            before = self.classes_
            self._meet(labels[mask])
            codes = np.where(mask, np.searchsorted(self.classes_, labels), 0)
            met = np.full(len(self.classes_), len(labels))
            np.minimum.at(met, codes[mask], np.flatnonzero(mask))
            met[np.searchsorted(self.classes_, before)] = -1
            return self._walk(terms, codes, mask, met)

    @property
    def document_counts_(self) -> NDArray[np.int32]:
        """In how many messages of each class a word has been, one column a class."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(self._no_messages)
        return self._table[:, self._columns]

    def _walk(
        self, terms: sparse.csr_matrix, codes: Codes, live: NDArray[np.bool_], met: Codes
    ) -> tuple[sparse.csr_matrix, Codes, Codes]:
        """Features of each message, which is then counted if it is live; class r has rows from message met[r] on.

        All is counted on a copy, of the rows of the words that occur, until nothing can fail any more.
        """
        frequent, rare = map(np.int8, self._kinds[self.kind])
        order, n_classes = self._columns, len(self.classes_)
        touched, places = np.unique(terms.indices, return_inverse=True)
        held, counts = self._table[touched, :n_classes], self.class_counts_.copy()
        least = np.zeros((2, n_classes), np.int32)  # that make a word frequent, or not rare, in column order
        least[:, order] = _thresholds(counts)
        known = met < 0
        newcomers = set(met.tolist())
        blocks, own = [], np.zeros(len(codes), np.intp)
        for i, (start, stop) in enumerate(pairwise(terms.indptr.tolist())):
            if i in newcomers:
                known = met <= i
            words = places[start:stop]
            c = held.take(words, axis=0)
            phi = frequent * (c >= least[0]).view(np.int8) + rare * (c < least[1]).view(np.int8)
            blocks.append(phi.T.take(order[known], axis=0))
            if live[i]:
                code = codes[i]
                own[i] = np.count_nonzero(known[:code])
                held[words, order[code]] += 1
                counts[code] += 1
                least[:, order[code]] = _thresholds(counts[code])
        Phi, ends = _packed(blocks, terms), np.cumsum([0, *map(len, blocks)], dtype=np.intp)
        if live.any():
            self._table[touched, :n_classes] = held
            self.class_counts_ = counts
        return Phi, ends, own

    def _meet(self, labels: NDArray[Any]) -> None:
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

    def _checked(self, X: Any, y: Any, classes: Any) -> tuple[sparse.csr_matrix, NDArray[Any], NDArray[Any]]:
        """Terms, labels and the classes given, after all that can be wrong with them; begins if nothing has."""
        first = not self.__sklearn_is_fitted__()
        X, y = validate_data(self, check_sparse(X), y, reset=first, accept_sparse="csr", dtype="numeric")
        known = y[:0] if classes is None else check_classes(classes)
        check_labels(y, known, *([] if first else [self.classes_]))
        if first:
            self.classes_, self.class_counts_ = y[:0], np.zeros(0, np.int64)
            self._columns, self._table = np.zeros(0, np.intp), np.zeros((self.n_features_in_, 0), np.int32)
        return _as_terms(X), y, known

    def _check_parameters(self) -> None:
        if not (isinstance(self.kind, str) and self.kind in self._kinds):
            accepted = " or ".join(map(repr, self._kinds))
            name = type(self).__name__
            raise ValueError(f"kind must be {accepted}; got {self.kind!r}. Set it with {name}.set_params(kind=...).")

    def _check_learned(self) -> None:
        if not self.__sklearn_is_fitted__():
            return
        n, table, counts = len(check_known(self.classes_)), self._table, self.class_counts_
        sound = (
            table.dtype == np.int32 and table.ndim == 2 and len(table) == self.n_features_in_ and table.shape[1] >= n
        )
        if not sound or counts.shape != (n,) or counts.dtype != np.int64 or (counts < 0).any():
            raise ValueError(f"the counts of {n} classes have shapes {table.shape} and {counts.shape}")
        if self._columns.dtype != np.intp or sorted(self._columns.tolist()) != list(range(n)):
            raise ValueError(f"each of {n} classes must have a column; got {self._columns!r:.200}")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_table")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _thresholds(n_messages: Any) -> NDArray[np.int64]:
    """In how many messages of a class a word must be to be frequent there, and not to be rare.

    5 c >= n is c >= ceil(n / 5), and 50 c < n is c < ceil(n / 50): exact, and nothing can overflow. Of a class without
    messages no word is either.
    """
    return np.array([np.maximum(-(-n_messages // 5), 1), -(-n_messages // 50)])


def _packed(blocks: list[NDArray[np.int8]], terms: sparse.csr_matrix) -> sparse.csr_matrix:
    """The blocks of all messages, each over the words of its message, as one matrix over all words."""
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
    """CSR with sorted indices whose entries are the words that occur; X stays as it is."""
    terms = sparse.csr_matrix(X if sparse.issparse(X) else X != 0)
    if not (terms.has_canonical_format and terms.data.all()):
        terms = terms.copy()
        terms.sum_duplicates()
        terms.eliminate_zeros()
    return terms


def _check_live(live: Any, n_messages: int) -> NDArray[np.bool_]:
    """One flag a message."""
    if live is None:
        return np.ones(n_messages, bool)
    mask = np.asarray(live)
    if mask.dtype != bool or mask.shape != (n_messages,):
        raise ValueError(
            f"live must be a boolean mask of shape ({n_messages},), one flag a message; got {mask.dtype} of shape "
            f"{mask.shape}"
        )
    return mask
