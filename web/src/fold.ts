// Folding: a call and its result are one entry, and so are findings that say the same again.

import type { Line } from "./types";

export interface Entry {
  line: Line;
  result?: Line;
  times: number;
  /** The steps of findings that this one stands for as well. */
  earlier: number[];
}

const NONE: number[] = [];

/** Lines, oldest first, as entries, newest first; housekeeping only where it is asked for. */
export function fold(lines: Line[], quiet: boolean): Entry[] {
  const entries: Entry[] = [];
  const calls = new Map<string, Entry>();
  const findings = new Map<string, Entry>();
  let newest: Entry | undefined;
  for (const line of lines) {
    if (line.level === "quiet" && !quiet) continue;
    if (line.look === "tool_result") {
      const call = (line.call && calls.get(line.call)) || newest;
      if (call && !call.result && (!line.call || !call.line.call || line.call === call.line.call)) {
        call.result = line;
        continue;
      }
    }
    const entry: Entry = { line, times: 1, earlier: NONE };
    if (line.look === "tool_call") {
      newest = entry;
      if (line.call) calls.set(line.call, entry);
    }
    if (line.kind === "issue" && line.level !== "quiet") {
      const same = line.title.replace(/ \(\w+\)$/, "") + (line.detail ?? "").replace(/[\d,.]+/g, "#");
      const before = findings.get(same);
      if (before) {
        entry.times = before.times + 1;
        entry.earlier = [...before.earlier, ...(before.line.step != null ? [before.line.step] : [])];
        entries.splice(entries.indexOf(before), 1);
      }
      findings.set(same, entry);
    }
    entries.push(entry);
  }
  return entries.reverse();
}
