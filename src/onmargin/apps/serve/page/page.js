"use strict";
// The page of `onmargin serve`: follows one model by server-sent events, which are read with fetch, because they need a
// token where the service does. Text from models is set as text, never as markup.

const $ = (id) => document.getElementById(id);
const dark = matchMedia("(prefers-color-scheme: dark)");
const page = { name: null, stop: null, shown: null, bound: null, load: [], labels: "", weighed: 0 };

async function ask(path, body, signal) {
  const headers = {};
  const token = sessionStorage.getItem("token");
  if (token) headers["Authorization"] = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const options = { headers, signal, method: body === undefined ? "GET" : "POST" };
  if (body !== undefined) options.body = JSON.stringify(body);
  const answer = await fetch(path, options);
  if (answer.ok) return answer;
  if (answer.status === 401) $("enter").hidden = false;
  const problem = await answer.json().catch(() => ({ error: answer.statusText }));
  throw Object.assign(new Error(problem.error), { status: answer.status });
}

function element(kind, text, properties = {}) {
  const made = document.createElement(kind);
  if (text !== undefined) made.textContent = text;
  return Object.assign(made, properties);
}

const path = (last) => `v1/models/${encodeURIComponent(page.name)}/${last}`;
const short = (value) => (Math.abs(value) >= 1e4 || (value && Math.abs(value) < 1e-3) ? value.toExponential(2) : +value.toPrecision(4));
const percent = (part) => `${(100 * part).toFixed(2)} %`;
const time = (seconds) => (seconds === null || seconds === undefined ? "–" : seconds < 1 ? `${short(1000 * seconds)} ms` : `${seconds} s`);
const counts = (task) => task === "regress" || task === "novelty" ? "loss" : "mistakes";

function say(words, kind) {
  $("state").textContent = words;
  $("state").className = kind;
}

// Models, and the one that is followed

async function findModels() {
  try {
    const { models } = await (await ask("v1/models")).json();
    const names = models.map((model) => model.name);
    const select = $("models");
    if ([...select.options].map((one) => one.value).join("\n") !== names.join("\n")) {
      select.replaceChildren(...names.map((name) => element("option", name)));
      if (names.includes(page.name)) select.value = page.name;
    }
    $("none").hidden = names.length > 0;
    $("enter").hidden = true;
    for (const section of document.querySelectorAll("section")) section.hidden = names.length === 0;
    if (!names.includes(page.name)) follow(names[0] ?? null);
    if (!names.length) say("no models", "");
  } catch (problem) {
    say(problem.message, "lost");
  }
}

