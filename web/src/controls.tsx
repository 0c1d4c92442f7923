// Controls: the buttons, what waits for a person, and the history with REQUEST, ACK and RESULT as they come.

import { useEffect, useRef, useState } from "preact/hooks";
import { send } from "./actions";
import { get } from "./api";
import { clock, dateTime, isLive, late, plain } from "./format";
import { useKeys, useNow } from "./hooks";
import { Icon } from "./icons";
import { steady } from "./steady";
import type { About, Control, Head } from "./types";
import { Banner, Card, Confirm, Dialog, Empty, say } from "./ui";

const RECENT_S = 12;

export function ControlBar({ head }: { head: Head }) {
  const { summary, status, controls } = head;
  const [asking, setAsking] = useState<"cancel" | "escalate" | null>(null);
  const runId = summary.run_id;
  const ended = !isLive(status.shown);
  const held = status.shown === "paused" || status.shown === "pausing";
  const fixed = status.cannot_switch;
  const flip = () => void send(runId, held ? "resume" : "pause");
  useKeys(
    ended
      ? {}
      : {
          p: flip,
          r: () => void (held && send(runId, "resume")),
          c: () => setAsking("cancel"),
          e: () => (fixed ? say(`Cannot escalate: ${fixed}.`) : setAsking("escalate")),
        },
  );
  const newest = controls[controls.length - 1];
  return (
    <div class="control-bar">
      {ended ? (
        <p class="dim control-none">This run has ended: there is nothing left to control.</p>
      ) : (
        <div class="buttons">
          <button type="button" class="button primary" onClick={flip}>
            <Icon name={held ? "play" : "pause"} /> {held ? "Resume" : "Pause"} <kbd>p</kbd>
          </button>
          <button type="button" class="button" disabled={!!fixed} title={fixed} onClick={() => setAsking("escalate")}>
            <Icon name="up" /> Escalate <kbd>e</kbd>
          </button>
          <button type="button" class="button danger-quiet" onClick={() => setAsking("cancel")}>
            <Icon name="stop" /> Cancel <kbd>c</kbd>
          </button>
        </div>
      )}
      {newest && <Newest control={newest} />}
      {asking === "cancel" && (
        <Confirm
          title="Cancel this run?"
          yes="Cancel the run"
          danger
          askReason
          onClose={() => setAsking(null)}
          onYes={(reason) => {
            setAsking(null);
            void send(runId, "cancel", {}, reason);
          }}
        >
          <p>The agent and every process that it started are ended. A cancelled run cannot be resumed; its files stay as they are.</p>
        </Confirm>
      )}
      {asking === "escalate" && <Escalate runId={runId} model={summary.model} onClose={() => setAsking(null)} />}
    </div>
  );
}

function Newest({ control }: { control: Control }) {
  const now = useNow(1_000);
  const since = now - Math.max(control.requested, control.answered ?? 0);
  if (control.outcome !== "pending" && since > RECENT_S) return null;
  return (
    <div class="newest" role="status" aria-live="polite">
      <Way control={control} />
    </div>
  );
}

