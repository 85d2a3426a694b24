// Keeps the playground's files, so that it works offline once it has answered. `build.json` names them; another build has
// another name, and what an older one kept is dropped.

async function build() {
  return (await fetch("build.json", { cache: "no-store" })).json();
}

self.addEventListener("install", (event) => {
  event.waitUntil(
    (async () => {
      const { name, files } = await build();
      const cache = await caches.open(`playground-${name}`);
      await cache.addAll(files);
      await self.skipWaiting();
    })(),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    (async () => {
      const { name } = await build().catch(() => ({ name: null }));
      for (const key of await caches.keys()) {
        if (name !== null && key.startsWith("playground-") && key !== `playground-${name}`) await caches.delete(key);
      }
      await self.clients.claim();
    })(),
  );
});

// The network first for what changes with a build, so that a new one is seen; its copy where there is no network.
self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || new URL(event.request.url).origin !== location.origin) return;
  event.respondWith(
    (async () => {
      const kept = await caches.match(event.request, { ignoreSearch: true });
      if (kept && /\/pyodide-|\.whl$|libraries-/.test(event.request.url)) return kept;
      try {
        return await fetch(event.request);
      } catch (error) {
        if (kept) return kept;
        throw error;
      }
    })(),
  );
});
