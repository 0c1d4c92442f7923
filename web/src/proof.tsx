// What the run claims, against the checks that ran: the first thing to know of a run that says it is done.

import { many } from "./format";
import type { ProofRecord, TestFact } from "./types";
import { Card, safe } from "./ui";

const ORDER = ["contradicted", "unproven", "stale", "proven"];

export function Proof({ proof }: { proof: ProofRecord | null | undefined }) {
  const claims = [...(proof?.claims ?? [])].sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));
  const facts = proof?.tests ?? [];
  if (!claims.length && !facts.length) return null;
  const open = claims.filter((each) => each.verdict !== "proven").length;
  return (
    <Card title="Is it really done?" aside={<span class="dim">{claims.length ? `${many(claims.length, "claim")}, ${open || "none"} not proven` : ""}</span>}>
      {claims.length > 0 && (
        <ul class="claims">
          {claims.map((each) => (
            <li key={`${each.claim.kind}${each.claim.step}${each.claim.subject ?? ""}`}>
              <span class={`verdict verdict-${safe(each.verdict)}`}>{each.verdict}</span>
              <q>{each.claim.text}</q>
              <p>{each.why}</p>
            </li>
          ))}
        </ul>
      )}
      {facts.length > 0 && (
        <>
          <p class="dim claims-note">Tests and checking rules, from the run's start:</p>
          <ul class="test-facts">{facts.map(drawFact)}</ul>
        </>
      )}
    </Card>
  );
}

function drawFact(fact: TestFact) {
  return (
    <li key={`${fact.path}${fact.what}`}>
      {fact.what}: <span class="mono">{fact.line ? `${fact.path}:${fact.line}` : fact.path}</span>
    </li>
  );
}
