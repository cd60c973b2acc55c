"""Models of small structures, searched by enumeration, with features in every form."""

from itertools import pairwise, permutations, product
from math import sqrt

import numpy as np
from scipy import sparse


class Enumerated:
    """Base of models whose structures can be enumerated, each with a feature vector."""

    def candidates(self, x):
        raise NotImplementedError

    def vector(self, x, y):
        raise NotImplementedError

    def joint_features(self, x, y):
        return self.vector(x, y)

    def scores(self, weights, x):
        return [float(weights @ self.vector(x, z)) for z in self.candidates(x)]

    def argmax(self, weights, x):
        return self.candidates(x)[int(np.argmax(self.scores(weights, x)))]

    def cost_augmented_argmax(self, weights, x, y):
        augmented = [
            s + sqrt(self.cost(y, z)) for s, z in zip(self.scores(weights, x), self.candidates(x), strict=True)
        ]
        return self.candidates(x)[int(np.argmax(augmented))]

    def max_loss(self, weights, x, y):
        """Return the largest loss of fixed weights over all structures."""
        right = weights @ self.vector(x, y)
        scored = zip(self.scores(weights, x), self.candidates(x), strict=True)
        return max(score - right + sqrt(self.cost(y, z)) for score, z in scored)


class Classes(Enumerated):
    """Multiclass: x in the block of its class ([JMLR] sec. 8)."""

    def __init__(self, costs):
        self.costs = np.asarray(costs, dtype=float)

    def candidates(self, x):
        return range(len(self.costs))

    def vector(self, x, y):
        return np.kron(np.arange(len(self.costs)) == y, x).astype(float)

    def cost(self, y, z):
        return self.costs[y, z]


class Chains(Enumerated):
    """Sequences of labels with emissions and transitions, and the Hamming distance."""

    def __init__(self, labels=2):
        self.labels = labels

    def candidates(self, x):
        return list(product(range(self.labels), repeat=len(x)))

    def vector(self, x, y):
        emissions, transitions = np.zeros((self.labels, x.shape[1])), np.zeros((self.labels, self.labels))
        for row, label in zip(x, y, strict=True):
            emissions[label] += row
        for one, following in pairwise(y):
            transitions[one, following] += 1
        return np.concatenate([emissions.ravel(), transitions.ravel()])

    def cost(self, y, z):
        return sum(a != b for a, b in zip(y, z, strict=True))


class Matchings(Enumerated):
    """Left and right nodes matched one to one: x[i, j] are the features of a pair. Structures are arrays."""

    def candidates(self, x):
        return [np.array(order) for order in permutations(range(len(x)))]

    def vector(self, x, y):
        return x[np.arange(len(x)), y].sum(axis=0)

    def cost(self, y, z):
        return np.not_equal(y, z).mean()


class InForm:
    """A model of vectors with features in another form."""

    def __init__(self, model, form, width):
        self.model, self.form, self.n_features = model, form, width

    def joint_features(self, x, y):
        return FORMS[self.form](self.model.vector(x, y))

    def as_vector(self, weights):
        return np.array([weights[f"f{j}"] for j in range(self.n_features)]) if isinstance(weights, dict) else weights

    def argmax(self, weights, x):
        return self.model.argmax(self.as_vector(weights), x)

    def cost_augmented_argmax(self, weights, x, y):
        return self.model.cost_augmented_argmax(self.as_vector(weights), x, y)

    def cost(self, y, z):
        return self.model.cost(y, z)


def twice(vector):
    """Return unordered indices, each of them twice."""
    indices = np.flatnonzero(vector)[::-1]
    return np.concatenate([indices, indices]), np.concatenate([vector[indices] * 0.75, vector[indices] * 0.25])


FORMS = {
    "vector": lambda vector: vector,
    "list": lambda vector: vector.tolist(),
    "row": lambda vector: vector[None],
    "csr": lambda vector: sparse.csr_matrix(vector[None]),
    "coo": lambda vector: sparse.coo_array(vector[None]),
    "pair": lambda vector: (np.flatnonzero(vector), vector[vector != 0]),
    "pair of lists": lambda vector: (np.flatnonzero(vector).tolist(), vector[vector != 0].tolist()),
    "indices twice": twice,
    "dict": lambda vector: {f"f{j}": value for j, value in enumerate(vector) if value},
}


def stream(kind, n=40, seed=0, noise=0.3):
    """Return a model, inputs, structures preferred by some weights, with noise, and the number of features."""
    random = np.random.default_rng(seed)
    if kind == "classes":
        model = Classes(np.abs(np.subtract.outer(np.arange(4), np.arange(4))))
        X = list(random.standard_normal((n, 3)))
    elif kind == "chains":
        model = Chains()
        X = [random.standard_normal((random.integers(1, 5), 2)) for _ in range(n)]
    else:
        model = Matchings()
        X = [random.standard_normal((3, 3, 4)) for _ in range(n)]
    width = len(model.vector(X[0], model.candidates(X[0])[0]))
    u = random.standard_normal(width)
    Y = [model.argmax(u + noise * random.standard_normal(width), x) for x in X]
    return model, X, Y, width


KINDS = ["classes", "chains", "matchings"]
