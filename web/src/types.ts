// What the server sends in one piece; the parts come from the Python types.

import type { Control, IncidentLine, Intervention, Issue, Problem, ProofRecord, Row, RunSpec, StoredIncident, Summary, Waiting, Way } from "./generated";

export type * from "./generated";

export interface Rows {
  rows: Row[];
  gone: string[];
  all: boolean;
  problem: string | null;
}

export interface Checkpoint {
  id: string;
  time: number;
  step: number;
  label: string;
  cause: string;
  files: number;
  bytes: number;
  not_covered: number;
}

export interface Head {
  summary: Summary;
  status: { shown: string; outcome: string; waiting: Waiting | null; problem: string | null; ending: string; cannot_switch: string };
  spec: RunSpec;
  controls: Control[];
  proof: ProofRecord | null;
  episodes: Problem[];
  issues: Issue[];
  interventions: Intervention[];
  checkpoints: Checkpoint[];
  start: Checkpoint | null;
  incidents: IncidentLine[];
  counts: Record<string, number>;
}

export interface IncidentPage {
  /** The run's name, or its id. */
  run: string;
  incident: StoredIncident;
  way: Way | null;
}

export interface About {
  version: string;
  host: string;
  store: string;
  hub: boolean;
  models: string[];
}
