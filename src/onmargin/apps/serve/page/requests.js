// Requests to the service, and the commands that make them from elsewhere.

export async function ask(path, body, signal) {
  const headers = {};
  const token = sessionStorage.getItem("token");
  if (token) headers["Authorization"] = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const options = { headers, signal, method: body === undefined ? "GET" : "POST" };
  if (body !== undefined) options.body = JSON.stringify(body);
  const answer = await fetch(path, options).catch((problem) => {
    throw problem.name === "AbortError" ? problem : new Error("the service does not answer");
  });
  if (answer.ok) return answer;
  const problem = await answer.json().catch(() => ({ error: answer.statusText }));
  throw Object.assign(new Error(problem.error), { status: answer.status });
}

export const fetched = async (...request) => (await ask(...request)).json();

export function curl(where, body) {
  const token = sessionStorage.getItem("token");
  const bearer = token ? ` \\\n  -H "Authorization: Bearer $ONMARGIN_TOKEN"` : "";
  const address = new URL(where, location.href.split("?")[0]);
  return `curl ${address} \\\n  -H 'Content-Type: application/json'${bearer} \\\n  -d '${JSON.stringify(body)}'`;
}
