// The fleet: all runs, what needs a person first.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { send } from "./actions";
import { ago, doing, dollars, isLive, many, short, span, spend } from "./format";
import { useKeys, useNow, usePageTitle } from "./hooks";
import { Icon } from "./icons";
import { Inbox } from "./inbox";
import { go, Link, runHref, useQuery } from "./router";
import { Spark } from "./spark";
import { steady } from "./steady";
import { type Link as LinkInfo, openStream } from "./stream";
import type { InboxItem, Row, Rows } from "./types";
import { Banner, Empty, Failed, Loading, Meter, say, Status } from "./ui";

const FILTERS = ["all", "live", "waiting", "ended"] as const;
const RANGES: [string, string, number][] = [
  ["", "any time", Infinity],
  ["24h", "24 hours", 86_400],
  ["7d", "7 days", 7 * 86_400],
  ["30d", "30 days", 30 * 86_400],
];
const FIRST = 60;
const BARS = 24;
/** Columns that can be sorted, by how a run fares in them; the first click sorts the largest first. */
const SORTS: Record<string, (row: Row) => number | string> = {
  run: (row) => row.name || row.run_id,
  iteration: (row) => row.iter,
  interventions: (row) => row.interventions,
  spend: (row) => row.cost,
  updated: (row) => row.updated,
};

export function useFleet(tell: (link: LinkInfo) => void) {
  const [rows, setRows] = useState<Map<string, Row> | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [inbox, setInbox] = useState<InboxItem[]>([]);
  const [link, setLink] = useState<LinkInfo>({ state: "connecting" });
  useEffect(
    () =>
      openStream(
        () => "/api/events",
        "/api/about",
        {
          inbox: (news: { items: InboxItem[] }) => setInbox(news.items),
          rows: (news: Rows) => {
            setProblem(news.problem);
            setRows((before) => {
              const next = new Map(news.all ? [] : (before ?? []));
              for (const row of news.rows) next.set(row.run_id, row);
              for (const id of news.gone) next.delete(id);
              return next;
            });
          },
        },
        (now) => {
          setLink(now);
          tell(now);
        },
      ),
    [],
  );
  return { rows, problem, link, inbox };
}

