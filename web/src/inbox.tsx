// What needs a person: the newest first, answered in place.

import { useState } from "preact/hooks";
import { asError, post } from "./api";
import { ago, moment } from "./format";
import { Icon } from "./icons";
import { Link, runHref, useQuery } from "./router";
import type { InboxItem } from "./types";
import { say, sayError } from "./ui";

const ICONS: Record<string, string> = { approval: "approval", incident: "incident", tampering: "issue", wedged: "issue", lost: "issue" };
const GOOD = new Set(["approve", "resume"]);
const BAD = new Set(["reject", "cancel", "abort"]);
const SAFE = new Set(["resume_with_limits", "rollback_and_retry"]);

/** Items that are shown at first, so that the list of runs stays in view. */
const FIRST = 2;

export function Inbox({ items, now }: { items: InboxItem[]; now: number }) {
  const [chosen] = useQuery("item");
  const [all, setAll] = useState(false);
  if (!items.length) return null;
  const shown = all || items.length <= FIRST + 1 || chosen ? items : items.slice(0, FIRST);
  return (
    <section class="inbox" aria-label="Needs you">
      <h2>
        Needs you <span class="inbox-count">{items.length}</span>
      </h2>
      <ul>
        {shown.map((item) => (
          <Item key={item.id} item={item} now={now} chosen={item.id === chosen} />
        ))}
      </ul>
      {shown.length < items.length && (
        <button type="button" class="text-button" onClick={() => setAll(true)}>
          Show {items.length - shown.length} more
        </button>
      )}
    </section>
  );
}

function Item({ item, now, chosen }: { item: InboxItem; now: number; chosen: boolean }) {
  const [reason, setReason] = useState("");
  const [sent, setSent] = useState("");
  const answers = item.answers ?? [];
  const answer = async (name: string) => {
    setSent(name);
    try {
      const told = await post<{ ok: boolean; message: string }>(`/api/inbox/${item.id}`, { answer: name, reason });
      say(`${item.run}: ${told.message}`);
      if (!told.ok) setSent("");
    } catch (error) {
      sayError(asError(error));
      setSent("");
    }
  };
  return (
    <li class={`inbox-item${chosen ? " chosen" : ""}`} data-kind={item.kind} data-item={item.id}>
      <div class="inbox-head">
        <Icon name={ICONS[item.kind] ?? "pause"} />
        <strong>{item.title}</strong>
        <Link href={runHref(item.run_id)}>{item.run}</Link>
        {item.host && <span class="dim">{item.host}</span>}
        <span class="dim inbox-when">
          {ago(item.time, now)}
          {item.expires ? `, expires ${moment(item.expires)}` : ""}
        </span>
      </div>
      {item.text && <pre class="wants">{item.text}</pre>}
      {answers.some((each) => each.name === "reject") && (
        <input
          aria-label="Reason"
          placeholder="Reason (optional, sent to the agent)"
          value={reason}
          maxLength={500}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      )}
      <div class="inbox-answers">
        {answers.map((each) =>
          each.here === false ? (
            <p key={each.name} class="dim">
              {each.does}
            </p>
          ) : (
            <div key={each.name} class="inbox-answer">
              <button
                type="button"
                class={`button${GOOD.has(each.name) ? " good" : BAD.has(each.name) ? " danger-quiet" : SAFE.has(each.name) ? " primary" : ""}`}
                disabled={!!sent}
                onClick={() => void answer(each.name)}
              >
                {capital(each.name)}
              </button>
              <span class="dim">{each.does}</span>
            </div>
          ),
        )}
        {sent && (
          <span class="dim" role="status">
            {sent} sent, waiting for the run…
          </span>
        )}
      </div>
    </li>
  );
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
}
