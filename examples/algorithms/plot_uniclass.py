r"""
Novelty detection by a ball
===========================

Points are drawn around a center that moves along an arc. :class:`onmargin.PassiveAggressiveUniclass` keeps a ball in
the plane. A point outside moves the center toward it by :math:`\min(C, \ell)`; a point inside changes nothing.

With a fixed radius, the center follows the points. With a learned radius, the ball can also grow, up to `max_radius`,
and it never shrinks: in time it covers much of the past positions, and its center lags behind. For drifting data, use a
fixed radius.
"""

import matplotlib.pyplot as plt
import numpy as np

from onmargin import PassiveAggressiveUniclass

random = np.random.default_rng(0)
n_rounds = 1500
angle = np.linspace(np.pi, 0, n_rounds)
path = 6 * np.column_stack([np.cos(angle), np.sin(angle)])
X = path + 0.5 * random.normal(size=path.shape)

# %%
# Call ``partial_fit`` once per point, to record the path of the center. One call with all points would learn the same
# ball.

models = {
    "fixed radius": PassiveAggressiveUniclass(C=0.05, epsilon=1.0),
    "learned radius": PassiveAggressiveUniclass(C=0.05, radius="learn", max_radius=4.0),
}
fig, axes = plt.subplots(1, 2, sharex=True, sharey=True, figsize=(9, 4), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    centers, radii = [], []
    for x in X:
        model.partial_fit(x[None, :])
        centers.append(model.center_)
        radii.append(model.radius_)
    behind = np.linalg.norm(np.array(centers) - path, axis=1)[100:].mean()
    outside = model.totals_.mistakes / model.totals_.rounds
    print(f"{name:14}  {behind:.2f} behind the path on average, {outside:.0%} of the points outside", end=", ")
    print(f"radius {radii[-1]:.2f} at the end")
    ax.scatter(*X.T, s=4, c=np.arange(n_rounds), cmap="viridis", alpha=0.5)
    ax.plot(*np.array(centers).T, color="C3", label="center")
    for t in np.linspace(99, n_rounds - 1, 5).astype(int):
        ax.add_patch(plt.Circle(centers[t], radii[t], fill=False, color="C3", linestyle="--"))
    ax.set(title=name, aspect="equal", xlim=(-9, 9), ylim=(-4.5, 9))
axes[0].legend(loc="lower center")
plt.show()