export function Overview({ tell, needs }: { tell: (link: LinkInfo) => void; needs: (count: number | null) => void }) {
  const { rows, problem, link, inbox } = useFleet(tell);
  usePageTitle(inbox.length ? `(${inbox.length}) Runs` : "Runs");
  useEffect(() => needs(rows ? inbox.length : null), [rows, inbox]);
  const [text, setText] = useQuery("q");
  const [filter, setFilter] = useQuery("show");
  const [range, setRange] = useQuery("since");
  const [sort, setSort] = useQuery("sort");
  const [most, setMost] = useState(FIRST);
  const [at, setAt] = useState(-1);
  const search = useRef<HTMLInputElement>(null);
  const now = useNow(5_000);

  const length = RANGES.find(([name]) => name === range)?.[2] ?? Infinity;
  const all = useMemo(() => sortRows([...(rows?.values() ?? [])], sort), [rows, sort]);
  const late = useMemo(() => all.filter((row) => row.updated >= now - length || isLive(row.status)), [all, length, now]);
  const found = useMemo(() => late.filter((row) => fits(row, filter || "all", text)), [late, filter, text]);
  const shown = found.slice(0, most);
  const chosen = shown[at];

  useEffect(() => {
    document.querySelector(".runs tr.chosen")?.scrollIntoView({ block: "nearest" });
  }, [at]);

  useKeys({
    "/": () => search.current?.focus(),
    j: () => setAt(Math.min(shown.length - 1, at + 1)),
    k: () => setAt(Math.max(0, at - 1)),
    ArrowDown: () => setAt(Math.min(shown.length - 1, at + 1)),
    ArrowUp: () => setAt(Math.max(0, at - 1)),
    Enter: () => chosen && go(runHref(chosen.run_id)),
    p: () => chosen && toggle(chosen),
  });

  if (link.state === "refused" && link.error && !rows) return <Failed error={link.error} />;
  if (!rows) {
    if (link.error) return <Failed error={link.error} />;
    return <Loading what="Reading the runs" />;
  }
  return (
    <>
      <h1 class="hidden-heading">Runs</h1>
      {problem && (
        <Banner level="warning" icon="issue" title="The hub does not answer">
          <p>{problem} Runs of this machine are shown.</p>
        </Banner>
      )}
      <Inbox items={inbox} now={now} />
      <Tiles rows={late} now={now} length={length} needs={inbox.length} filter={filter || "all"} choose={setFilter} />
      <div class="toolbar">
        <label class="search">
          <Icon name="search" />
          <span class="hidden-heading">Search runs</span>
          <input
            ref={search}
            type="search"
            placeholder="Search name, task, model, issue…"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") event.currentTarget.blur();
            }}
          />
          <kbd>/</kbd>
        </label>
        <div class="segments" role="group" aria-label="Which runs">
          {FILTERS.map((name) => (
            <button
              type="button"
              key={name}
              class="segment"
              aria-pressed={(filter || "all") === name}
              onClick={() => setFilter(name === "all" ? "" : name)}
            >
              {name}
            </button>
          ))}
        </div>
        <label class="range">
          <span class="hidden-heading">Time range</span>
          <select value={range} onChange={(event) => setRange(event.currentTarget.value)}>
            {RANGES.map(([name, words]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <span class="dim toolbar-count">
          {found.length === all.length ? many(all.length, "run") : `${found.length} of ${many(all.length, "run")}`}
        </span>
      </div>
      {all.length === 0 ? (
        <Empty title="No runs yet">
          Start one in a terminal: <code>interlock run -- claude -p "fix the tests"</code>. It appears here at once. For a
          first look without an agent: <code>interlock demo --keep</code>.
        </Empty>
      ) : found.length === 0 ? (
        <Empty title="No run fits">
          Nothing matches {text ? <q>{text}</q> : "this filter"}.{" "}
          <button
            type="button"
            class="text-button"
            onClick={() => {
              setText("");
              setFilter("");
              setRange("");
            }}
          >
            Show all
          </button>
        </Empty>
      ) : (
        <table class="runs">
          <thead>
            <tr>
              <th scope="col">Status</th>
              <Sorted name="run" words="Run" sort={sort} choose={setSort} />
              <th scope="col" title="The share of recent calls that got further">Useful calls</th>
              <Sorted name="iteration" words="Calls" sort={sort} choose={setSort} />
              <th scope="col">Model</th>
              <th scope="col">Current issue</th>
              <Sorted name="interventions" words="Interventions" sort={sort} choose={setSort} class="number" />
              <Sorted name="spend" words="Spend" sort={sort} choose={setSort} />
              <Sorted name="updated" words="Updated" sort={sort} choose={setSort} />
              <th scope="col">
                <span class="hidden-heading">Control</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              <RunLine key={row.run_id} row={row} now={now} chosen={index === at} />
            ))}
          </tbody>
        </table>
      )}
      {found.length > most && (
        <button type="button" class="button more" onClick={() => setMost(most + 200)}>
          Show {Math.min(200, found.length - most)} more of {found.length}
        </button>
      )}
    </>
  );
}

/** A column's heading that sorts: the largest first, the smallest first, then as before. */
function Sorted({ name, words, sort, choose, ...rest }: { name: string; words: string; sort: string; choose: (sort: string) => void; class?: string }) {
  const way = sort === name ? "descending" : sort === `-${name}` ? "ascending" : undefined;
  const next = way === "descending" ? `-${name}` : way ? "" : name;
  return (
    <th scope="col" aria-sort={way} {...rest}>
      <button type="button" class="sort" onClick={() => choose(next)}>
        {words}
        <span aria-hidden="true">{way === "descending" ? " ▾" : way ? " ▴" : ""}</span>
      </button>
    </th>
  );
}

