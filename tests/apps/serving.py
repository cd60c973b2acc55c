"""Services to test: one in this process, and one in a separate process."""

import random
import re
import signal
import socket
import threading
from collections import Counter
from contextlib import contextmanager
from copy import deepcopy

import httpx

import onmargin
from onmargin.apps.learners import LEARNERS
from onmargin.apps.serve.app import App
from onmargin.apps.serve.limits import Limits
from onmargin.apps.serve.run import configured
from onmargin.apps.serve.service import Service, Settings
from onmargin.apps.serve.tokens import Tokens
from tests.apps.program import start
from tests.waiting import LIMIT

# Time limit in seconds. Certificates are computed by a process of low priority, which waits long on a busy machine.
TIMEOUT = 300


@contextmanager
def served(folder, settings=None, limits=None, tokens=None, **options):
    """Run the service in a thread of this process; its client has the service, the app and the server as attributes."""
    service = Service.open(folder, settings or Settings())
    app = App(service, tokens or Tokens(), limits or Limits())
    listening = socket.create_server(("127.0.0.1", 0))
    server = configured(app)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        with httpx.Client(
            base_url=f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=TIMEOUT, verify=False, **options
        ) as client:
            client.service, client.app, client.server = service, app, server
            yield client
    finally:
        app.context.stopping.set()
        server.should_exit = True
        thread.join(LIMIT)
        listening.close()


@contextmanager
def process(folder, *options):
    """Run the service as a process; yield its address and the process, and end it by SIGTERM if it still runs."""
    running = start("serve", "--data", folder, "--port", 0, *options, text=True)
    try:
        line = running.stderr.readline()
        found = re.search(r"http://\S+:\d+", line)
        assert found, line + running.stderr.read()
        yield found[0], running
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGTERM)
        running.wait(LIMIT)
        running.stderr.close()


def blocked(service):
    """Block the thread of the journal until the returned event is set."""
    go_on = threading.Event()
    service._disk.submit(go_on.wait)
    return go_on


def learn(client, name, *pairs, key=None):
    examples = [{"x": x, "y": y} for x, y in pairs]
    return client.post(f"/v1/models/{name}/learn", json={"examples": examples, "key": key})


def predict(client, name, *xs, **options):
    return client.post(f"/v1/models/{name}/predict", json={"examples": [{"x": x} for x in xs], **options})


def create(client, name="m", task=None, model=None, **parameters):
    """Create a model; by default it is the plain learner of its task, which learns a small stream quickly."""
    model = model or LEARNERS[task or "classify"]
    sent = {"name": name, "task": task, "model": model, "parameters": parameters}
    answer = client.post("/v1/models", json=sent)
    assert answer.status_code == 201, answer.text
    return name


def records(n, seed=0, n_names=30):
    """Return dicts with labels by a hidden rule, with some noise."""
    random_ = random.Random(seed)
    rule = {f"f{k}": random_.gauss(0, 1) for k in range(n_names)}
    for _ in range(n):
        x = {name: round(random_.gauss(0, 1), 3) for name in random_.sample(sorted(rule), 6)}
        x["colour"] = random_.choice(["red", "green"])
        score = sum(rule[name] * value for name, value in x.items() if name in rule) + random_.gauss(0, 0.3)
        yield x, "yes" if score > 0 else "no"


def learned(service, name="m"):
    """Return the exact state of a model, for comparison."""
    state = service.models[name].state
    model = state.learner.model
    each = len(state.learner.classes) > 2 or state.learner.task in {"rank", "tag"}
    labels = state.learner.classes if each else [None]
    return {
        "seq": state.seq,
        "chain": state.chain,
        "totals": state.totals,
        "curve": deepcopy(state.curve),
        "confusion": Counter(state.confusion),
        "weights": [model.weights(label) for label in labels] if state.learner.begun else None,
    }


def alone(pairs, **parameters):
    """Return a model that learned the same without a service, and its predictions before each example."""
    model = onmargin.stream.PassiveAggressiveClassifier(**parameters)
    predictions = []
    for x, y in pairs:
        predictions.append(model.predict_one(x))
        model.learn_one(x, y)
    return model, predictions
