// What a run got stuck on: what was tried, what it achieved and what it cost. Issues where they belong to no episode.

import { count, dollars, many, plain, short, span } from "./format";
import { steady } from "./steady";
import type { Issue, Problem, Tried } from "./types";
import { Card, Empty, safe } from "./ui";

const SHOWN = 6;
const WORKED = ["solved", "improved", "stopped_happening"];

export const Episodes = steady(NewestEpisodes);

interface Props {
  episodes: Problem[];
  issues: Issue[];
  total: number;
  live: boolean;
}

function NewestEpisodes({ episodes, issues, total, live }: Props) {
  if (!episodes.length && issues.length) return <LooseIssues issues={issues} total={total} />;
  // What is open comes first, then the newest.
  const sorted = [...episodes].reverse().sort((a, b) => Number(a.ending !== null) - Number(b.ending !== null));
  const open = episodes.filter((each) => each.ending === null).length;
  return (
    <Card title="Stuck on" aside={<span class="dim">{episodes.length ? `${many(episodes.length, "problem")}, ${open} open` : "nothing"}</span>}>
      {sorted.length === 0 ? (
        <Empty title="No problem was found">
          {live ? "Loops, drift, damage and the like appear here, with what was tried and what it achieved." : "Nothing went wrong that is known of."}
        </Empty>
      ) : (
        <ol class="issues">
          {sorted.slice(0, SHOWN).map((each) => (
            <Episode key={each.id} problem={each} />
          ))}
        </ol>
      )}
      {sorted.length > SHOWN && (
        <details class="ladder-note">
          <summary class="dim">{count(sorted.length - SHOWN)} more</summary>
          <ol class="issues">
            {sorted.slice(SHOWN).map((each) => (
              <Episode key={each.id} problem={each} />
            ))}
          </ol>
        </details>
      )}
    </Card>
  );
}

function Episode({ problem }: { problem: Problem }) {
  const open = problem.ending === null;
  const came = open ? "open" : WORKED.includes(problem.ending ?? "") ? "good" : "over";
  const cost = [many(problem.calls, "call"), problem.tokens ? `${short(problem.tokens)} tokens` : "", problem.cost_usd ? dollars(problem.cost_usd) : ""];
  const facts = [
    plain(problem.type),
    problem.severity,
    problem.agent,
    `since step ${count(problem.opened_step)}`,
    span((problem.closed_at ?? problem.updated_at) - problem.opened_at),
    problem.relapses ? `came back ${many(problem.relapses, "time")}` : "",
    ...cost,
  ];
  return (
    <li class={`issue issue-${safe(problem.severity)}`} title={problem.description}>
      <strong class="mono">{problem.what}</strong>
      <span class={`episode-came episode-${came}`}>{problem.achieved}</span>
      {problem.tried.length > 0 && (
        <ul class="tried">
          {problem.tried.map((each) => (
            <Attempt key={`${each.step} ${each.type}`} tried={each} />
          ))}
        </ul>
      )}
      <p class="dim">{facts.filter(Boolean).join(", ")}</p>
    </li>
  );
}

const SIGNS: Record<string, [string, string]> = { worked: ["✓", "good"], "did not work": ["✗", "bad"], "not applied": ["–", "dim"], postponed: ["…", "dim"] };

function Attempt({ tried }: { tried: Tried }) {
  const [sign, style] = SIGNS[tried.outcome] ?? ["", ""];
  return (
    <li class={`tried-${style}`} title={`step ${tried.step}: ${tried.name} ${tried.outcome}${tried.reason ? `: ${tried.reason}` : ""}`}>
      {tried.name} {sign || <span class="dim">{tried.outcome}</span>}
    </li>
  );
}

function LooseIssues({ issues, total }: { issues: Issue[]; total: number }) {
  const newest = issues.slice(-SHOWN).reverse();
  return (
    <Card title="Issues" aside={<span class="dim">{`${count(total)} found`}</span>}>
      <ol class="issues">
        {newest.map((issue) => (
          <li key={issue.id} class={`issue issue-${safe(issue.severity ?? "medium")}`}>
            <strong>{plain(issue.type)}</strong>
            <span class="dim">
              {issue.severity ?? "medium"}, step {count(issue.step)}
            </span>
            <p>{issue.description}</p>
          </li>
        ))}
      </ol>
      {total > newest.length && <p class="dim ladder-note">and {many(total - newest.length, "more", "more")} in the timeline</p>}
    </Card>
  );
}