async function follow(name) {
  page.stop?.abort();
  Object.assign(page, { name, stop: new AbortController(), shown: null, bound: null, load: [], labels: "", weighed: 0 });
  $("answer").replaceChildren();
  if (name === null) return;
  const { signal } = page.stop;
  while (!signal.aborted) {
    try {
      const answer = await ask(path("events"), undefined, signal);
      say("live", "live");
      await readEvents(answer.body.pipeThrough(new TextDecoderStream()).getReader());
    } catch (problem) {
      if (signal.aborted) return;
      say(problem.message, "lost");
      if (problem.status === 404) return findModels();
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

// What is shown

function show(progress) {
  page.shown = progress;
  const { model, rates, latency } = progress;
  page.load.push({ at: new Date(), rates, latency });
  page.load.splice(0, page.load.length - 120);
  showNumbers(model, rates, latency);
  drawError(progress);
  drawLoad();
  showConfusion(progress.confusion);
  showExperts(progress.experts, model);
  showLabels(model);
  findBound(model);
}

function showNumbers(model, rates, latency) {
  const { totals } = model;
  const rounds = Math.max(1, totals.rounds);
  const numbers = {
    Task: model.task,
    Learner: model.model,
    Examples: model.seq.toLocaleString("en"),
    ...(counts(model.task) === "mistakes" ? { Error: percent(totals.mistakes / rounds) } : {}),
    "Mean loss": short(totals.loss / rounds),
    Features: model.features.toLocaleString("en"),
    ...(model.classes.length ? { Labels: model.classes.length } : {}),
    "Learned /s": Math.round(rates[0]).toLocaleString("en"),
    "Predicted /s": Math.round(rates[1]).toLocaleString("en"),
    "Learn p99": time(latency.learn?.[1]),
    "Predict p99": time(latency.predict?.[1]),
  };
  const made = Object.entries(numbers).map(([name, value]) => {
    const group = element("div");
    group.append(element("dt", name), element("dd", value));
    return group;
  });
  $("numbers").replaceChildren(...made);
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(["ink", "soft", "line", "one", "two"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

function draw(id, traces, axes) {
  if (!window.Plotly) return;
  const { ink, line } = colours();
  const axis = { gridcolor: line, linecolor: line, zerolinecolor: line, automargin: true };
  const layout = {
    margin: { l: 50, r: 10, t: 10, b: 40 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: ink, size: 12 }, legend: { orientation: "h", y: 1.15 }, showlegend: true,
    xaxis: { ...axis, ...axes.x }, yaxis: { ...axis, rangemode: "tozero", ...axes.y },
    ...(axes.y2 ? { yaxis2: { ...axis, rangemode: "tozero", overlaying: "y", side: "right", showgrid: false, ...axes.y2 } } : {}),
  };
  Plotly.react(id, traces, layout, { displayModeBar: false, responsive: true });
}

function drawError({ model, curve }) {
  const what = counts(model.task);
  const column = what === "loss" ? 2 : 1;
  const { one, two } = colours();
  const title = what === "loss" ? "mean loss" : "error";
  const traces = [{ x: curve.map((p) => p[0]), y: curve.map((p) => p[column] / p[0]), name: title, line: { color: one } }];
  const bound = page.bound?.counted === what ? page.bound : null;
  if (bound) {
    traces.push({
      x: bound.curve.map((p) => p[0]), y: bound.curve.map((p) => p[1] / p[0]), name: "bound", line: { color: two, dash: "dash" },
    });
  }
  const now = curve.length ? curve.at(-1)[column] / curve.at(-1)[0] : 0;
  const top = bound ? Math.max(1.5 * now, Math.min(...traces[1].y) * 2, ...traces[0].y.slice(-100)) : undefined;
  draw("error", traces, { x: { title: { text: "examples" } }, y: { title: { text: title }, ...(top ? { range: [0, top] } : {}) } });
  const said = `${title} ${short(now)} after ${model.seq} examples, each predicted before it was learned`;
  const allowed = bound ? `; ${bound.theorem} allows ${short(bound.bound / bound.rounds)} after ${bound.rounds}` : "";
  $("said").textContent = said + allowed + (page.bound?.none ? `; ${page.bound.none}` : "");
}

// A certificate costs a pass over the journal and a search: a new one is asked for when there is half as much again.
async function findBound(model) {
  if (model.seq < 20 || page.asking || (page.bound && model.seq < 1.5 * page.bound.at)) return;
  page.asking = true;
  const { name } = page;
  let found;
  try {
    found = await (await ask(path("certificate"))).json();
  } catch (problem) {
    found = { none: problem.message, busy: problem.status === 429 };
  }
  page.asking = false;
  if (page.name !== name || found.busy) return;
  const kept = found.none && page.bound?.curve ? page.bound : found;
  page.bound = { ...kept, at: model.seq };
  drawError(page.shown);
}

function drawLoad() {
  const { one, two, soft } = colours();
  const x = page.load.map((one) => one.at);
  const rate = (k) => page.load.map((one) => one.rates[k]);
  const p99 = page.load.map((one) => (one.latency.learn?.[1] ?? one.latency.predict?.[1] ?? null)).map((s) => s && 1000 * s);
  const traces = [
    { x, y: rate(0), name: "learned /s", line: { color: one } },
    { x, y: rate(1), name: "predicted /s", line: { color: two } },
    { x, y: p99, name: "p99, ms", yaxis: "y2", line: { color: soft, dash: "dot" } },
  ];
  draw("load", traces, { x: {}, y: { title: { text: "a second" } }, y2: { title: { text: "ms" } } });
  const last = page.load.at(-1);
  $("load-said").textContent = `${Math.round(last.rates[0])} learned and ${Math.round(last.rates[1])} predicted a second, now`;
}

function showConfusion(cells) {
  $("confusions").hidden = cells.length === 0;
  const sums = new Map();
  for (const [y, predicted, n] of cells) {
    sums.set(y, (sums.get(y) ?? 0) + n);
    sums.set(predicted, sums.get(predicted) ?? 0);
  }
  const labels = [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a)).slice(0, 15);
  const found = new Map(cells.map(([y, predicted, n]) => [JSON.stringify([y, predicted]), n]));
  const table = element("table");
  const head = table.createTHead().insertRow();
  head.append(element("th", ""), ...labels.map((label) => element("th", label, { scope: "col" })));
  for (const y of labels) {
    const row = table.insertRow();
    row.append(element("th", y, { scope: "row" }));
    for (const predicted of labels) {
      const n = found.get(JSON.stringify([y, predicted])) ?? 0;
      const cell = element("td", n);
      cell.style.backgroundColor = `rgba(${getComputedStyle(document.documentElement).getPropertyValue("--cell")}, ${0.6 * n / Math.max(1, sums.get(y))})`;
      row.append(cell);
    }
  }
  $("confusion").replaceChildren(table);
}

// Models that learn side by side, by what their votes count for.
function showExperts(experts, model) {
  $("experts").hidden = experts.length === 0;
  const what = model.task === "tag" ? "cost" : counts(model.task);
  const leader = experts.find((expert) => expert.leads);
  $("expert-said").textContent = leader ? `${leader.name} leads: the least ${what} so far. Bars are votes.` : "";
  $("votes").replaceChildren(bars(experts.map((one) => ({ feature: `${one.name}, ${short(one.lost)} ${what}`, value: one.vote }))));
}

function bars(parts) {
  const table = element("table");
  const largest = Math.max(...parts.map((part) => Math.abs(part.value)), 1e-300);
  for (const { feature, value } of parts) {
    const row = table.insertRow();
    const bar = element("span", "", { className: value < 0 ? "minus" : "" });
    bar.style.width = `${(100 * Math.abs(value)) / largest}%`;
    const cell = element("td", undefined, { className: "bar" });
    cell.append(bar);
    row.append(element("th", feature, { scope: "row" }), element("td", short(value)), cell);
  }
  return table;
}

function showLabels(model) {
  const own = model.task === "rank" || model.task === "tag" || (model.task === "classify" && model.classes.length > 1);
  const labels = own ? model.classes.map(String) : ["all"];
  if (labels.join("\n") !== page.labels) {
    page.labels = labels.join("\n");
    const before = $("label").value;
    $("label").replaceChildren(...labels.map((label) => element("option", label)));
    $("label").value = labels.includes(before) ? before : labels.at(-1);
    page.weighed = -1;
  }
  if (model.seq !== page.weighed) showWeights();
}

async function showWeights() {
  const { model } = page.shown;
  page.weighed = model.seq;
  const query = new URLSearchParams({ top: 12 });
  if (page.labels !== "all") query.set("label", $("label").value);
  try {
    const { parts } = await (await ask(`${path("weights")}?${query}`)).json();
    $("weights").replaceChildren(parts.length ? bars(parts) : element("p", "nothing learned yet", { className: "note" }));
  } catch (problem) {
    $("weights").replaceChildren(element("p", problem.message, { className: "note" }));
  }
}

function example(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : text;
  } catch {
    return text;
  }
}

async function tryOne(event) {
  event.preventDefault();
  const x = example($("x").value);
  const answer = $("answer");
  try {
    const [{ predictions }] = [await (await ask(path("predict"), { examples: [{ x }] })).json()];
    const words = predictions[0] === null ? "nothing was learned yet" : [predictions[0]].flat().join(", ") || "no label";
    answer.replaceChildren(element("p", words, { className: "result" }));
    if (page.shown?.model.task === "tag") return;
    const { explanations } = await (await ask(path("explain"), { examples: [{ x }], top: 12 })).json();
    const { label, intercept, parts } = explanations[0];
    const of = label === null ? "" : ` of ${label}`;
    const sum = intercept === null ? "" : ` With the intercept, ${short(intercept)}, they are the score if all are shown.`;
    answer.append(element("p", `What each feature adds to the score${of}.${sum}`, { className: "note" }), bars(parts));
  } catch (problem) {
    answer.replaceChildren(element("p", problem.message, { className: "wrong" }));
  }
}

$("models").addEventListener("change", () => follow($("models").value));
$("label").addEventListener("change", showWeights);
$("try").addEventListener("submit", tryOne);
$("x").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) tryOne(event);
});
$("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", $("token").value);
  findModels();
});
dark.addEventListener("change", () => page.shown && show(page.shown));
findModels();
setInterval(findModels, 5000);
