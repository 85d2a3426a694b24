// Python and numalign, apart from the page: it stays quick while they load and while they think.
// Messages in: {id, question} or {id, question, change}. Out: {kind: "ready" | "answer" | "fixes" | "picture" |
// "question" | "failed", id, …}. A newer question ends what is left of an older one.

let newest = 0;
const bridge = start();

bridge.then(
  () => postMessage({ kind: "ready" }),
  (error) => postMessage({ kind: "failed", id: 0, error: String(error) }),
);

async function start() {
  const build = await (await fetched("build.json")).json();
  const wheel = fetched(build.wheel);
  const libraries = fetched(build.libraries);
  const source = fetched("bridge.py");
  const { loadPyodide } = await import(`./${build.pyodide}/pyodide.mjs`);
  const python = await loadPyodide({ indexURL: new URL(`${build.pyodide}/`, import.meta.url).href });
  for (const archive of [libraries, wheel]) {
    python.unpackArchive(await (await archive).arrayBuffer(), "zip", { extractDir: "/numalign" });
  }
  python.FS.writeFile("/numalign/bridge.py", await (await source).text());
  python.runPython("import sys; sys.path.insert(0, '/numalign'); sys.dont_write_bytecode = True");
  return python.pyimport("bridge");
}

async function fetched(name) {
  const found = await fetch(new URL(name, import.meta.url));
  if (!found.ok) throw new Error(`${name}: ${found.status}`);
  return found;
}

onmessage = async ({ data }) => {
  newest = data.id;
  const python = await bridge.catch(() => null);
  if (python === null || data.id !== newest) return;
  try {
    await answer(python, data);
  } catch (error) {
    postMessage({ kind: "failed", id: data.id, error: String(error) });
  }
};

async function answer(python, { id, question, change }) {
  const text = JSON.stringify(question);
  if (change) {
    postMessage({ kind: "question", id, question: JSON.parse(python.applied(text, JSON.stringify(change))) });
    return;
  }
  postMessage({ kind: "answer", id, ...JSON.parse(python.answer(text)) });
  await pause();
  if (id !== newest) return;
  const found = question.command === "explain" ? JSON.parse(python.fixes(JSON.parse(python.answer(text, "json")).out)) : [];
  postMessage({ kind: "fixes", id, fixes: found });
  await pause();
  if (id !== newest) return;
  postMessage({ kind: "picture", id, picture: JSON.parse(python.answer(text, "svg")).out });
}

// Lets messages in that came meanwhile.
function pause() {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
