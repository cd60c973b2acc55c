"""The service against a sequential model of what it acknowledged, over random operations, restarts and kills."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from onmargin.apps.serve.service import Settings
from tests.apps.serving import alone, create, learn, learned, predict, records, served

PAIRS = list(records(40))
NAMES = st.sampled_from(["a", "b", "c"])
SOME = st.lists(st.integers(0, 39), min_size=1, max_size=4)


class Acknowledged(RuleBasedStateMachine):
    """`examples` has the acknowledged examples of each model, `keys` those of each request, `held` the kept ids."""

    def __init__(self):
        super().__init__()
        self.base = Path(tempfile.mkdtemp())
        self.folder = self.base / "0"
        self.examples, self.keys, self.held, self.earliest = {}, {}, {}, {}
        self.n = 0
        self.open()

    def open(self):
        self.running = served(self.folder, Settings(snapshot_every=3))
        self.client = self.running.__enter__()

    def teardown(self):
        self.running.__exit__(None, None, None)
        shutil.rmtree(self.base)

    def new(self, name, examples=(), earliest=0):
        self.examples[name], self.earliest[name] = list(examples), earliest
        self.keys[name], self.held[name] = {}, {}

    def forget(self, name):
        for one in (self.examples, self.keys, self.held, self.earliest):
            del one[name]

    @rule(name=NAMES)
    def create(self, name):
        if name in self.examples:
            assert self.client.post("/v1/models", json={"name": name}).status_code == 409
        else:
            create(self.client, name)
            self.new(name)

    @precondition(lambda self: self.examples)
    @rule(data=st.data(), which=SOME)
    def learn(self, data, which):
        name = data.draw(st.sampled_from(sorted(self.examples)))
        self.n += 1
        answer = learn(self.client, name, *(PAIRS[k] for k in which), key=f"k{self.n}").json()
        assert (answer["first"], answer["repeated"]) == (len(self.examples[name]) + 1, False)
        self.examples[name] += [PAIRS[k] for k in which]
        self.keys[name][f"k{self.n}"] = which, answer["first"], answer["last"]

    @precondition(lambda self: any(self.keys.values()))
    @rule(data=st.data())
    def learn_again(self, data):
        name = data.draw(st.sampled_from(sorted(name for name, keys in self.keys.items() if keys)))
        key = data.draw(st.sampled_from(sorted(self.keys[name])))
        which, first, last = self.keys[name][key]
        answer = learn(self.client, name, *(PAIRS[k] for k in which), key=key).json()
        assert (answer["first"], answer["last"], answer["repeated"]) == (first, last, True)

    @precondition(lambda self: self.examples)
    @rule(data=st.data(), k=st.integers(0, 39))
    def keep(self, data, k):
        name = data.draw(st.sampled_from(sorted(self.examples)))
        (one,) = predict(self.client, name, PAIRS[k][0], keep=True).json()["ids"]
        self.held[name][one] = k

    @precondition(lambda self: any(self.held.values()))
    @rule(data=st.data())
    def label(self, data):
        name = data.draw(st.sampled_from(sorted(name for name, held in self.held.items() if held)))
        one = data.draw(st.sampled_from(sorted(self.held[name])))
        pair = PAIRS[self.held[name].pop(one)]
        sent = {"examples": [{"id": one, "y": pair[1]}]}
        assert self.client.post(f"/v1/models/{name}/learn", json=sent).status_code == 200
        self.examples[name].append(pair)
        assert self.client.post(f"/v1/models/{name}/learn", json=sent).status_code == 404

    @precondition(lambda self: self.examples)
    @rule(data=st.data())
    def rewind(self, data):
        name = data.draw(st.sampled_from(sorted(self.examples)))
        seq = data.draw(st.integers(0, len(self.examples[name])))
        answer = self.client.post(f"/v1/models/{name}/rewind", json={"seq": seq})
        assert answer.status_code == (200 if seq >= self.earliest[name] else 409), answer.text
        if answer.status_code == 200:
            del self.examples[name][seq:]
            self.keys[name] = {key: one for key, one in self.keys[name].items() if one[2] <= seq}

    @precondition(lambda self: self.examples)
    @rule(data=st.data())
    def compact(self, data):
        name = data.draw(st.sampled_from(sorted(self.examples)))
        assert self.client.post(f"/v1/models/{name}/compact", json={}).status_code == 200
        self.earliest[name] = len(self.examples[name])

    @precondition(lambda self: self.examples)
    @rule(data=st.data(), new=NAMES, replace=st.booleans())
    def rename(self, data, new, replace):
        name = data.draw(st.sampled_from(sorted(self.examples)))
        sent = {"name": new, "replace": replace}
        answer = self.client.post(f"/v1/models/{name}/rename", json=sent)
        taken = new == name or (new in self.examples and not replace)
        assert answer.status_code == (409 if taken else 200)
        if not taken:
            for one in (self.examples, self.keys, self.held, self.earliest):
                one[new] = one.pop(name)

    @precondition(lambda self: self.examples)
    @rule(data=st.data(), new=NAMES)
    def clone(self, data, new):
        name = data.draw(st.sampled_from(sorted(self.examples)))
        answer = self.client.post(f"/v1/models/{name}/clone", json={"name": new})
        assert answer.status_code == (409 if new in self.examples else 201)
        if answer.status_code == 201:
            self.new(new, self.examples[name], len(self.examples[name]))

    @precondition(lambda self: self.examples)
    @rule(data=st.data())
    def delete(self, data):
        name = data.draw(st.sampled_from(sorted(self.examples)))
        assert self.client.delete(f"/v1/models/{name}").status_code == 204
        self.forget(name)

    @rule()
    def restart(self):
        self.running.__exit__(None, None, None)
        self.open()

    @rule()
    def kill(self):
        """Continue with a copy of the files as they are on disk now."""
        copy = self.folder.with_name(str(int(self.folder.name) + 1))
        self.client.service.snapshots._background.submit(int).result()
        self.client.service._disk.submit(shutil.copytree, self.folder, copy).result()
        self.running.__exit__(None, None, None)
        self.folder = copy
        self.open()

    @invariant()
    def is_what_was_acknowledged(self):
        found = {one["name"]: one for one in self.client.get("/v1/models").json()["models"]}
        assert {name: one["seq"] for name, one in found.items()} == {n: len(e) for n, e in self.examples.items()}
        for name, examples in self.examples.items():
            assert found[name]["kept"] == len(self.held[name])
            weights = learned(self.client.service, name)["weights"]
            assert weights == ([alone(examples)[0].weights(None)] if examples else None)


TestAcknowledged = pytest.mark.full(Acknowledged.TestCase)
TestAcknowledged.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
