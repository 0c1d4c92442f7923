// What the run claims, against the checks that ran: the first thing to know of a run that says it is done.

import { many } from "./format";
import type { ProofRecord, TestFact } from "./types";
import { Card, safe } from "./ui";

const ORDER = ["contradicted", "unproven", "own_check", "stale", "proven"];
const MEANS: Record<string, string> = {
  contradicted: "The last such check failed, or what is claimed does not exist",
  unproven: "No check says this",
  own_check: "It passed, but the agent wrote or changed the check itself",
  stale: "It passed, but files changed afterwards",
  proven: "A check that says exactly this passed on exactly these files",
};

export function Proof({ proof }: { proof: ProofRecord | null | undefined }) {
  const claims = [...(proof?.claims ?? [])].sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));
  const facts = proof?.tests ?? [];
  const contract = proof?.contract ?? [];
  if (!claims.length && !facts.length && !contract.length && !proof?.ending) return null;
  const open = claims.filter((each) => each.verdict !== "proven").length;
  return (
    <Card title="Is it really done?" aside={<span class="dim">{claims.length ? `${many(claims.length, "claim")}, ${open ? `${open} not` : "all"} proven` : ""}</span>}>
      {contract.length > 0 && (
        <ul class="test-facts">
          {contract.map((line) => (
            <li key={line}>
              <span class="dim">contract</span> <span>{prose(line)}</span>
            </li>
          ))}
        </ul>
      )}
      {claims.length > 0 && (
        <ul class="claims">
          {claims.map((each) => (
            <li key={`${each.claim.kind}${each.claim.step}${each.claim.subject ?? ""}`}>
              <span class={`pill verdict-${safe(each.verdict)}`} title={MEANS[each.verdict]}>{each.verdict.replace("_", " ")}</span>
              <div>
                <q>{each.claim.text}</q> <span class="dim">step {each.claim.step}</span>
                <p>{prose(each.why)}</p>
              </div>
            </li>
          ))}
        </ul>
      )}
      {facts.length > 0 && (
        <>
          <h3 class="claims-note">What changed about tests and checking rules since the run's start</h3>
          <ul class="test-facts">{facts.map(drawFact)}</ul>
        </>
      )}
      {proof?.ending && <p class="claims-note">The run ended with {prose(proof.ending)}.</p>}
    </Card>
  );
}

/** A sentence; what it has between backticks is code. */
function prose(text: string) {
  const parts = text.split("`");
  return parts.length % 2 ? parts.map((part, number) => (number % 2 ? <code key={number}>{part}</code> : part)) : text;
}

function drawFact(fact: TestFact) {
  return (
    <li key={`${fact.path}${fact.what}`}>
      <span>{fact.what}</span> <span class="mono dim">{fact.line ? `${fact.path}:${fact.line}` : fact.path}</span>
    </li>
  );
}
