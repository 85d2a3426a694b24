// The page: fields to a question, the question to the worker and into the address, answers back as text and picture.
// Texts of people are only ever set as text; a picture is shown as an image, in which no script runs.

import { LONGEST_ADDRESS, bounded, decode, encode } from "./address.js";

const WAIT = 300; // milliseconds after the last key
const LONGEST_RUN = 30_000;
const ENDS = {
  0: ["good", "Exit status 0: the answer is yes."],
  1: ["bad", "Exit status 1: the answer is no."],
  2: ["bad", "Exit status 2: the input is wrong."],
  4: ["bad", "Exit status 4: the kubelet does not start, or does not come back."],
};

const root = document.documentElement;
const at = (id) => document.getElementById(id);
const flagged = [...document.querySelectorAll("[data-flag]")];
const folded = [...document.querySelectorAll("details")];

let worker = null;
let number = 0;
let timer = 0;
let watchdog = 0;
let sets = [];
let other = {}; // flags of a fix that have no field of their own
let command = "";
let before = null;
let url = "";

function question() {
  const flags = { ...other };
  for (const field of flagged) if (field.value) flags[field.dataset.flag] = field.value;
  const name = at("machine-name").value;
  return {
    command: at("command").value,
    pod: at("pod").value,
    machine: name,
    machineText: name ? "" : at("machine-text").value,
    kubelet: at("kubelet").value,
    beside: at("beside").value,
    flags,
    sets,
  };
}

function show(asked) {
  at("command").value = asked.command || "explain";
  at("pod").value = asked.pod;
  choose(at("machine-name"), asked.machineText ? "" : asked.machine);
  at("machine-text").value = asked.machineText;
  at("kubelet").value = asked.kubelet;
  at("beside").value = asked.beside;
  sets = [...asked.sets];
  other = { ...asked.flags };
  for (const field of flagged) {
    choose(field, asked.flags[field.dataset.flag] ?? "");
    delete other[field.dataset.flag];
  }
  for (const part of folded) {
    if ([...part.querySelectorAll("input, textarea")].some((field) => field.value)) part.open = true;
  }
  at("paste").hidden = Boolean(at("machine-name").value);
}

// Sets a field; what a list does not have is added to it.
function choose(field, value) {
  if (field.tagName === "SELECT" && ![...field.options].some((one) => one.value === value)) field.add(new Option(value, value));
  field.value = value;
}

function open() {
  worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => heard[data.kind](data);
  worker.onerror = (event) => heard.failed({ id: number, error: event.message || "the worker does not load" });
}

function ask(change) {
  clearTimeout(timer);
  clearTimeout(watchdog);
  number += 1;
  if (root.dataset.state !== "loading") root.dataset.state = "running";
  worker.postMessage({ id: number, question: question(), change });
  if (root.dataset.state !== "loading") watchdog = setTimeout(late, LONGEST_RUN);
}

function late() {
  worker.terminate();
  root.dataset.state = "loading";
  open();
  say("bad", `No answer after ${LONGEST_RUN / 1000} s: the run was ended. Change the question, or run it on the command line.`);
}

function soon() {
  at("paste").hidden = Boolean(at("machine-name").value);
  clearTimeout(timer);
  timer = setTimeout(ask, WAIT);
}

function say(verdict, text) {
  root.dataset.verdict = verdict;
  at("status").textContent = text;
}

function print(id, text) {
  at(id).textContent = text;
  at(id).hidden = id === "notes" && !text;
}

const heard = {
  ready() {
    root.dataset.state = "ready";
    ask();
  },
  answer({ id, status, out, err, command: text }) {
    if (id !== number) return;
    print("answer", out);
    print("notes", err);
    const [verdict, meaning] = ENDS[status] ?? ["bad", `Exit status ${status}: a bug of numalign.`];
    say(verdict, meaning);
    command = text;
    keep();
  },
  fixes({ id, fixes }) {
    if (id !== number) return;
    const list = at("fixes").querySelector("ul");
    list.replaceChildren(...fixes.map(button));
    at("fixes").hidden = fixes.length === 0;
  },
  picture({ id, picture }) {
    if (id !== number) return;
    clearTimeout(watchdog);
    if (url) URL.revokeObjectURL(url);
    url = picture ? URL.createObjectURL(new Blob([picture], { type: "image/svg+xml" })) : "";
    at("picture").hidden = !url;
    if (url) at("picture").src = url;
    at("picture").alt = url ? `The machine with the pod's CPUs and devices. ${at("answer").textContent.slice(0, 300)}` : "";
    root.dataset.state = "answered";
    rest();
  },
  question({ id, question: changed }) {
    if (id !== number) return;
    before = question();
    at("reset").hidden = false;
    show(bounded(changed));
    ask();
  },
  failed({ error }) {
    clearTimeout(watchdog);
    root.dataset.state = "failed";
    say("bad", `The playground cannot run here: ${error}. The same question on the command line: pipx install numalign`);
  },
};

function button(fix) {
  const item = document.createElement("li");
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = fix.text;
  made.onclick = () => ask(fix.change);
  item.append(made);
  return item;
}

async function keep() {
  const hash = await encode(question());
  if (hash.length <= LONGEST_ADDRESS) history.replaceState(null, "", hash);
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    at("status").textContent = `${what} copied.`;
  } catch {
    at("status").textContent = `The browser does not let the page copy. ${what}: ${text}`;
  }
}

async function link() {
  const hash = await encode(question());
  if (hash.length > LONGEST_ADDRESS) return say("bad", "This question is too long for a link: shorten the pasted machine.");
  return copy(location.origin + location.pathname + hash, "Link");
}

async function restore() {
  try {
    const asked = await decode(location.hash);
    if (asked !== null) show(asked);
    return asked !== null;
  } catch (error) {
    say("bad", `This link cannot be opened: ${error.message}.`);
    return false;
  }
}

// What has time until the first answer is there: the page works offline from then on.
let rested = false;
function rest() {
  if (rested) return;
  rested = true;
  navigator.serviceWorker?.register(new URL("service.js", import.meta.url)).catch(() => undefined);
}

async function main() {
  open();
  const lists = await (await fetch(new URL("lists.json", import.meta.url))).json();
  for (const one of lists.machines) at("machine-name").add(new Option(`${one.name}: ${one.description}`, one.name));
  for (const one of lists.versions) at("version").add(new Option(one, one));
  lists.examples.forEach((one, place) => at("example").add(new Option(one.title, place)));
  if (!(await restore())) show(bounded(lists.examples[0].question));
  at("example").onchange = () => {
    if (at("example").value === "") return;
    show(bounded(lists.examples[Number(at("example").value)].question));
    ask();
  };
  at("question").oninput = (event) => event.target.id !== "example" && soon();
  at("question").onsubmit = (event) => event.preventDefault();
  at("share").onclick = link;
  at("copy-command").onclick = () => copy(command, "Command");
  at("reset").onclick = () => {
    show(before);
    at("reset").hidden = true;
    ask();
  };
  window.onhashchange = async () => (await restore()) && ask();
  if (root.dataset.state === "ready") ask();
}

main();
