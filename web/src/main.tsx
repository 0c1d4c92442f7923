// The page: its frame, and which part is shown.

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { get } from "./api";
import { applyTheme, readTheme, type Theme, useKeys, usePageTitle } from "./hooks";
import { Icon } from "./icons";
import { Incident, Incidents } from "./incidents";
import { Overview } from "./overview";
import { go, Link, type Route, useRoute } from "./router";
import { RunPage } from "./run";
import type { Link as LinkInfo } from "./stream";
import { Dialog, Empty, Toasts } from "./ui";

const INBOX_MS = 15_000;
const THEMES: Theme[] = ["auto", "light", "dark"];
const THEME_ICON: Record<Theme, string> = { auto: "auto", light: "sun", dark: "moon" };

function App() {
  const route = useRoute();
  const [link, setLink] = useState<LinkInfo>({ state: "connecting" });
  const [theme, setTheme] = useState<Theme>(readTheme());
  const [help, setHelp] = useState(false);
  const [leading, setLeading] = useState(false);
  const [locked, setLocked] = useState(false);
  const [needs, setNeeds] = useState<number | null>(null);
  useEffect(() => applyTheme(theme), [theme]);
  useEffect(() => {
    const lock = () => setLocked(true);
    window.addEventListener("interlock-locked", lock);
    return () => window.removeEventListener("interlock-locked", lock);
  }, []);
  // The overview hears of it at once; other pages ask now and then.
  useEffect(() => {
    if (route.page === "runs" || locked) return;
    const ask = () => get<{ items: unknown[] }>("/api/inbox").then((inbox) => setNeeds(inbox.items.length), () => {});
    void ask();
    const timer = setInterval(ask, INBOX_MS);
    return () => clearInterval(timer);
  }, [route.page, locked]);
  const turn = () => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!);
  useKeys({
    "?": () => setHelp(true),
    t: turn,
    g: () => {
      setLeading(true);
      setTimeout(() => setLeading(false), 1_000);
    },
    u: () => go("/"),
    ...(leading ? { i: () => go("/incidents") } : {}),
  });
  const streams = route.page === "runs" || route.page === "run";
  if (locked) return <Locked />;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <Link href="/" class="brand">
          <Mark /> Interlock
        </Link>
        <nav class="top-nav" aria-label="Pages">
          <Link href="/" aria-current={route.page === "runs" || route.page === "run" ? "page" : undefined}>
            Runs
            {!!needs && (
              <span class="badge" title={`${needs} need you`}>
                {needs}
                <span class="hidden-heading"> need you</span>
              </span>
            )}
          </Link>
          <Link href="/incidents" aria-current={route.page === "incidents" || route.page === "incident" ? "page" : undefined}>
            Incidents
          </Link>
        </nav>
        <span class="top-space" />
        {streams && <LinkSign link={link} />}
        <button type="button" class="icon-button" onClick={turn} aria-label={`Colours: ${theme}. Change`} title={`Colours: ${theme}`}>
          <Icon name={THEME_ICON[theme]} />
        </button>
        <button type="button" class="icon-button keys-button" onClick={() => setHelp(true)} aria-label="Keyboard" title="Keyboard (?)">
          <Icon name="keyboard" />
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        <Page route={route} tell={setLink} needs={setNeeds} />
      </main>
      <Toasts />
      {help && <Keyboard onClose={() => setHelp(false)} />}
    </>
  );
}

function Page({ route, tell, needs }: { route: Route; tell: (link: LinkInfo) => void; needs: (count: number | null) => void }) {
  switch (route.page) {
    case "runs":
      return <Overview tell={tell} needs={needs} />;
    case "run":
      return <RunPage key={route.runId} runId={route.runId} tab={route.tab} tell={tell} />;
    case "incidents":
      return <Incidents />;
    case "incident":
      return <Incident key={route.id} id={route.id} />;
    default:
      return (
        <Empty title="There is no such page">
          <Link href="/">All runs</Link>
        </Empty>
      );
  }
}

function LinkSign({ link }: { link: LinkInfo }) {
  const words = { connecting: "connecting…", live: "live", lost: "reconnecting…", refused: "refused" }[link.state];
  return (
    <span class={`link link-${link.state}`} role="status" title={link.error?.message}>
      <span class="dot" aria-hidden="true" /> {words}
    </span>
  );
}

function Locked() {
  usePageTitle("Token needed");
  const [text, setText] = useState("");
  return (
    <main class="locked">
      <Mark />
      <h1>This dashboard needs its token</h1>
      <p>
        Open the address that <code>interlock web</code> printed in its first line, or paste it here.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const token = /token=([^&\s]+)/.exec(text)?.[1] ?? encodeURIComponent(text.trim());
          location.href = `${location.pathname}?token=${token}`;
        }}
      >
        <label class="field">
          Address or token
          <input value={text} onInput={(event) => setText(event.currentTarget.value)} autofocus autocomplete="off" />
        </label>
        <button type="submit" class="button primary">
          Open
        </button>
      </form>
    </main>
  );
}

const KEYS: [string, string][] = [
  ["?", "this list"],
  ["/", "search"],
  ["j k", "next, previous"],
  ["Enter", "open"],
  ["u", "all runs"],
  ["g i", "incidents"],
  ["p", "pause or resume"],
  ["e", "escalate"],
  ["c", "cancel"],
  ["a x", "approve or reject the pending step; Enter confirms"],
  ["1 2 3 4 5", "timeline, files, screens, details, output"],
  ["t", "colours"],
  ["Esc", "close"],
];

function Keyboard({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="pairs keys">
        {KEYS.map(([key, words]) => (
          <div key={key}>
            <dt>
              {key.split(" ").map((each) => (
                <kbd key={each}>{each}</kbd>
              ))}
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <circle cx="12.4" cy="16" r="6.6" />
      <path d="M13.3 19.6a6.6 6.6 0 1 1 3.2 2.2" />
    </svg>
  );
}

applyTheme(readTheme());
render(<App />, document.getElementById("app")!);
