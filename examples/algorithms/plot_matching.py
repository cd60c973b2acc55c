r"""
Ten digits, each once: a matching
=================================

Someone has written the ten digits in any order, each of them once. A classifier that reads one image at a time cannot
use this fact. The prediction is a matching of ten images to ten digits, and
:func:`scipy.optimize.linear_sum_assignment` finds the best one. :class:`onmargin.StructuredPredictor` learns one weight
per pixel and digit through that search: weights are updated only if the matching as a whole has a loss.

The cost of a matching is the *square* of the number of images that it gets wrong. Its root is that number, which is a
sum over images. So the search for the worst rival, which ``update="max_loss"`` needs, is a matching problem, too.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_digits

from onmargin import PassiveAggressiveClassifier, StructuredPredictor


class Matching:
    """A matching of images to digits: images are the rows of x, and y[i] is the digit of image i."""

    def joint_features(self, x, y):
        blocks = np.zeros((10, x.shape[1]))
        blocks[y] = x
        return blocks.ravel()

    def scores(self, weights, x):
        return x @ weights.reshape(10, -1).T

    def argmax(self, weights, x):
        return linear_sum_assignment(self.scores(weights, x), maximize=True)[1]

    def cost(self, y, z):
        return np.count_nonzero(y != z) ** 2

    def cost_augmented_argmax(self, weights, x, y):
        wrong = np.arange(10) != y[:, None]
        return linear_sum_assignment(self.scores(weights, x) + wrong, maximize=True)[1]


# %%
# There are 170 lists of ten images. Noise is added to the pixels to make the task harder.

images, digits = load_digits(return_X_y=True)
random = np.random.default_rng(0)
images = images / 16 + random.normal(scale=0.35, size=images.shape)
images /= np.linalg.norm(images, axis=1, keepdims=True)
of_digit = [random.permutation(np.flatnonzero(digits == digit))[:170] for digit in range(10)]
X, Y = [], []
for ten in np.transpose(of_digit):
    order = random.permutation(10)
    X.append(images[ten[order]])
    Y.append(order)

# %%
# Every list but the first is predicted, then learned. The classifier learns the same images one by one. Matching on its
# scores brings most of the gain; learning through the matching, with a margin, brings the rest.

n_lists = len(X)
wrong = {}
for update in "prediction", "max_loss":
    model = StructuredPredictor(model=Matching(), update=update).learn_one(X[0], Y[0])
    mistakes = wrong[f"matching, {update}"] = [np.nan]
    for x, y in zip(X[1:], Y[1:], strict=True):
        mistakes.append(np.count_nonzero(model.predict_one(x) != y))
        model.learn_one(x, y)
classifier = PassiveAggressiveClassifier(fit_intercept=False).partial_fit(X[0], Y[0])
wrong |= {"image by image": [np.nan], "image by image, then matched": [np.nan]}
for x, y in zip(X[1:], Y[1:], strict=True):
    matched = linear_sum_assignment(classifier.decision_function(x), maximize=True)[1]
    wrong["image by image"].append(np.count_nonzero(classifier.predict(x) != y))
    wrong["image by image, then matched"].append(np.count_nonzero(matched != y))
    classifier.partial_fit(x, y)

fig, ax = plt.subplots(layout="constrained")
for name, counts in wrong.items():
    late = np.array(counts[1:]) / 10
    print(f"{name:28} {late.mean():.1%} of the images wrong, {late[-50:].mean():.1%} of the last 500")
    ax.plot(np.arange(1, n_lists), np.cumsum(late) / np.arange(1, n_lists), label=name)
ax.set(xlabel="lists seen", ylabel="part of the images wrong so far", ylim=(0, 0.6))
ax.legend()
plt.show()
