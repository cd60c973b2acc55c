// The page of `onmargin serve`: follows one model by server-sent events, which are read with fetch, because they need a
// token where the service does.

import { drawChart } from "./chart.js";
import { $, bars, duration, element, fill, inOrder, percent, plain, probability, setClass, setHidden, setText, table } from "./elements.js";
import { example, predict } from "./prediction.js";
import { ask, curl, fetched } from "./requests.js";

const page = { name: null, stop: null, shown: null, bound: null, labels: "", weighed: -1, lost: null };
const HINTS = {
  tag: ['A sequence, as JSON: a list of tokens, each with its features, such as ', '[["word=the"], ["word=dog"]]'],
  other: ['An example: a text, or JSON such as ', '{"size": 1.5, "color": "red"}', ' or ', '[0.1, 2]'],
};

// The widths in pixels of the names of the rows of a confusion matrix, and of one of its columns.
const [NAMES, CELL] = [120, 48];

const path = (last) => `v1/models/${encodeURIComponent(page.name)}/${last}`;
const counts = (task) => (task === "regress" || task === "novelty" ? "loss" : "mistakes");

function view(name) {
  if (document.body.dataset.view !== name) document.body.dataset.view = name;
}

function say(words, kind) {
  setText("state", words);
  setClass($("state"), kind);
}

function live() {
  page.lost = null;
  if (document.body.classList.contains("stale")) document.body.classList.remove("stale");
  say("live", "live");
}

// What is shown stays, in grey, with the time from which on it may be out of date.
function lost(problem) {
  page.lost ??= new Date();
  document.body.classList.add("stale");
  say(`connection lost since ${page.lost.toLocaleTimeString("en-GB")}: ${problem.message}`, "lost");
}

function refused(problem) {
  if (problem.status !== 401) return lost(problem);
  page.stop?.abort();
  page.name = null;
  const wrong = sessionStorage.getItem("token") !== null;
  $("enter-said").textContent = wrong ? "This token is not accepted." : "";
  if (document.body.dataset.view !== "enter") {
    view("enter");
    $("token").focus();
  }
  say("token needed", "");
}

// Models, and the one that is followed, whose name is in the address of the page

const wanted = () => new URLSearchParams(location.search).get("model");

async function findModels() {
  try {
    const { models } = await fetched("v1/models");
    const names = models.map((model) => model.name).sort(inOrder);
    const select = $("models");
    if ([...select.options].map((one) => one.value).join("\n") !== names.join("\n")) {
      select.replaceChildren(...names.map((name) => element("option", name)));
    }
    if (!names.length) {
      page.stop?.abort();
      page.name = null;
      showCurl();
      view("none");
      return say("no models", "");
    }
    if (!names.includes(page.name)) {
      const gone = wanted();
      follow(names.includes(gone) ? gone : names[0]);
      if (gone && !names.includes(gone)) setText("gone", `There is no model '${gone}': this is '${page.name}'.`);
    }
    if (select.value !== page.name) select.value = page.name;
  } catch (problem) {
    refused(problem);
  }
}

async function follow(name, remember = true) {
  page.stop?.abort();
  Object.assign(page, { name, stop: new AbortController(), shown: null, bound: null, labels: "", weighed: -1 });
  $("answer").replaceChildren();
  setText("gone", "");
  $("models").value = name;
  if (remember && wanted() !== name) history[wanted() ? "pushState" : "replaceState"](null, "", `?${new URLSearchParams({ model: name })}`);
  const { signal } = page.stop;
  while (!signal.aborted) {
    try {
      const answer = await ask(path("events"), undefined, signal);
      await readEvents(answer.body.pipeThrough(new TextDecoderStream()).getReader());
      lost(new Error("the service has ended"));
    } catch (problem) {
      if (signal.aborted) return;
      if (problem.status === 401) return refused(problem);
      if (problem.status === 404) {
        page.name = null;
        return findModels();
      }
      lost(problem.status ? problem : new Error("the service does not answer"));
    }
    await new Promise((done) => setTimeout(done, 1000));
  }
}

