// The timeline: newest first, coloured by level, live; older parts are read as one scrolls. With a step chosen it shows
// what had happened until then.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, asError, get, runPath } from "./api";
import { clock, count, dateTime, plain, short } from "./format";
import { fold, type Entry } from "./fold";
import { useData, useKeys } from "./hooks";
import { Icon } from "./icons";
import { useQuery } from "./router";
import type { Feed } from "./run";
import { alikeKinds, steady } from "./steady";
import { HIDDEN, RECORDS } from "./generated";
import type { Line, Moment, MomentKind, Records } from "./types";
import { Card, Empty, Failed, Loading, safe } from "./ui";

const PAGE = 120;
const MOST = 600;
const BATCH_MS = 50;

/** The first part of a timeline without filters. */
export const FIRST_LINES = `/lines?limit=${PAGE}`;
const KINDS = Object.keys(RECORDS) as MomentKind[];
/** A record of a kind that a newer version added is a note. */
const KNOWN = new Set<string>([...Object.values(RECORDS).flat(), ...HIDDEN]);

interface Page {
  lines: Line[];
  more: boolean;
  last: number;
}

export const Timeline = steady(WholeTimeline, alikeKinds);

function WholeTimeline({ runId, feed, counts }: { runId: string; feed: Feed; counts: Record<string, number> }) {
  const [text, setText] = useQuery("find");
  const [kinds, setKinds] = useQuery("kinds");
  const [step, setStep] = useQuery("step");
  const [all, setAll] = useQuery("all");
  const chosen = useMemo(() => new Set(kinds.split(",").filter(Boolean)), [kinds]);
  const { lines, more, loading, error, older, again } = useLines(runId, feed, chosen, text, step);
  const [at, setAt] = useState<number | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const quiet = !!(all || chosen.size || text);
  const shown = useMemo(() => fold(lines, quiet), [lines, quiet]);
  const index = shown.findIndex((entry) => entry.line.seq === at);

  const move = (by: number) => {
    const next = shown[Math.max(0, Math.min(shown.length - 1, (index < 0 ? -1 : index) + by))];
    if (!next) return;
    setAt(next.line.seq);
    requestAnimationFrame(() => document.getElementById(`line-${next.line.seq}`)?.querySelector("summary")?.focus());
  };
  useKeys({ "/": () => search.current?.focus(), j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) });

  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const mark = end.current;
    if (!mark || !more) return;
    const watch = new IntersectionObserver((seen) => seen.some((s) => s.isIntersecting) && older(), { rootMargin: "400px" });
    watch.observe(mark);
    return () => watch.disconnect();
  }, [more, older]);

  const toggle = (kind: string) => {
    const next = new Set(chosen);
    if (next.has(kind)) next.delete(kind);
    else next.add(kind);
    setKinds([...next].join(","));
  };

  return (
    <Card title="Timeline" class="timeline-card" aside={<span class="dim">newest first</span>}>
      {step && (
        <p class="until" role="status">
          As it was at step {count(Number(step))}.{" "}
          <button type="button" class="text-button" onClick={() => setStep("", true)}>
            Show the newest
          </button>
        </p>
      )}
      <div class="toolbar timeline-tools">
        <label class="search">
          <Icon name="search" />
          <span class="hidden-heading">Search the timeline</span>
          <input ref={search} type="search" placeholder="Search the timeline…" value={text} onInput={(e) => setText(e.currentTarget.value)} />
          <kbd>/</kbd>
        </label>
        <div class="chips" role="group" aria-label="Kinds of moments">
          {KINDS.filter((kind) => present(kind, counts) || chosen.has(kind)).map((kind) => (
            <button type="button" key={kind} class={`chip chip-${kind}`} aria-pressed={chosen.has(kind)} onClick={() => toggle(kind)}>
              <Icon name={kind} /> {kind}
            </button>
          ))}
          {chosen.size > 0 ? (
            <button type="button" class="text-button" onClick={() => setKinds("")}>
              all kinds
            </button>
          ) : (
            <button type="button" class="chip" aria-pressed={!!all} onClick={() => setAll(all ? "" : "1")}>
              everything
            </button>
          )}
        </div>
      </div>
      {error && !lines.length ? (
        <Failed error={error} again={again} />
      ) : loading && !lines.length ? (
        <Loading what="Reading the timeline" />
      ) : !lines.length ? (
        <Empty title={text || chosen.size ? "Nothing fits" : "Nothing has happened yet"}>
          {text || chosen.size
            ? "No moment of this run matches the search and the chosen kinds."
            : "The first step appears here as soon as the agent says or does something."}
        </Empty>
      ) : (
        <ol class="lines">
          {shown.map((entry) => (
            <LineItem key={entry.line.seq} runId={runId} {...entry} />
          ))}
        </ol>
      )}
      <div ref={end} class="lines-end">
        {loading && lines.length > 0 && <Loading what="Reading what came before" />}
        {error && lines.length > 0 && <Failed error={error} again={older} />}
        {!more && lines.length > 0 && <span class="dim">the beginning</span>}
      </div>
    </Card>
  );
}

