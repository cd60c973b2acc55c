r"""
A service that learns: from curl to Prometheus
==============================================

``onmargin serve`` is an HTTP service for learners. Clients post labeled examples and request predictions; every example
is journaled before it is acknowledged. This tutorial starts the service, sends requests as ``curl`` would, kills the
service without warning, restarts it with the same weights, and reads its metrics as Prometheus would.

Install it with ``pip install ".[serve]"`` in a clone, then run ``onmargin serve --data models`` in a shell.
"""

import json
import re
import subprocess
import sys
import tempfile
import urllib.request

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

folder = tempfile.mkdtemp()


def start() -> tuple[subprocess.Popen, str]:
    """Run ``onmargin serve --data FOLDER --port 0`` and return the process and its address."""
    program = [sys.executable, "-c", "from onmargin.apps.cli import main; main()"]
    arguments = [*program, "serve", "--data", folder, "--port", "0"]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return process, re.search(r"http://[\w.:]+", process.stderr.readline())[0]


def curl(path: str, body: object = None, *, show: bool = True) -> str:
    """Send a request as curl does, and print the command."""
    data = None if body is None else json.dumps(body)
    if show:
        print(f"$ curl {address}{path}" + ("" if data is None else f" -H 'Content-Type: application/json' -d '{data}'"))
    headers = {} if data is None else {"Content-Type": "application/json"}
    request = urllib.request.Request(address + path, None if data is None else data.encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


service, address = start()

# %%
# Create a model, train it on two texts, and request a prediction. ``learn`` returns the predictions made *before* the
# examples were learned, so the service keeps an honest estimate of the error.

curl("/v1/models", {"name": "mail", "model": "AROWClassifier"})
print(
    curl(
        "/v1/models/mail/learn",
        {"examples": [{"x": "cheap pills now", "y": "spam"}, {"x": "lunch at noon", "y": "ham"}]},
    )
)
print(curl("/v1/models/mail/predict", {"examples": [{"x": "cheap lunch pills"}], "probabilities": True}))

# %%
# The next model learns handwritten digits, 20 per request. After each request the metrics are scraped, as Prometheus
# would do every few seconds.


def metric(name: str, model: str) -> float:
    return float(re.search(rf'^{name}{{model="{model}"}} (\S+)$', curl("/metrics", show=False), re.MULTILINE)[1])


X, y = load_digits(return_X_y=True)
curl("/v1/models", {"name": "digits", "model": "AutoClassifier"})
rounds, mistakes = [], []
for i in range(0, 800, 20):
    batch = [{"x": x.tolist(), "y": int(label)} for x, label in zip(X[i : i + 20], y[i : i + 20], strict=True)]
    curl("/v1/models/digits/learn", {"examples": batch}, show=False)
    rounds.append(metric("onmargin_seq", "digits"))
    mistakes.append(metric("onmargin_mistakes", "digits"))
print("\n".join(line for line in curl("/metrics").splitlines() if 'model="digits"' in line))

# %%
# Kill the service with SIGKILL, without a clean shutdown. The next start replays the journal and has the same totals.

before = json.loads(curl("/v1/models/digits", show=False))["totals"]
service.kill()
service.wait()
service.stderr.close()
service, address = start()
after = json.loads(curl("/v1/models/digits", show=False))["totals"]
print("the same totals after a kill:", before == after, f"({after['mistakes']} mistakes in {after['rounds']} rounds)")

# %%
# Plot what Prometheus would have recorded.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(rounds, 100 * np.array(mistakes) / np.array(rounds), "o-", markersize=3)
ax.set(xlabel="onmargin_seq", ylabel="progressive error, %", title="Digits, scraped from /metrics", ylim=(0, None))
plt.show()

# %%
# A minimal ``prometheus.yml``::
#
#     scrape_configs:
#       - job_name: onmargin
#         static_configs:
#           - targets: ["127.0.0.1:8700"]
#
# Stop the service with SIGTERM: it processes all pending requests, then exits.

service.terminate()
print("exit code:", service.wait())
service.stderr.close()

# %%
# **Next steps.** :doc:`/serve` describes all requests, tokens, limits and the page that plots the error and its bound.
