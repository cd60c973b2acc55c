// A prediction, and what it is made of.

import { bars, element, plain, probability, table } from "./elements.js";
import { fetched } from "./requests.js";

// An example as it was typed: JSON, or else a text.
export function example(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "number" || value === null ? text : value;
  } catch (problem) {
    if (!/^\s*(\{|\[\s*["'{[\d-])/.test(text)) return text;
    throw new Error(`This is not valid JSON: ${problem.message}. If it is a text, write it in quotes.`);
  }
}

// All labels with their scores and probabilities, the best first.
function byLabel(scores, probabilities) {
  const shares = new Map(probabilities ?? []);
  const rows = scores.map(([label, score]) => [label, score, shares.get(label)]);
  rows.sort((a, b) => (b[2] ?? b[1]) - (a[2] ?? a[1]));
  return table(
    ["Label", "Score", ...(probabilities ? ["Probability"] : [])],
    rows.map(([label, score, share]) => [label, plain(score), ...(probabilities ? [probability(share)] : [])]),
  );
}

function scored(score, probabilities) {
  const made = element("div", undefined, { className: "tall" });
  if (Array.isArray(score)) {
    made.append(byLabel(score, probabilities));
  } else {
    made.append(element("p", `Score ${plain(score)}`, { className: "note" }));
    if (probabilities) made.append(table(["Label", "Probability"], probabilities.map(([label, share]) => [label, probability(share)])));
  }
  return made;
}

function covered(set, task) {
  if (set === null) return null;
  if (task !== "regress") return set.length ? `One of ${set.join(", ")}` : "No label is likely enough";
  return set[0] === null ? "Anything is possible" : `Between ${plain(set[0])} and ${plain(set[1])}`;
}

function worded(prediction, task) {
  if (prediction === null) return "nothing was learned yet";
  if (task === "regress") return plain(prediction);
  if (task === "novelty") return prediction === 1 ? "inlier" : "outlier";
  return [prediction].flat().join(", ") || "no label";
}

// Predict an example with the model at a path, and show the answer in a place.
export async function predict(path, model, x, place) {
  const { task, coverage } = model;
  const note = (words) => place.append(element("p", words, { className: "note" }));
  let predicted = false;
  try {
    const sent = { examples: [{ x }], scores: task !== "tag", probabilities: task === "classify", sets: coverage !== null };
    const { predictions, scores, probabilities, sets } = await fetched(path("predict"), sent);
    const [prediction] = predictions;
    place.replaceChildren(element("p", worded(prediction, task), { className: "result" }));
    predicted = true;
    if (prediction === null) return;
    const set = sets && covered(sets[0], task);
    if (set) note(`${set}, in ${plain(100 * coverage.asked)} % of the examples.`);
    if (task === "tag") return place.append(table(["Token", "Tag"], x.map((token, k) => [JSON.stringify(token), prediction[k]])));
    if (task !== "regress") place.append(scored(scores[0], probabilities?.[0]));
    const { explanations } = await fetched(path("explain"), { examples: [{ x }], top: 12 });
    const { label, intercept, parts } = explanations[0];
    const sum = intercept === null ? "" : ` With the intercept, ${plain(intercept)}, they add up to the score if all are shown.`;
    const what = task === "novelty" ? "the squared distance from the center" : `the score${label === null ? "" : ` of ${label}`}`;
    note(`What each feature adds to ${what}.${sum}`);
    place.append(bars(parts.map(({ feature, value }) => [feature, value])));
  } catch (problem) {
    if (predicted) note(`No explanation: ${problem.message}`);
    else place.replaceChildren(element("p", problem.message, { className: "wrong" }));
  }
}
