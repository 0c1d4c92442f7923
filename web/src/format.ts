// Numbers, times and names for people.

import type { Liveness } from "./generated";

const money = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD", minimumFractionDigits: 2 });
const smallMoney = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD", maximumFractionDigits: 4 });
const whole = new Intl.NumberFormat("en-US");
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

export const dollars = (value: number): string =>
  value > 0 && value < 0.01 ? smallMoney.format(value) : money.format(value);

/** What is known to be spent: at least so much, where some tokens have no price. */
export const spend = (value: number, unpricedTokens: number): string =>
  unpricedTokens && !value ? "unknown" : dollars(value) + (unpricedTokens ? "+" : "");

export const count = (value: number): string => whole.format(value);

export const short = (value: number): string => (value < 10_000 ? whole.format(value) : compact.format(value).replace("K", "k"));

export function many(value: number, one: string, more = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : more}`;
}

export function title(name: string): string {
  const words = plain(name);
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

export function plain(name: string): string {
  return name.replaceAll("_", " ");
}

/** A sentence with plain words for our own names; paths and names of the agent's stay as they are. */
export function sentence(text: string): string {
  return text.replace(/(?<![\w./])[a-z]+(?:_[a-z]+)+(?![\w./(])/g, rungName);
}

export function size(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let at = 0;
  let value = bytes;
  while (value >= 1000 && at < units.length - 1) {
    value /= 1000;
    at += 1;
  }
  return `${at && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
}

export function clock(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
}

export function dateTime(seconds: number): string {
  if (!seconds) return "unknown";
  return new Date(seconds * 1000).toLocaleString([], {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  });
}

/** A moment that is near: the day, and the time without seconds. */
export function moment(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString([], { weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}

export function span(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} days`;
}

export function ago(seconds: number, now: number): string {
  if (!seconds) return "";
  const past = Math.max(0, now - seconds);
  if (past < 5) return "now";
  if (past < 60) return `${Math.floor(past)} s ago`;
  if (past < 3_600) return `${Math.floor(past / 60)} min ago`;
  if (past < 86_400) return `${Math.floor(past / 3_600)} h ago`;
  return `${Math.floor(past / 86_400)} d ago`;
}

export function late(from: number, to: number): string {
  const gap = Math.max(0, to - from);
  return gap < 1 ? `+${Math.round(gap * 1000)} ms` : `+${gap < 10 ? gap.toFixed(1) : Math.round(gap)} s`;
}

export const RUNGS = [
  "soft_correction",
  "context_reinforcement",
  "resource_throttling",
  "checkpoint_rollback",
  "emergency_stop",
] as const;

/** The name of each rung, and what it does. */
export const RUNG_WORDS: Record<string, [string, string]> = {
  soft_correction: ["hint", "a message about the problem"],
  context_reinforcement: ["reminder", "the task and its limits, repeated"],
  resource_throttling: ["throttle", "tighter limits"],
  checkpoint_rollback: ["rollback", "files restored"],
  emergency_stop: ["emergency stop", "the run ends"],
  pause_for_person: ["pause for a person", "the run needs you"],
};

export const rungName = (type: string): string => RUNG_WORDS[type]?.[0] ?? plain(type);

export const isLive = (status: string): boolean =>
  status === "running" || status === "pausing" || status === "paused" || status === "lost" || status === "unknown";

/** What a run is doing, with the way in which it hangs or the time when it resumes. */
export const doing = (now: Liveness): string =>
  now.word === "parked"
    ? now.wake
      ? `parked until ${moment(now.wake)}`
      : "parked: needs you"
    : now.wedged
      ? `${now.word}: ${now.wedged}`
      : now.word;

/** Words of a command as one would type them. */
export const shell = (words: readonly string[]): string =>
  words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`)).join(" ");
