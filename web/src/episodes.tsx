// What a run got stuck on: what was tried, what it achieved and what it cost. Issues where they belong to no episode.

import { count, dollars, many, plain, short, span } from "./format";
import { steady } from "./steady";
import type { Issue, Problem } from "./types";
import { Card, Empty, safe } from "./ui";

const SHOWN = 8;
const SIGNS: Record<string, string> = { worked: "✓", "did not work": "✗", "not applied": "–", postponed: "…" };

export const Episodes = steady(NewestEpisodes);

function NewestEpisodes({ episodes, issues, total }: { episodes: Problem[]; issues: Issue[]; total: number }) {
  // What is open comes first, then the newest.
  const sorted = [...episodes].reverse().sort((a, b) => +(a.ending !== null) - +(b.ending !== null));
  const open = episodes.filter((each) => each.ending === null).length;
  const all = episodes.length || total;
  const rows = episodes.length ? sorted.slice(0, SHOWN).map(drawEpisode) : issues.slice(-SHOWN).reverse().map(drawIssue);
  return (
    <Card title="Stuck on" aside={<span class="dim">{episodes.length ? `${many(all, "problem")}, ${open} open` : many(all, "issue")}</span>}>
      {rows.length ? <ol class="issues">{rows}</ol> : <Empty title="No problems found" />}
      {all > rows.length && <p class="dim ladder-note">and {count(all - rows.length)} more in the timeline</p>}
    </Card>
  );
}

function drawEpisode(problem: Problem) {
  const facts = [
    plain(problem.type),
    problem.severity,
    problem.agent,
    `since step ${count(problem.opened_step)}`,
    span((problem.closed_at ?? problem.updated_at) - problem.opened_at),
    problem.relapses && `came back ${many(problem.relapses, "time")}`,
    many(problem.calls, "call"),
    problem.tokens && `${short(problem.tokens)} tokens`,
    problem.cost_usd && dollars(problem.cost_usd),
  ];
  return (
    <li key={problem.id} class={`issue issue-${safe(problem.severity)}`} title={problem.description}>
      <strong class="mono">{problem.what}</strong>
      <span class={`came came-${safe(problem.ending ?? "open")}`}>{problem.achieved}</span>
      <ul class="tried">
        {problem.tried.map((each) => (
          <li title={`step ${each.step}, ${each.outcome}: ${each.reason}`}>
            {each.name} {SIGNS[each.outcome] ?? each.outcome}
          </li>
        ))}
      </ul>
      <p>{facts.filter(Boolean).join(", ")}</p>
    </li>
  );
}

function drawIssue(issue: Issue) {
  return (
    <li key={issue.id} class={`issue issue-${safe(issue.severity ?? "medium")}`}>
      <strong>{plain(issue.type)}</strong>
      <span class="dim">
        {issue.severity ?? "medium"}, step {count(issue.step)}
      </span>
      <p>{issue.description}</p>
    </li>
  );
}
