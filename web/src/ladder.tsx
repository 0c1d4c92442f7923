// The ladder as a picture: five rungs, the strongest on top, how often each was used and what it did.

import { count, many, plain, rungName, RUNG_WORDS, RUNGS } from "./format";
import { steady } from "./steady";
import type { Intervention } from "./types";
import { Card } from "./ui";

interface Rung {
  made: number;
  heldBack: number;
  worked: number;
  failed: number;
  open: number;
}

const PAUSE = "pause_for_person";
const NOT_DONE = ["held_back", "not_applied"];

export const Ladder = steady(WholeLadder);

function WholeLadder({ interventions, total, live }: { interventions: Intervention[]; total: number; live: boolean }) {
  const rungs = RUNGS.map((name) => tally(interventions.filter((made) => made.type === name)));
  const others = interventions.filter((made) => !(RUNGS as readonly string[]).includes(made.type));
  const pauses = others.filter((made) => made.type === PAUSE && !NOT_DONE.includes(made.outcome ?? ""));
  const custom = others.filter((made) => made.type !== PAUSE);
  const done = interventions.filter((made) => !NOT_DONE.includes(made.outcome ?? ""));
  const newest = done[done.length - 1];
  const at = newest ? (RUNGS as readonly string[]).indexOf(newest.type) : -1;
  return (
    <Card title="Ladder" aside={<span class="dim">{total ? many(total, "intervention") : "not needed yet"}</span>}>
      <ol class="ladder" aria-label="Interventions from the strongest to the mildest">
        {[...RUNGS.keys()].reverse().map((level) => {
          const rung = rungs[level]!;
          const name = RUNGS[level]!;
          return (
            <li key={name} class={`rung rung-${level}${rung.made ? " used" : ""}${level === at ? " now" : ""}`}>
              <span class="rung-bar" aria-hidden="true" />
              <span class="rung-name">
                {rungName(name)}
                <span class="rung-words">{outcome(rung, live) || RUNG_WORDS[name]![1]}</span>
              </span>
              <span class="rung-count">{rung.made ? count(rung.made) : ""}</span>
            </li>
          );
        })}
      </ol>
      {pauses.length > 0 && <p class="ladder-note">and {many(pauses.length, "pause")} for a person</p>}
      {custom.length > 0 && <p class="dim ladder-note">and {many(custom.length, "custom intervention")}</p>}
      {newest && (
        <p class="ladder-note">
          Newest: <strong class={`rung-text-${Math.max(0, at)}`}>{rungName(newest.type)}</strong> on {plain(newest.issue_type)} at step{" "}
          {newest.step}
          {newest.reason ? `: ${newest.reason}` : "."}
        </p>
      )}
      {total > done.length && <p class="dim ladder-note">The picture shows the newest {done.length}.</p>}
    </Card>
  );
}

function tally(all: Intervention[]): Rung {
  const of = (...names: string[]) => all.filter((each) => names.includes(each.outcome ?? "pending")).length;
  const heldBack = of(...NOT_DONE);
  return { made: all.length - heldBack, heldBack, worked: of("success"), failed: of("failure"), open: of("pending", "not_judged") };
}

function outcome(rung: Rung, live: boolean): string {
  const parts = [];
  if (rung.worked) parts.push(`${rung.worked} worked`);
  if (rung.failed) parts.push(`${rung.failed} did not work`);
  if (rung.open) parts.push(`${rung.open} ${live ? "with no effect known yet" : "not judged: the run ended first"}`);
  if (rung.heldBack) parts.push(`${rung.heldBack} postponed or not applied`);
  return parts.join(", ");
}
