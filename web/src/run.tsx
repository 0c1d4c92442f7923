// A run's page: its head, its controls, and below them timeline, files, screens, details or output.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { prefetch, runPath } from "./api";
import { Charts, SERIES } from "./charts";
import { ControlBar, ControlHistory, Waits } from "./controls";
import { Details } from "./details";
import { Episodes } from "./episodes";
import { Files } from "./files";
import { count, dollars, isLive, short, span, spend } from "./format";
import { useKeys, useNow, usePageTitle } from "./hooks";
import { Ladder } from "./ladder";
import { Output } from "./output";
import { Proof } from "./proof";
import { go, incidentHref, Link, runHref, TABS } from "./router";
import { Screens } from "./screens";
import { type Link as LinkInfo, openStream } from "./stream";
import { FIRST_LINES, Timeline } from "./timeline";
import type { Head, Line } from "./types";
import { Banner, Failed, Loading, Meter, Status } from "./ui";

export interface Feed {
  /** Hear of new lines; returns how to stop. */
  listen: (hear: (lines: Line[]) => void) => () => void;
}

const TAB_WORDS: Record<string, string> = { timeline: "Timeline", files: "Files", screens: "Screens", details: "Details", output: "Output" };

export function RunPage({ runId, tab, tell }: { runId: string; tab: string; tell: (link: LinkInfo) => void }) {
  const { head, link, feed } = useRun(runId, tab, tell);
  const shown = head?.status.shown ?? "";
  usePageTitle(head ? `${head.summary.name || runId} (${shown})` : runId);
  const tabs = TABS as readonly string[];
  const current = tabs.includes(tab) ? tab : "timeline";
  useKeys(Object.fromEntries(tabs.map((name, at) => [String(at + 1), () => go(runHref(runId, name), true)])));

  if (!head) {
    if (link.error)
      return (
        <Failed error={link.error}>
          <Link href="/">All runs</Link>
        </Failed>
      );
    return <Loading what="Reading the run" />;
  }
  const open = head.incidents.filter((incident) => incident.status === "open");
  return (
    <>
      <RunHead head={head} />
      {head.status.problem && (
        <Banner level="critical" icon="issue" title="The journal cannot be read any more">
          <p>{head.status.problem} What was read before is still shown.</p>
        </Banner>
      )}
      {head.summary.unstopped && (
        <Banner level="critical" icon="issue" title={head.summary.ended ? "Not every process has ended" : "Not every process is frozen"}>
          <p>{head.summary.unstopped}</p>
        </Banner>
      )}
      {shown === "lost" && (
        <Banner level="critical" icon="question" title="This run is not supervised">
          <p>
            Its owner is gone. Requests wait until it comes back; whether the agent is still working is unknown. See{" "}
            <code>interlock doctor</code>.
          </p>
        </Banner>
      )}
      {open.map((incident) => (
        <Banner key={incident.id} level="critical" icon="incident" title="Emergency stop">
          <p>{incident.summary}</p>
          <Link class="button primary" href={incidentHref(incident.id)}>
            Choose how to continue
          </Link>
        </Banner>
      ))}
      <Waits head={head} />
      <Proof proof={head.proof} />
      <Facts head={head} />
      <div class="run-grid">
        <div class="run-main">
          <nav class="tabs" aria-label="Parts of the run">
            {tabs.map((name) => (
              <Link key={name} href={runHref(runId, name)} class="tab" aria-current={name === current ? "page" : undefined}>
                {TAB_WORDS[name]}
              </Link>
            ))}
          </nav>
          {current === "timeline" && (
            <>
              <Charts runId={runId} feed={feed} summary={head.summary} />
              <Timeline runId={runId} feed={feed} counts={head.counts} />
            </>
          )}
          {current === "files" && <Files runId={runId} head={head} />}
          {current === "screens" && <Screens runId={runId} feed={feed} />}
          {current === "details" && <Details runId={runId} head={head} />}
          {current === "output" && <Output runId={runId} live={isLive(shown)} />}
        </div>
        <aside class="run-side" aria-label="Interventions and controls">
          <Episodes episodes={head.episodes} issues={head.issues} total={head.summary.issues} />
          <Ladder interventions={head.interventions} total={head.summary.interventions} live={isLive(shown)} />
          <ControlHistory controls={head.controls} live={isLive(shown)} />
        </aside>
      </div>
    </>
  );
}

