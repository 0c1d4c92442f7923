// The newest issues of a run: what was found, how bad, and where.

import { count, many, plain } from "./format";
import { steady } from "./steady";
import type { Issue } from "./types";
import { Card, Empty, safe } from "./ui";

const SHOWN = 5;

export const Issues = steady(NewestIssues);

function NewestIssues({ issues, total, live }: { issues: Issue[]; total: number; live: boolean }) {
  const newest = issues.slice(-SHOWN).reverse();
  return (
    <Card title="Issues" aside={<span class="dim">{total ? `${count(total)} found` : "none found"}</span>}>
      {newest.length === 0 ? (
        <Empty title="No issue was found">{live ? "Loops, drift, damage and the like appear here as they are seen." : "Nothing went wrong that is known of."}</Empty>
      ) : (
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
      )}
      {total > newest.length && newest.length > 0 && <p class="dim ladder-note">and {many(total - newest.length, "more", "more")} in the timeline</p>}
    </Card>
  );
}
