r"""
The mitigating function
=======================

An aggressive step raises the dual value by C times the mitigated loss :math:`\mu(\ell)`. Large losses count in full
except for a constant, small losses by their square. The bound on the mean loss uses the inverse :math:`\mu^{-1}`. Its
distance above the diagonal is the price of not knowing the best weights, and it is at most C/2.

The same curves are in figure 2 of the primal-dual paper.
"""

import matplotlib.pyplot as plt
import numpy as np

from onmargin.theory import mitigating, mitigating_inverse

losses = np.linspace(0, 5, 200)

fig, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.8), layout="constrained")
for axes, function, title in (left, mitigating, r"$\mu$"), (right, mitigating_inverse, r"$\mu^{-1}$"):
    for C in 0.1, 1.0, 2.0, 4.0:
        axes.plot(losses, [function(loss, C) for loss in losses], label=f"C = {C:g}")
    axes.plot(losses, losses, "k:", linewidth=1)
    axes.set(title=title, xlabel="loss", aspect="equal")
    axes.legend()
plt.show()
