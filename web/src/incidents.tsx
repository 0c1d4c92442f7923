// Incidents: what emergency stops left behind, and the four options.

import { useEffect, useState } from "preact/hooks";
import { ApiError, asError, post } from "./api";
import { count, dateTime, dollars, plain, sentence, span, title } from "./format";
import { useData, usePageTitle } from "./hooks";
import { Icon } from "./icons";
import { incidentHref, Link, runHref } from "./router";
import type { IncidentPage, RecoveryOption, StoredIncident, Way } from "./types";
import { Banner, Card, Confirm, Empty, Failed, Loading, safe } from "./ui";

const LOOK_MS = 700;
const LIST_MS = 5_000;

export function Incidents() {
  usePageTitle("Incidents");
  const { data, error, loading, again } = useData<{ incidents: IncidentPage[] }>("/api/incidents");
  useEffect(() => {
    const timer = setInterval(again, LIST_MS);
    return () => clearInterval(timer);
  }, [again]);
  if (error) return <Failed error={error} again={again} />;
  if (loading && !data) return <Loading what="Reading the incidents" />;
  const all = data?.incidents ?? [];
  const open = all.filter((each) => each.incident.status === "open").length;
  return (
    <Card title="Incidents" aside={<span class="dim">{open ? `${open} open` : "none open"}</span>}>
      {all.length === 0 ? (
        <Empty title="No emergency stop so far">
          When nothing milder helps, Interlock stops the run. This page then shows what happened and the four options.
        </Empty>
      ) : (
        <ol class="incident-list">
          {all.map(({ incident, run }) => (
            <li key={incident.incident.id}>
              <Link href={incidentHref(incident.incident.id)} class="incident-link">
                <span class={`pill pill-${incident.status === "open" ? "critical" : "quiet"}`}>{incident.status}</span>
                <span class="incident-words">
                  <strong>{run}</strong>
                  <span>{incident.report.summary}</span>
                </span>
                <span class="dim">{dateTime(incident.incident.time)}</span>
              </Link>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

export function Incident({ id }: { id: string }) {
  const path = `/api/incidents/${encodeURIComponent(id)}`;
  const { data, error, loading, again } = useData<IncidentPage>(path);
  usePageTitle(data ? `Emergency stop of ${data.run}` : "Incident");
  const [last, setLast] = useState<IncidentPage | undefined>();
  useEffect(() => {
    if (data) setLast(data);
  }, [data]);
  const page = data ?? last;
  const starting = page?.way?.state === "starting";
  useEffect(() => {
    if (!starting) return;
    const timer = setInterval(again, LOOK_MS);
    return () => clearInterval(timer);
  }, [starting, again]);
  if (error && !page) return <Failed error={error} again={again} />;
  if (!page) return loading ? <Loading what="Reading the incident" /> : null;
  const { incident, way } = page;
  const { report } = incident;
  const used = report.impact.resources ?? {};
  return (
    <>
      <header class="run-head incident-head">
        <div class="run-title">
          <p class="crumbs">
            <Link href="/incidents">Incidents</Link> <span aria-hidden="true">/</span> <span class="mono">{incident.incident.id}</span>
          </p>
          <h1>
            Emergency stop of {page.run} <span class={`pill pill-${incident.status === "open" ? "critical" : "quiet"}`}>{incident.status}</span>
          </h1>
          <p class="run-task-full">{report.summary}</p>
          <p class="dim">
            {dateTime(incident.incident.time)}, run <Link href={runHref(incident.incident.run_id)}>{page.run}</Link>, severity{" "}
            <strong class={`severity-${safe(report.severity)}`}>{report.severity}</strong>
          </p>
        </div>
      </header>
      {way && <WayBanner way={way} />}
      <div class="incident-grid">
        <div>
          <Ways incident={incident} way={way} again={again} />
          <Card title="What happened">
            <ol class="incident-timeline">
              {report.timeline.map((moment, at) => (
                <li key={at} class={at === report.timeline.length - 1 ? "last" : ""}>
                  <span class="dim">step {count(moment.step)}</span>
                  <span>{sentence(moment.text)}</span>
                </li>
              ))}
            </ol>
          </Card>
        </div>
        <div>
          <Card title="Why">
            <div class="prose pad">
              <p>{title(report.root_cause)}</p>
              <List items={report.contributing_factors.map(sentence)} none="Nothing else is known to have made it worse." />
            </div>
          </Card>
          <Card title="Impact">
            <dl class="pairs">
              <Pair name="Files named" value={report.impact.files?.join(", ") || "none"} />
              <Pair name="File operations" value={count(report.impact.file_operations ?? 0)} />
              <Pair name="Tokens" value={count((used.input_tokens ?? 0) + (used.output_tokens ?? 0))} />
              <Pair name="Cost" value={used.cost_usd ? dollars(used.cost_usd) : "not known"} />
              <Pair name="Duration" value={report.impact.duration_s != null ? span(report.impact.duration_s) : "not known"} />
            </dl>
          </Card>
          <Card title="What to do">
            <div class="prose pad">
              <h3>Now</h3>
              <List items={report.recommendations.immediate} none="Nothing in particular." />
              <h3>To prevent a repeat</h3>
              <List items={report.recommendations.preventive} none="Nothing in particular." />
              <h3>Settings that help</h3>
              <List items={report.recommendations.configuration} none="Nothing in particular." />
            </div>
          </Card>
        </div>
      </div>
    </>
  );
}

function WayBanner({ way }: { way: Way }) {
  const words = title(way.option);
  if (way.state === "starting") return <Banner level="info" icon="state" title={`${words}: being carried out…`} />;
  if (way.state === "continued")
    return (
      <Banner level="good" icon="check" title={`${words}: a run continues`}>
        {way.run_id && <Link href={runHref(way.run_id)}>{way.run_id}</Link>}
      </Banner>
    );
  if (way.state === "aborted")
    return (
      <Banner level="good" icon="check" title="Left stopped, and cleaned up">
        <p>{way.message}</p>
      </Banner>
    );
  return (
    <Banner level={way.state === "unknown" ? "warning" : "critical"} icon={way.state === "unknown" ? "question" : "cross"} title={way.state === "unknown" ? `${words}: outcome unknown` : `${words} failed`}>
      <p>{way.message}</p>
    </Banner>
  );
}

function Ways({ incident, way, again }: { incident: StoredIncident; way: Way | null; again: () => void }) {
  const [asking, setAsking] = useState<RecoveryOption | null>(null);
  const [failed, setFailed] = useState<ApiError | null>(null);
  const busy = way?.state === "starting";
  const take = async (option: RecoveryOption) => {
    setAsking(null);
    setFailed(null);
    try {
      await post(`/api/incidents/${encodeURIComponent(incident.incident.id)}/continue`, { option: option.name });
    } catch (raw) {
      setFailed(asError(raw));
    }
    again();
  };
  if (incident.status !== "open") {
    return (
      <Card title="Settled">
        <p class="prose pad">
          {title(incident.option ?? incident.status)}
          {incident.continued_by && (
            <>
              , as run <Link href={runHref(incident.continued_by)}>{incident.continued_by}</Link>
            </>
          )}
          .
        </p>
      </Card>
    );
  }
  return (
    <Card title="Four options">
      {failed && <Failed error={failed} />}
      <ul class="ways">
        {incident.options.map((option) => {
          const closed = option.applicable === false;
          return (
            <li key={option.name} class={closed ? "closed" : ""}>
              <button
                type="button"
                class={`button ${option.name === "abort" ? "danger-quiet" : option.name === "resume_with_limits" ? "primary" : ""}`}
                disabled={closed || busy}
                onClick={() => setAsking(option)}
              >
                <Icon name={ICONS[option.name] ?? "play"} /> {title(option.name)}
              </button>
              <p>{closed ? `Not possible: ${option.reason}` : option.description}</p>
              {!closed && <More option={option} />}
            </li>
          );
        })}
      </ul>
      {asking && (
        <Confirm title={`${title(asking.name)}?`} yes={asking.name === "abort" ? "Leave it stopped" : "Continue"} danger={asking.name !== "resume_with_limits"} onClose={() => setAsking(null)} onYes={() => void take(asking)}>
          <p>{asking.description}</p>
          {asking.name !== "abort" && (
            <p>
              The agent is started again as a new run, without a terminal. To have it in your terminal instead: <code class="wrap">{asking.command}</code>
            </p>
          )}
        </Confirm>
      )}
    </Card>
  );
}

const ICONS: Record<string, string> = { resume_with_limits: "play", rollback_and_retry: "back", manual_intervention: "approval", abort: "stop" };

function More({ option }: { option: RecoveryOption }) {
  const parts: string[] = [];
  const limits = Object.entries(option.limits ?? {}).filter(([, value]) => value != null);
  if (limits.length) parts.push(`limits: ${limits.map(([name, value]) => (name === "max_cost_usd" ? `max cost ${dollars(value!)}` : `${plain(name)} ${count(value!)}`)).join(", ")}`);
  if (option.removed_actions?.length) parts.push(`without ${option.removed_actions.map(plain).join(", ")}`);
  if (option.checkpoint_id) parts.push(`to checkpoint ${option.checkpoint_id}`);
  if (option.needs_approval?.length) parts.push(`asks before every ${option.needs_approval.join(", ")}`);
  if (option.clean_up?.length) parts.push(option.clean_up.join("; "));
  return parts.length ? <p class="dim way-more">{parts.join(" · ")}</p> : null;
}

function List({ items, none }: { items: string[]; none: string }) {
  if (!items.length) return <p class="dim">{none}</p>;
  return (
    <ul>
      {items.map((item) => (
        <li key={item}>{item}</li>
      ))}
    </ul>
  );
}

function Pair({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