function useRun(runId: string, tab: string, tell: (link: LinkInfo) => void) {
  const [head, setHead] = useState<Head | null>(null);
  const [link, setLink] = useState<LinkInfo>({ state: "connecting" });
  const hearers = useRef(new Set<(lines: Line[]) => void>());
  const last = useRef<number | null>(null);
  const listen = useCallback((hear: (lines: Line[]) => void) => {
    hearers.current.add(hear);
    return () => void hearers.current.delete(hear);
  }, []);
  useEffect(() => {
    setHead(null);
    last.current = null;
    if (tab === "timeline" && !location.search) {
      prefetch(runPath(runId, FIRST_LINES));
      prefetch(runPath(runId, SERIES));
    }
    return openStream(
      () => runPath(runId, `/events${last.current === null ? "" : `?after=${last.current}`}`),
      runPath(runId),
      {
        at: ({ seq }: { seq: number }) => {
          last.current ??= seq;
        },
        head: (parts: Partial<Head>) => setHead((before) => ({ ...(before ?? {}), ...parts }) as Head),
        lines: (lines: Line[]) => {
          last.current = Math.max(last.current ?? 0, lines[lines.length - 1]!.seq);
          for (const hear of hearers.current) hear(lines);
        },
      },
      (now) => {
        setLink(now);
        tell(now);
      },
    );
  }, [runId]);
  const feed = useMemo<Feed>(() => ({ listen }), [listen]);
  return { head, link, feed };
}

function RunHead({ head }: { head: Head }) {
  const { summary, spec } = head;
  return (
    <header class="run-head">
      <div class="run-title">
        <p class="crumbs">
          <Link href="/">Runs</Link> <span aria-hidden="true">/</span> <span class="mono">{summary.run_id}</span>
        </p>
        <h1>
          {summary.name || "Unnamed run"} <Status status={head.status.shown} outcome={head.status.outcome} />
        </h1>
        {summary.task && <p class="run-task-full">{spec.task || summary.task}</p>}
        {spec.continues && (
          <p class="dim">
            Continues <Link href={runHref(spec.continues)}>{spec.continues}</Link> after its emergency stop.
          </p>
        )}
      </div>
      <ControlBar head={head} />
    </header>
  );
}

function Facts({ head }: { head: Head }) {
  const { summary } = head;
  const live = isLive(head.status.shown);
  const held = head.status.shown === "paused";
  const now = useNow(1_000);
  const end = summary.ended ?? (live ? now : summary.updated);
  return (
    <dl class="facts">
      <Fact name="Calls" value={summary.max !== null ? `${count(summary.iter)} of ${count(summary.max)}` : count(summary.iter)}>
        <Meter value={summary.iter} most={summary.max} label="Calls used" />
      </Fact>
      <Fact name="Model" value={summary.model ?? "not known"} />
      <Fact name="Steps" value={count(summary.steps)} />
      <Fact name="Issues" value={count(summary.issues)} level={summary.issues ? "notice" : ""} />
      <Fact name="Interventions" value={count(summary.interventions)} level={summary.interventions ? "warning" : ""} />
      <Fact name="Tokens" value={short(summary.tokens)} />
      <Fact name="Spend" value={spend(summary.cost_usd, summary.unpriced_tokens) + (summary.max_cost_usd !== null ? ` of ${dollars(summary.max_cost_usd)}` : "")}>
        <Meter value={summary.cost_usd} most={summary.max_cost_usd} label="Budget used" />
      </Fact>
      <Fact name={held ? "Started" : live ? "Running for" : "Took"} value={span(end - summary.started) + (held ? " ago, now paused" : "")} />
    </dl>
  );
}

function Fact(props: { name: string; value: string; level?: string; children?: preact.ComponentChildren }) {
  return (
    <div class={`fact ${props.level ? `fact-${props.level}` : ""}`}>
      <dt>{props.name}</dt>
      <dd>
        {props.value}
        {props.children}
      </dd>
    </div>
  );
}