const RunLine = steady(OneRun);

function OneRun({ row, now, chosen }: { row: Row; now: number; chosen: boolean }) {
  const live = isLive(row.status);
  return (
    <tr class={`${live ? "live" : "ended"}${chosen ? " chosen" : ""}${row.waiting ? " waits" : ""}`} data-run={row.run_id}>
      <td class="cell-status">
        <Status status={row.status} outcome={row.outcome} />
      </td>
      <td class="cell-run">
        <Link href={runHref(row.run_id)} class="run-name">
          {row.name || row.run_id}
        </Link>
        <div class="run-task">{row.problem ?? (row.waiting ? `${row.liveness?.word === "parked" ? doing(row.liveness) : "Needs you"}: ${row.waiting}` : row.liveness?.question ? `Needs you: ${row.liveness.question}` : row.task || row.run_id)}</div>
        {row.liveness && live && (
          <div class={`run-doing dim${row.liveness.wedged ? " bad" : ""}`} title={row.liveness.evidence}>
            {doing(row.liveness)}
          </div>
        )}
        {row.host && <div class="run-host dim">{row.host}</div>}
      </td>
      <td class="cell-spark">
        <Spark values={row.spark} />
      </td>
      <td class="cell-iter" data-label="Calls">
        <span>
          {short(row.iter)}
          {row.max !== null && <span class="dim"> / {short(row.max)}</span>}
        </span>
        <Meter value={row.iter} most={row.max} label="Calls used" />
      </td>
      <td class="cell-model" data-label="Model">
        {row.model ?? <span class="dim">–</span>}
      </td>
      <td class="cell-issue" data-label="Issue">
        {row.issue ? <span class={live ? "issue-now" : "dim"}>{row.issue}</span> : <span class="dim">none</span>}
      </td>
      <td class="cell-answers number" data-label="Interventions">
        {row.interventions ? short(row.interventions) : <span class="dim">0</span>}
      </td>
      <td class="cell-spend" data-label="Spend">
        <span>
          {spend(row.cost, row.unpriced_tokens)}
          {row.max_cost !== null && <span class="dim"> / {dollars(row.max_cost)}</span>}
        </span>
        <Meter value={row.cost} most={row.max_cost} label="Budget used" />
      </td>
      <td class="cell-updated dim" data-label="Updated">
        {ago(row.updated, now)}
      </td>
      <td class="cell-control">
        {live && row.status !== "lost" && (
          <button
            type="button"
            class="icon-button"
            aria-label={`${row.status === "paused" ? "Resume" : "Pause"} ${row.name || row.run_id}`}
            title={row.status === "paused" ? "Resume" : "Pause"}
            onClick={() => toggle(row)}
          >
            <Icon name={row.status === "paused" ? "play" : "pause"} />
          </button>
        )}
      </td>
    </tr>
  );
}

async function toggle(row: Row): Promise<void> {
  if (!isLive(row.status)) return;
  const command = row.status === "paused" || row.status === "pausing" ? "resume" : "pause";
  if (await send(row.run_id, command)) say(`${command} sent to ${row.name || row.run_id}; its page shows the answer.`);
}

interface TilesProps {
  rows: Row[];
  now: number;
  length: number;
  needs: number;
  filter: string;
  choose: (name: string) => void;
}

