// The address holds the question: "#1." and the JSON of it, deflated, in base64url. A later form gets another number;
// this one is read for good. Whatever stands there is a stranger's: every size is bounded before and after.

const VERSION = "1";
export const LONGEST_ADDRESS = 64_000;
const LONGEST_TEXT = 1_500_000;
const TEXTS = { command: 20, pod: 256_000, machine: 200, machineText: 1_000_000, kubelet: 64_000, beside: 1_000_000 };

export async function encode(question) {
  const stream = new Blob([JSON.stringify(question)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const code = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return `#${VERSION}.${code}`;
}

// Gives the question, or null where the address has none; throws where it cannot be read.
export async function decode(hash) {
  if (!hash || hash === "#") return null;
  const found = /^#(\d+)\.([A-Za-z0-9_-]+)$/.exec(hash);
  if (!found || hash.length > LONGEST_ADDRESS) throw new Error("this link is damaged or too long");
  if (found[1] !== VERSION) throw new Error("this link is from a newer playground: reload the page");
  const bytes = Uint8Array.from(atob(found[2].replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
  return bounded(JSON.parse(await inflated(bytes)));
}

async function inflated(bytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const text = new TextDecoder("utf-8", { fatal: true });
  let result = "";
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return result + text.decode();
    size += value.length;
    if (size > LONGEST_TEXT) throw new Error("this link holds too much");
    result += text.decode(value, { stream: true });
  }
}

// Takes what a question may hold and drops the rest.
export function bounded(data) {
  if (data === null || typeof data !== "object" || Array.isArray(data)) throw new Error("this link holds no question");
  const question = { flags: {}, sets: [] };
  for (const [name, most] of Object.entries(TEXTS)) {
    const text = typeof data[name] === "string" ? data[name] : "";
    if (text.length > most) throw new Error(`${name}: more than ${most} characters`);
    question[name] = text;
  }
  const flags = data.flags !== null && typeof data.flags === "object" ? Object.entries(data.flags) : [];
  for (const [name, value] of flags.slice(0, 40)) {
    if (/^[a-z-]{1,40}$/.test(name) && typeof value === "string" && value.length <= 2000) question.flags[name] = value;
  }
  const sets = Array.isArray(data.sets) ? data.sets : [];
  question.sets = sets.filter((one) => typeof one === "string" && one.length <= 500).slice(0, 40);
  return question;
}