async function readEvents(reader) {
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    if (events.length) show(JSON.parse(events.at(-1).slice("data: ".length)));
  }
}

// Commands to copy

const EXAMPLES = {
  classify: { x: "cheap pills now", y: "spam" },
  regress: { x: { rooms: 3, area: 75 }, y: 210.5 },
  rank: { x: "rates rise again", y: ["economy", "politics"] },
  ordinal: { x: { size: 1.5 }, y: 1 },
  novelty: { x: [0.1, 0.2] },
  tag: { x: [["word=the"], ["word=dog"]], y: ["D", "N"] },
};

function showCurl() {
  const name = $("new-name").value || "mine";
  setText("curl-create", curl("v1/models", { name, model: $("new-model").value }));
}

async function copy(event) {
  const of = $(event.target.dataset.of);
  try {
    await navigator.clipboard.writeText(of.textContent);
    event.target.textContent = "Copied";
  } catch {  // the page was not loaded over HTTPS or from this machine: select it, to be copied by hand
    getSelection().selectAllChildren(of);
    event.target.textContent = "Selected: press Ctrl+C";
  }
  setTimeout(() => (event.target.textContent = "Copy"), 2000);
}

async function createModel(event) {
  event.preventDefault();
  setText("create-said", "");
  try {
    const name = $("new-name").value;
    await fetched("v1/models", { name, model: $("new-model").value });
    await findModels();
  } catch (problem) {
    setText("create-said", problem.message);
  }
}

// What is shown

function show(progress) {
  const { model } = progress;
  page.shown = progress;
  live();
  view("model");
  if (model.name !== page.name) return findModels();
  showNumbers(progress);
  setHidden("begin", model.seq > 0);
  setText("curl-learn", curl(path("learn"), { examples: [EXAMPLES[model.task]] }));
  drawError(progress);
  drawLoad(progress);
  showConfusion(progress.confusion);
  showExperts(progress.experts, model);
  showHint(model);
  showLabels(model);
  findBound(model);
}

function showNumbers({ model, rates, latency }) {
  const { totals, progressive, coverage } = model;
  const error = progressive.mistakes === null ? null : progressive.mistakes / progressive.examples;
  const numbers = {
    Task: model.task,
    Learner: model.model,
    Examples: model.seq.toLocaleString("en"),
    ...(counts(model.task) === "mistakes" ? { Error: percent(error) } : {}),
    ...(progressive.absolute_error === null ? {} : { "Mean absolute error": plain(progressive.absolute_error / progressive.examples) }),
    "Mean loss": plain(totals.loss / Math.max(1, model.seq)),
    Features: model.features.toLocaleString("en"),
    ...(model.classes.length ? { Labels: model.classes.length } : {}),
    ...(coverage ? { "Covered (asked)": `${percent(coverage.covered)} (${plain(100 * coverage.asked)} %)` } : {}),
    ...(coverage ? { [model.task === "regress" ? "Mean width" : "Mean set size"]: plain(coverage.size) } : {}),
    ...(model.kept ? { "Without label yet": model.kept.toLocaleString("en") } : {}),
    "Learned/s": plain(Math.round(rates[0])),
    "Predicted/s": plain(Math.round(rates[1])),
    "Learn p99": duration(latency.learn?.[1]),
    "Predict p99": duration(latency.predict?.[1]),
  };
  const list = $("numbers");
  const names = Object.keys(numbers);
  if ([...list.querySelectorAll("dt")].map((dt) => dt.textContent).join() !== names.join()) {
    list.replaceChildren(...names.map((name) => {
      const group = element("div");
      group.append(element("dt", name), element("dd"));
      return group;
    }));
  }
  [...list.querySelectorAll("dd")].forEach((dd, k) => {
    const text = String(numbers[names[k]]);
    if (dd.textContent !== text) dd.textContent = text;
    setClass(dd, text.length > 10 ? "long" : "");
  });
}

