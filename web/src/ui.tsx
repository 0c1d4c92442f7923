// Parts that every page is made of.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ApiError } from "./api";
import { Icon } from "./icons";

const ENDINGS = ["proven", "unproven", "contradicted", "broken", "refused"];

/** How a run is, or how it ended: `outcome` is the word; an ending has its own colour, else `status` gives it. */
export function Status({ status, outcome }: { status: string; outcome?: string }) {
  return (
    <span class={`status status-${safe(outcome && ENDINGS.includes(outcome) ? outcome : status)}`}>
      <span class="dot" aria-hidden="true" />
      {outcome || status}
    </span>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state state-empty">
      <strong>{title}</strong>
      {children && <p>{children}</p>}
    </div>
  );
}

export function Failed({ error, again, children }: { error: ApiError; again?: () => void; children?: ComponentChildren }) {
  return (
    <div class="state state-error" role="alert">
      <strong>{sentence(error.message)}</strong>
      {error.todo && <p>{error.todo}</p>}
      {children && <p>{children}</p>}
      {again && (
        <button type="button" class="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <div class="state state-loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {what}…
    </div>
  );
}

export function Banner(props: { level: string; icon: string; title: string; children?: ComponentChildren }) {
  return (
    <section class={`banner banner-${props.level}`} aria-label={props.title}>
      <Icon name={props.icon} />
      <div class="banner-text">
        <strong>{props.title}</strong>
        {props.children}
      </div>
    </section>
  );
}

export function Card(props: { title: string; aside?: ComponentChildren; children: ComponentChildren; class?: string }) {
  return (
    <section class={`card ${props.class ?? ""}`}>
      <header class="card-head">
        <h2>{props.title}</h2>
        {props.aside}
      </header>
      {props.children}
    </section>
  );
}

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
}

export function Dialog({ title, onClose, children, wide }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = box.current!;
    const before = document.activeElement as HTMLElement | null;
    dialog.showModal();
    return () => {
      dialog.close();
      before?.focus?.();
    };
  }, []);
  return (
    <dialog
      ref={box}
      class={wide ? "dialog dialog-wide" : "dialog"}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === box.current) onClose();
      }}
    >
      <header class="dialog-head">
        <h2>{title}</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  children: ComponentChildren;
  yes: string;
  danger?: boolean;
  onYes: (reason: string) => void;
  onClose: () => void;
  askReason?: boolean;
}

export function Confirm({ title, children, yes, danger, onYes, onClose, askReason }: ConfirmProps) {
  const [reason, setReason] = useState("");
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onYes(reason);
        }}
      >
        <div class="prose">{children}</div>
        {askReason && (
          <label class="field">
            <span>
            Reason <span class="dim">(optional, recorded)</span>
          </span>
            <input value={reason} onInput={(e) => setReason(e.currentTarget.value)} maxLength={500} autofocus />
          </label>
        )}
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Not now
          </button>
          <button type="submit" class={danger ? "button danger" : "button primary"} autofocus={!askReason}>
            {yes}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface Toast {
  id: number;
  text: string;
  level: "info" | "error";
}

let nextToast = 1;
const listeners = new Set<(toast: Toast) => void>();

export function say(text: string, level: "info" | "error" = "info"): void {
  const toast = { id: nextToast++, text, level };
  for (const listen of listeners) listen(toast);
}

export function sayError(error: ApiError): void {
  say([sentence(error.message), error.todo].filter(Boolean).join(" "), "error");
}

export function Toasts() {
  const [toasts, setToasts] = useState<Toast[]>([]);
  useLayoutEffect(() => {
    const listen = (toast: Toast) => {
      setToasts((before) => [...before.slice(-3), toast]);
      setTimeout(() => setToasts((before) => before.filter((t) => t.id !== toast.id)), toast.level === "error" ? 9_000 : 4_000);
    };
    listeners.add(listen);
    return () => void listeners.delete(listen);
  }, []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map((toast) => (
        <div key={toast.id} class={`toast toast-${toast.level}`}>
          {toast.text}
        </div>
      ))}
    </div>
  );
}

/** A share of a budget: a bar with words for those who do not see it. */
export function Meter({ value, most, label }: { value: number; most: number | null; label: string }) {
  if (most === null || most <= 0) return null;
  const share = Math.min(1, value / most);
  const level = share >= 1 ? "over" : share >= 0.8 ? "near" : "fine";
  return (
    <span class={`meter meter-${level}`} role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(share * 100)}>
      <span class="meter-fill" style={{ width: `${(share * 100).toFixed(1)}%` }} />
    </span>
  );
}

/** A word that is fit to be part of a class name. */
export function safe(word: string): string {
  return word.replace(/[^a-z0-9-]/gi, "").slice(0, 30);
}

export function sentence(text: string): string {
  const cut = text.trim();
  return cut ? cut[0]!.toUpperCase() + cut.slice(1) + (/[.!?…]$/.test(cut) ? "" : ".") : cut;
}
