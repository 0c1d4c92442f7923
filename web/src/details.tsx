// Details: everything else that is known of a run, and how to reach it from a terminal.

import { runPath } from "./api";
import { count, dateTime, plain, shell, spend } from "./format";
import { useData } from "./hooks";
import { Link, runHref } from "./router";
import type { Head } from "./types";
import { Card, Empty, Failed, Loading } from "./ui";

interface Sums {
  steps: number;
  calls: number;
  failed: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  issues: Record<string, number>;
  notes: Record<string, number>;
  severities: Record<string, number>;
  verdicts: Record<string, number>;
  tools: Record<string, number>;
}

export function Details({ runId, head }: { runId: string; head: Head }) {
  const { spec, summary } = head;
  const { data, error, loading, again } = useData<{ sums: Sums }>(runPath(runId, "/series?points=2"));
  const facts: [string, preact.ComponentChildren][] = [
    ["Run", <span class="mono">{summary.run_id}</span>],
    ["Task", spec.task || <span class="dim">not given</span>],
    ["Command", spec.argv?.length ? <code class="wrap">{shell(spec.argv)}</code> : <span class="dim">driven by a program</span>],
    ["Workspace", spec.workspace ? <span class="mono wrap">{spec.workspace}</span> : <span class="dim">none</span>],
    ["Adapter", spec.adapter || summary.adapter],
    ["Started", dateTime(summary.started)],
    ["Last change", dateTime(summary.updated)],
    ["Ended", summary.ended ? [dateTime(summary.ended), head.status.ending].filter(Boolean).join(", ") : <span class="dim">not yet</span>],
    ["Owner", summary.owner_pid ? `process ${summary.owner_pid}` : <span class="dim">none</span>],
  ];
  if (spec.session_id) facts.push(["Session", <span class="mono wrap">{spec.session_id}</span>]);
  if (spec.continues) facts.push(["Continues", <Link href={runHref(spec.continues)}>{spec.continues}</Link>]);
  return (
    <>
      <Card title="The run">
        <dl class="pairs">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </Card>
      <Card title="Totals">
        {error ? (
          <Failed error={error} again={again} />
        ) : loading && !data ? (
          <Loading what="Adding up" />
        ) : data ? (
          <div class="sums">
            <Table
              title="Use"
              rows={[
                ["steps", count(data.sums.steps)],
                ["tool calls", count(data.sums.calls)],
                ["failed results", count(data.sums.failed)],
                ["tokens read", count(data.sums.input_tokens)],
                ["tokens written", count(data.sums.output_tokens)],
                ["cost", spend(summary.cost_usd || data.sums.cost_usd, summary.unpriced_tokens)],
              ]}
            />
            <Table title="Issues" rows={pairs(data.sums.issues)} none="no issue was found" />
            <Table title="Notes" rows={pairs(data.sums.notes)} none="nothing that rests on words alone" />
            <Table title="Reviews" rows={pairs(data.sums.verdicts)} none="no call was reviewed" />
            <Table title="Tools" rows={pairs(data.sums.tools).slice(0, 15)} none="no tool was called" />
          </div>
        ) : null}
      </Card>
      <Card title="In a terminal">
        <pre class="block">{[`interlock show ${runId}`, `interlock report ${runId}`, `interlock pause ${runId}`, `interlock export ${runId}`].join("\n")}</pre>
      </Card>
    </>
  );
}

function pairs(counts: Record<string, number>): [string, string][] {
  return Object.entries(counts)
    .sort((a, b) => b[1] - a[1])
    .map(([name, value]) => [plain(name), count(value)]);
}

function Table({ title, rows, none }: { title: string; rows: [string, string][]; none?: string }) {
  if (!rows.length) return <Empty title={title}>{none}</Empty>;
  return (
    <table class="small-table">
      <caption>{title}</caption>
      <tbody>
        {rows.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="number">{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