function drawError({ model, curve }) {
  const what = counts(model.task);
  const [title, column, format] = what === "loss" ? ["mean loss", 2, plain] : ["error", 1, percent];
  const mean = curve.map((p) => [p[0], p[column] / p[0]]);
  const series = [{ name: title, kind: "one", points: mean }];
  const bound = page.bound?.counted === what ? page.bound : null;
  if (bound) series.push({ name: "bound", kind: "bound", points: bound.curve.map((p) => [p[0], p[1] / p[0]]) });
  const now = mean.length ? mean.at(-1)[1] : 0;
  const later = mean.slice(Math.ceil(mean.length / 10)).map((p) => p[1]);
  const top = mean.length > 10 ? Math.max(1.5 * now, ...later, ...(bound && bound.bound < 3 * bound.rounds * now ? [(1.2 * bound.bound) / bound.rounds] : [])) : undefined;
  drawChart($("error"), series, { x: "examples", top: top || undefined, format: what === "loss" ? plain : (part) => `${plain(100 * part)} %` });
  if (!model.seq) return setText("said", "each example is predicted before it is learned");
  const said = `${title} ${format(now)} after ${model.seq.toLocaleString("en")} examples, each predicted before it was learned`;
  const most = bound && bound.bound / bound.rounds;
  const vacuous = bound && what === "mistakes" && most > 1 ? ", which is above 100 % and excludes nothing yet" : "";
  const allowed = bound ? `; ${bound.theorem} allows ${format(most)} after ${bound.rounds.toLocaleString("en")}${vacuous}` : "";
  setText("said", said + allowed + (page.bound?.none ? `; no bound: ${page.bound.none}` : ""));
}

// A certificate costs a pass over the journal and a search: a new one is requested when the journal has grown by half.
async function findBound(model) {
  if (model.seq < 20 || page.asking || model.earliest > 0 || page.shown.experts.length || (page.bound && model.seq < 1.5 * page.bound.at)) return;
  page.asking = true;
  const { name } = page;
  let found;
  try {
    found = await fetched(path("certificate"));
  } catch (problem) {
    found = { none: problem.message, busy: problem.status === 429 || problem.status === undefined };
  }
  page.asking = false;
  if (page.name !== name || found.busy) return;
  const kept = found.none && page.bound?.curve ? page.bound : found;
  page.bound = { ...kept, at: model.seq };
  drawError(page.shown);
}

function drawLoad({ history, rates }) {
  const first = history.length ? Math.min(-60, -history[0][0]) : -60;
  const [unit, size] = first < -120 ? ["min", 60] : ["s", 1];
  const points = (k) => history.map((one) => [-one[0] / size, one[k]]);
  const series = [
    { name: "learned/s", kind: "one", points: points(1) },
    { name: "predicted/s", kind: "two", points: points(2) },
  ];
  const label = (time) => (time === 0 ? "now" : `${plain(time)} ${unit}`);
  drawChart($("load"), series, { x: "time", ends: [first / size, 0], label });
  setText("load-said", `${plain(Math.round(rates[0]))} learned and ${plain(Math.round(rates[1]))} predicted per second, now`);
}