function useLines(runId: string, feed: Feed, kinds: Set<string>, text: string, step: string) {
  const [lines, setLines] = useState<Line[]>([]);
  const [more, setMore] = useState(false);
  const [loading, setLoading] = useState(true);
  const [error, setError] = useState<ApiError | undefined>();
  const [turn, setTurn] = useState(0);
  const busy = useRef(false);
  const key = [...kinds].sort().join(",");
  const query = (key ? `&kinds=${encodeURIComponent(key)}` : "") + (text ? `&text=${encodeURIComponent(text)}` : "");
  const until = step ? `&step=${encodeURIComponent(step)}` : "";

  useEffect(() => {
    const stop = new AbortController();
    const early: Line[] = [];
    let read = false;
    const fits = (line: Line) =>
      (!kinds.size || kinds.has(line.kind)) && (!text || `${line.title} ${line.detail ?? ""}`.toLowerCase().includes(text.toLowerCase()));
    const add = (news: Line[]) => setLines((before) => join(before, news.filter(fits)));
    let batch = 0;
    const flush = () => {
      batch = 0;
      if (read) add(early.splice(0));
    };
    const unhear = feed.listen((news) => {
      if (step) return;
      early.push(...news);
      batch ||= window.setTimeout(flush, BATCH_MS);
    });
    busy.current = false;
    setLoading(true);
    setLines([]);
    const timer = setTimeout(
      () =>
        get<Page>(runPath(runId, `/lines?limit=${PAGE}${query}${until}`), stop.signal).then(
          (page) => {
            read = true;
            setLines(page.lines);
            flush();
            setMore(page.more);
            setError(undefined);
            setLoading(false);
          },
          (raw: unknown) => {
            if (stop.signal.aborted) return;
            setError(asError(raw));
            setLoading(false);
          },
        ),
      text ? 200 : 0,
    );
    return () => {
      clearTimeout(timer);
      clearTimeout(batch);
      stop.abort();
      unhear();
    };
  }, [runId, feed, key, text, step, turn]);

  const older = () => {
    const first = lines[0];
    if (busy.current || !first || !more) return;
    busy.current = true;
    setLoading(true);
    get<Page>(runPath(runId, `/lines?limit=${PAGE}&before=${first.seq}${query}`)).then(
      (page) => {
        setLines((before) => [...page.lines.filter((line) => line.seq < (before[0]?.seq ?? Infinity)), ...before]);
        setMore(page.more);
        setError(undefined);
        setLoading(false);
        busy.current = false;
      },
      (raw: unknown) => {
        setError(asError(raw));
        setLoading(false);
        busy.current = false;
      },
    );
  };
  return { lines, more, loading, error, older, again: () => setTurn((n) => n + 1) };

  function join(before: Line[], news: Line[]): Line[] {
    const last = before[before.length - 1]?.seq ?? 0;
    const added = news.filter((line) => line.seq > last);
    if (!added.length) return before;
    const all = [...before, ...added];
    if (all.length <= MOST) return all;
    // What falls off at the far end can be read again.
    setMore(true);
    return all.slice(-MOST);
  }
}

