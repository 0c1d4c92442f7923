// A stream of events that comes back by itself: after a restart of the server, a lost network, a hidden tab.

import { ApiError, asError, get } from "./api";

export type LinkState = "connecting" | "live" | "lost" | "refused";

export interface Link {
  state: LinkState;
  error?: ApiError;
}

type Handlers = Record<string, (data: never) => void>;

const PAUSES_MS = [300, 600, 1_000, 2_000, 3_000];
const HIDDEN_MS = 20_000;

/** Open a stream; `url` is asked each time anew, so that it can go on where it ended. Returns how to close it. */
export function openStream(url: () => string, probe: string, on: Handlers, tell: (link: Link) => void): () => void {
  let source: EventSource | null = null;
  let timer = 0;
  let tries = 0;
  let closed = false;

  const close = () => {
    source?.close();
    source = null;
    clearTimeout(timer);
  };

  const open = () => {
    close();
    if (closed) return;
    const mine = (source = new EventSource(url()));
    mine.addEventListener("hello", () => {
      tries = 0;
      tell({ state: "live" });
    });
    for (const [name, handle] of Object.entries(on)) {
      mine.addEventListener(name, (event) => handle(JSON.parse((event as MessageEvent<string>).data) as never));
    }
    mine.onerror = () => {
      if (source === mine) void lose();
    };
  };

  const lose = async () => {
    close();
    // A stream does not say why it was refused; asking once more does.
    try {
      await get(probe);
      tell({ state: "lost" });
    } catch (raw) {
      const error = asError(raw);
      if (closed) return;
      // A server that knows no such run is there all the same.
      tell({ state: error.status === 404 ? "live" : error.status >= 400 && error.status < 500 ? "refused" : "lost", error });
    }
    if (closed || source) return;
    timer = window.setTimeout(open, PAUSES_MS[Math.min(tries++, PAUSES_MS.length - 1)]);
  };

  const onVisible = () => {
    clearTimeout(timer);
    if (document.hidden) timer = window.setTimeout(close, HIDDEN_MS);
    else if (!source) open();
  };

  const onOnline = () => {
    if (!source) open();
  };

  tell({ state: "connecting" });
  open();
  document.addEventListener("visibilitychange", onVisible);
  window.addEventListener("online", onOnline);
  return () => {
    closed = true;
    close();
    document.removeEventListener("visibilitychange", onVisible);
    window.removeEventListener("online", onOnline);
  };
}