function showConfusion(cells) {
  setHidden("confusions", cells.length === 0);
  const sums = new Map();
  for (const [y, predicted, n] of cells) {
    sums.set(y, (sums.get(y) ?? 0) + n);
    sums.set(predicted, sums.get(predicted) ?? 0);
  }
  const most = Math.min(15, Math.max(3, Math.floor(($("confusion").clientWidth - NAMES) / CELL)));
  const labels = [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a)).slice(0, most).sort(inOrder);
  const found = new Map(cells.map(([y, predicted, n]) => [JSON.stringify([y, predicted]), n]));
  const key = JSON.stringify([labels, cells]);
  if (page.confusion === key) return;
  page.confusion = key;
  const rows = labels.map((y) => [y, ...labels.map((predicted) => {
    const n = found.get(JSON.stringify([y, predicted])) ?? 0;
    const cell = element("td", n.toLocaleString("en"), { className: n ? "" : "zero" });
    cell.style.backgroundColor = `rgba(var(--cell), ${(0.6 * n) / Math.max(1, sums.get(y))})`;
    return cell;
  })]);
  $("confusion").replaceChildren(table(["", ...labels], rows, 12));
  const some = labels.length < sums.size ? ` The ${labels.length} most frequent labels of ${sums.size} are shown.` : "";
  setText("confusion-said", `Rows are the true labels, columns the predictions before each was learned.${some}`);
}

// Models that learn side by side, the largest vote first.
function showExperts(experts, model) {
  setHidden("experts", experts.length === 0);
  const what = model.task === "tag" ? "cost" : counts(model.task);
  const leader = experts.find((expert) => expert.leads);
  setText("expert-said", leader ? `${leader.name} leads: the least ${what} so far. Bars are votes.` : "");
  const sorted = [...experts].sort((a, b) => b.vote - a.vote || a.lost - b.lost);
  const heads = ["Expert", what[0].toUpperCase() + what.slice(1), "Vote"];
  if (experts.length) fill($("votes"), bars(sorted.map((one) => [one.name, plain(one.lost), one.vote]), heads, probability));
}

function showHint(model) {
  const words = HINTS[model.task] ?? HINTS.other;
  const made = words.map((word, k) => (k % 2 ? element("code", word) : document.createTextNode(word)));
  if ($("hint").textContent !== words.join("")) $("hint").replaceChildren(...made);
}

function showLabels(model) {
  const own = model.task === "rank" || model.task === "tag" || (model.task === "classify" && model.classes.length > 1);
  const labels = own ? model.classes.map(String).sort(inOrder) : ["all"];
  if (labels.join("\n") !== page.labels) {
    page.labels = labels.join("\n");
    const before = $("label").value;
    $("label").replaceChildren(...labels.map((label) => element("option", label)));
    $("label").value = labels.includes(before) ? before : labels[0];
    page.weighed = -1;
    setHidden("of-label", labels.length < 2);
  }
  if (model.seq !== page.weighed) showWeights();
}

async function showWeights() {
  const { model } = page.shown;
  page.weighed = model.seq;
  const query = new URLSearchParams({ top: 12 });
  if (page.labels !== "all") query.set("label", $("label").value);
  try {
    const { parts } = await fetched(`${path("weights")}?${query}`);
    fill($("weights"), parts.length ? bars(parts.map(({ feature, value }) => [feature, value])) : element("p", "nothing learned yet", { className: "note" }));
  } catch (problem) {
    if (problem.status) fill($("weights"), element("p", problem.message, { className: "note" }));
  }
}

function tryOne(event) {
  event.preventDefault();
  try {
    predict(path, page.shown.model, example($("x").value), $("answer"));
  } catch (problem) {
    $("answer").replaceChildren(element("p", problem.message, { className: "wrong" }));
  }
}

$("models").addEventListener("change", () => follow($("models").value));
addEventListener("popstate", () => wanted() && wanted() !== page.name && follow(wanted(), false));
$("label").addEventListener("change", showWeights);
$("try").addEventListener("submit", tryOne);
$("x").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) tryOne(event);
});
$("create").addEventListener("submit", createModel);
for (const id of ["new-name", "new-model"]) $(id).addEventListener("input", showCurl);
for (const button of document.querySelectorAll(".copy")) button.addEventListener("click", copy);
$("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", $("token").value);
  $("enter-said").textContent = "";
  findModels();
});
addEventListener("resize", () => page.shown && (drawError(page.shown), drawLoad(page.shown)));
findModels();
setInterval(findModels, 5000);