const LineItem = steady(OneLine);

function OneLine({ runId, line, result, times, earlier }: { runId: string } & Entry) {
  const [open, setOpen] = useState(false);
  const rung = /^rung-(\d)$/.exec(line.look ?? "")?.[1];
  const icon = line.kind === "step" ? line.look || "tool" : line.kind === "review" ? (line.level === "critical" ? "block" : "review") : line.kind;
  const level = result && line.kind === "step" ? result.level : line.level;
  const said = result ? result.title : line.detail && !line.title.includes(line.detail.trim()) ? line.detail : "";
  return (
    <li id={`line-${line.seq}`} class={`line level-${safe(level)} kind-${safe(line.kind)}${rung ? ` rung-${rung}` : ""}`}>
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <time class="line-time" title={dateTime(line.time)}>
            {clock(line.time)}
          </time>
          <span class="line-step">{line.step != null ? count(line.step) : ""}</span>
          <span class="line-icon">
            <Icon name={icon} label={line.kind === "step" ? plain(line.look || "step") : icon} />
          </span>
          <span class="line-text">
            <span class="line-title">
              {line.title}
              {times > 1 && <span class="line-times">×{times}</span>}
            </span>
            {said && !open && <span class="line-detail">{said}</span>}
          </span>
          <span class="line-meta">{meta(line, result)}</span>
        </summary>
        {open && (
          <>
            <Whole runId={runId} line={line} />
            {result && <Whole runId={runId} line={result} />}
            {earlier.length > 0 && <p class="line-earlier dim">Also at step {earlier.map((step) => count(step)).join(", ")}.</p>}
          </>
        )}
      </details>
    </li>
  );
}

/** How long a call took, and what the model used for it. */
function meta(line: Line, result?: Line): string {
  const tokens = (line.tokens ?? 0) + (result?.tokens ?? 0);
  const ms = result ? (result.ms ?? line.ms ?? (result.time - line.time) * 1000) : line.ms;
  const took = ms == null ? "" : ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  return [took, tokens ? `${short(tokens)} tokens` : ""].filter(Boolean).join(" · ");
}

function Whole({ runId, line }: { runId: string; line: Line }) {
  const { data, error, loading, again } = useData<Moment>(runPath(runId, `/lines/${line.seq}`));
  return (
    <div class="line-whole">
      {line.detail && <pre class="block">{data?.detail ?? line.detail}</pre>}
      {data && <Shot runId={runId} moment={data} />}
      {error && <Failed error={error} again={again} />}
      {loading && !data && <Loading what="Reading the record" />}
      {data && (
        <details class="record">
          <summary>Record {line.seq} as it is in the journal</summary>
          <pre class="block">{JSON.stringify(data.data, null, 2)}</pre>
        </details>
      )}
    </div>
  );
}

/** The picture that a record of a GUI session speaks of. */
function Shot({ runId, moment }: { runId: string; moment: Moment }) {
  const path = moment.record === "gui_event" && (moment.data as Records["gui_event"]).screenshot_path;
  const name = path ? path.split("/").pop() : "";
  if (!name) return null;
  return <img class="shot" src={runPath(runId, `/pictures/${encodeURIComponent(name)}`)} alt="The screen at this moment" loading="lazy" />;
}

function present(kind: MomentKind, counts: Record<string, number>): boolean {
  return RECORDS[kind].some((name) => counts[name]) || (kind === "note" && Object.keys(counts).some((name) => !KNOWN.has(name)));
}