function Escalate({ runId, model, onClose }: { runId: string; model: string | null; onClose: () => void }) {
  const [about, setAbout] = useState<About | null>(null);
  const [name, setName] = useState("");
  const [reason, setReason] = useState("");
  useEffect(() => {
    get<About>("/api/about").then(setAbout, () => {});
  }, []);
  return (
    <Dialog title="Escalate to a stronger model" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          void send(runId, "escalate", reason ? { model: name, reason } : { model: name }, reason);
        }}
      >
        <p class="prose">
          The agent continues with another model from its next request. Now: <strong>{model ?? "not known"}</strong>.
        </p>
        <label class="field">
          Model
          <input required autofocus list="models" value={name} onInput={(e) => setName(e.currentTarget.value)} placeholder="a name or an alias" />
          <datalist id="models">{about?.models.map((each) => <option key={each} value={each} />)}</datalist>
        </label>
        <label class="field">
          <span>
            Reason <span class="dim">(optional, recorded)</span>
          </span>
          <input value={reason} onInput={(e) => setReason(e.currentTarget.value)} maxLength={500} />
        </label>
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Not now
          </button>
          <button type="submit" class="button primary">
            Escalate
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** What the run needs a person for, with the answers as buttons. */
export function Waits({ head }: { head: Head }) {
  const { waiting } = head.status;
  const [reason, setReason] = useState("");
  const [sent, setSent] = useState("");
  const runId = head.summary.run_id;
  const key = waiting ? `${waiting.kind}:${waiting.step}:${waiting.digest ?? ""}` : "";
  useEffect(() => setSent(""), [key]);
  const answer = async (command: "approve" | "reject") => {
    if (!waiting || sent) return;
    setSent(command);
    const call = waiting.digest ? { step: waiting.step, digest: waiting.digest } : { step: waiting.step };
    const payload = reason ? { ...call, reason } : call;
    if (await send(runId, command, payload, reason)) setReason("");
    else setSent("");
  };
  const approval = waiting?.kind === "approval";
  const failed = head.controls.some(
    (each) => (each.command === "approve" || each.command === "reject") && each.outcome !== "success" && each.outcome !== "pending",
  );
  useEffect(() => {
    if (failed) setSent("");
  }, [failed]);
  const yes = useRef<HTMLButtonElement>(null);
  const no = useRef<HTMLButtonElement>(null);
  // A key leads to the button and Enter presses it: one slip of a finger decides nothing.
  useKeys(approval ? { a: () => yes.current?.focus(), x: () => no.current?.focus() } : {});
  if (!waiting) return null;
  if (!approval) {
    return (
      <Banner level="warning" icon="pause" title={`Paused for a person at step ${waiting.step}`}>
        <p>{waiting.text}</p>
        <p class="dim">Resume continues it; cancel ends it.</p>
      </Banner>
    );
  }
  return (
    <Banner level="attention" icon="approval" title={`Step ${waiting.step} needs your approval`}>
      <pre class="wants">{waiting.text}</pre>
      <div class="answer">
        <label class="field-inline">
          <span class="hidden-heading">Reason</span>
          <input placeholder="Reason (optional, sent to the agent)" value={reason} onInput={(e) => setReason(e.currentTarget.value)} maxLength={500} />
        </label>
        <button ref={yes} type="button" class="button good" disabled={!!sent} onClick={() => void answer("approve")}>
          <Icon name="check" /> Approve <kbd>a</kbd>
        </button>
        <button ref={no} type="button" class="button danger" disabled={!!sent} onClick={() => void answer("reject")}>
          <Icon name="cross" /> Reject <kbd>x</kbd>
        </button>
        {sent && <span class="dim">{sent} sent, waiting for the run…</span>}
      </div>
    </Banner>
  );
}

export const ControlHistory = steady(WholeHistory);

function WholeHistory({ controls, live }: { controls: Control[]; live: boolean }) {
  return (
    <Card title="Control">
      {controls.length === 0 ? (
        <Empty title="No commands yet">
          {live ? "Every request appears here with its ACK and its RESULT, as they come." : "It ran without any requests."}
        </Empty>
      ) : (
        <ol class="controls">
          {[...controls].reverse().map((control) => (
            <li key={control.request_id}>
              <Way control={control} full />
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

const END: Record<string, [string, string]> = {
  success: ["check", "RESULT"],
  failure: ["cross", "RESULT"],
  unknown: ["question", "unknown"],
  pending: ["", "RESULT"],
};

/** One request on its way: sent, accepted, and what came of it. Nothing is shown before it is known. */
export function Way({ control, full }: { control: Control; full?: boolean }) {
  const [icon, word] = END[control.outcome] ?? END.unknown!;
  const acked = control.acked != null;
  return (
    <div class={`way way-${control.outcome}`} data-request={control.request_id} data-command={control.command}>
      <div class="way-head">
        <strong>{control.command}</strong>
        <time class="dim" title={dateTime(control.requested)}>
          {clock(control.requested)}
        </time>
      </div>
      <ol class="way-steps">
        <li class="reached">
          <span class="way-dot">
            <Icon name="check" />
          </span>
          REQUEST
        </li>
        <li class={acked ? "reached" : ""}>
          <span class="way-dot">{acked && <Icon name="check" />}</span>
          ACK {acked && <span class="dim">{late(control.requested, control.acked!)}</span>}
        </li>
        <li class={control.outcome === "pending" ? "" : `reached end-${control.outcome}`}>
          <span class="way-dot">{icon && <Icon name={icon} />}</span>
          {word} {control.answered != null && <span class="dim">{late(control.requested, control.answered)}</span>}
        </li>
      </ol>
      {(full || control.outcome !== "pending") && <p class="way-words">{words(control)}</p>}
      {control.notice && <p class="way-words way-notice">{control.notice}</p>}
      {full && control.reason && <p class="way-words dim">Reason: {control.reason}</p>}
      {full && control.actor && <p class="way-words dim">By {control.actor}</p>}
    </div>
  );
}

function words(control: Control): string {
  if (control.outcome === "success") return control.message || "Done.";
  if (control.outcome === "failure") return `${plain(control.code ?? "failed")}: ${control.message || "not carried out"}`;
  if (control.outcome === "unknown") {
    const accepted = control.acked != null ? "The run has accepted it" : "It is unknown whether the run has it";
    return `${accepted}; whether it was carried out is unknown. ${control.message ?? ""}`.trim();
  }
  return control.acked != null ? "Accepted; being carried out." : "Sent; the run has not acknowledged it yet.";
}