function Tiles({ rows, now, length, needs, filter, choose }: TilesProps) {
  const live = rows.filter((row) => isLive(row.status));
  const waiting = rows.filter((row) => row.waiting && isLive(row.status));
  const lost = rows.filter((row) => row.status === "lost" || row.status === "unknown");
  const unpriced = rows.some((row) => row.unpriced_tokens);
  const sum = (of: (row: Row) => number) => rows.reduce((total, row) => total + of(row), 0);
  const since = length < Infinity ? now - length : Math.min(now - 3_600, ...rows.map((row) => row.started));
  const tiles: [string, string, string, string, string, ((row: Row) => number)?][] = [
    ["live", "Live", String(live.length), live.length ? "live" : "", live.length ? many(live.filter((r) => r.status === "running").length, "running", "running") : "no live runs"],
    ["waiting", "Needs you", String(needs), needs ? "attention" : "", pending(waiting.length, needs)],
    ["lost", "Lost", String(lost.length), lost.length ? "bad" : "", lost.length ? "not supervised" : "all supervised"],
    ["spend", "Spend", dollars(sum((row) => row.cost)) + (unpriced ? "+" : ""), "", unpriced ? "some at unknown prices" : many(rows.length, "run"), (row) => row.cost],
    ["interventions", "Interventions", short(sum((row) => row.interventions)), "", many(rows.filter((row) => row.interventions).length, "run"), (row) => row.interventions],
  ];
  return (
    <div class="tiles">
      {tiles.map(([key, label, value, level, words, of]) => {
        const target = key === "live" || key === "waiting" ? key : null;
        const inner = (
          <>
            <span class="tile-label">{label}</span>
            <span class="tile-value">{value}</span>
            <span class="tile-words">{words}</span>
            {of && <Trend label={label} rows={rows} of={of} since={since} now={now} />}
          </>
        );
        return target ? (
          <button type="button" key={key} class={`tile tile-${level}`} aria-pressed={filter === target} onClick={() => choose(filter === target ? "" : target)}>
            {inner}
          </button>
        ) : (
          <div key={key} class={`tile tile-${level}`}>
            {inner}
          </div>
        );
      })}
    </div>
  );
}

/** What the inbox holds: live runs that wait for an answer, and what is left of others. */
function pending(waiting: number, needs: number): string {
  if (!needs) return "nothing pending";
  if (waiting >= needs) return `${many(waiting, "run")} waiting`;
  return waiting ? `${waiting} waiting, ${needs - waiting} to review` : `${needs} to review`;
}

/** What runs used, by when they last changed: bars from the beginning of the time range until now. */
function Trend({ label, rows, of, since, now }: { label: string; rows: Row[]; of: (row: Row) => number; since: number; now: number }) {
  const bars = new Array<number>(BARS).fill(0);
  for (const row of rows) {
    const at = Math.floor(((row.updated - since) / (now - since)) * BARS);
    bars[Math.max(0, Math.min(BARS - 1, at))]! += of(row);
  }
  const most = Math.max(...bars);
  if (!most) return null;
  return (
    <svg class="trend" viewBox={`0 0 ${BARS * 4} 28`} preserveAspectRatio="none" role="img" aria-label={`${label} over ${span(now - since)}`}>
      {bars.map((value, at) => (
        <rect key={at} x={at * 4} width={3} y={28 - Math.max(1, (value / most) * 27)} height={Math.max(1, (value / most) * 27)} class={value ? "" : "none"} />
      ))}
    </svg>
  );
}

function fits(row: Row, filter: string, text: string): boolean {
  const live = isLive(row.status);
  if (filter === "live" && !live) return false;
  if (filter === "ended" && live) return false;
  if (filter === "waiting" && !(row.waiting && live)) return false;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return true;
  const all = [row.run_id, row.name, row.task, row.model, row.issue, row.status, row.outcome, row.adapter, row.host].join(" ").toLowerCase();
  return words.every((word) => all.includes(word));
}

function rank(row: Row): number {
  if (row.waiting && isLive(row.status)) return 0;
  if (row.status === "lost" || row.status === "unknown") return 2;
  return isLive(row.status) ? 1 : 3;
}

function sortRows(rows: Row[], sort: string): Row[] {
  const value = SORTS[sort.replace("-", "")];
  const way = sort.startsWith("-") ? -1 : 1;
  return rows.sort(
    (a, b) =>
      (value ? way * compare(value(b), value(a)) : rank(a) - rank(b)) || b.started - a.started || (a.run_id < b.run_id ? 1 : -1),
  );
}

function compare(a: number | string, b: number | string): number {
  // Names read from A to Z first.
  return typeof a === "string" ? String(b).localeCompare(a) : a - Number(b);
}
