// What the server sends. Every string in here may come from an agent: it is shown as text, never as markup.

export interface Row {
  run_id: string;
  name: string;
  status: string;
  adapter: string;
  model: string | null;
  iter: number;
  max: number | null;
  steps: number;
  issue: string | null;
  issues: number;
  interventions: number;
  cost: number;
  max_cost: number | null;
  unpriced_tokens: number;
  tokens: number;
  started: number;
  updated: number;
  ended: number | null;
  task: string;
  host: string;
  waiting: string | null;
  problem: string | null;
  ending: string;
  owner_pid: number | null;
  spark: number[];
}

export interface Rows {
  rows: Row[];
  gone: string[];
  all: boolean;
  problem: string | null;
}

export interface Line {
  seq: number;
  time: number;
  kind: string;
  level: string;
  title: string;
  detail?: string;
  step?: number | null;
  record?: string;
  cut?: boolean;
}

export interface Moment extends Line {
  data: Record<string, unknown>;
}

export interface Summary {
  run_id: string;
  name: string;
  task: string;
  status: string;
  iter: number;
  max: number | null;
  model: string | null;
  adapter: string;
  workspace: string | null;
  started: number;
  updated: number;
  ended: number | null;
  steps: number;
  issues: number;
  interventions: number;
  last_issue: string | null;
  cost_usd: number;
  tokens: number;
  max_cost_usd: number | null;
  unpriced_tokens: number;
  owner_pid: number | null;
}

export interface Waiting {
  kind: string;
  step: number;
  text: string;
}

export interface Spec {
  run_id: string;
  name?: string;
  task?: string;
  workspace?: string;
  argv?: string[];
  cwd?: string;
  adapter?: string;
  session_id?: string;
  continues?: string;
  model?: string;
}

export interface Control {
  request_id: string;
  command: string;
  outcome: "pending" | "success" | "failure" | "unknown";
  requested: number;
  actor?: string;
  reason?: string;
  acked?: number | null;
  answered?: number | null;
  code?: string | null;
  message?: string;
  notice?: string;
  attempts?: number;
  in_journal?: boolean;
}

export interface Issue {
  id: string;
  type: string;
  step: number;
  description: string;
  severity?: string | null;
  confidence?: number | null;
}

export interface Intervention {
  id: string;
  type: string;
  level: number;
  issue_type: string;
  step: number;
  time: number;
  outcome?: string;
  reason?: string;
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

export interface IncidentLine {
  id: string;
  time: number;
  status: string;
  summary: string;
}

export interface Head {
  summary: Summary;
  status: { shown: string; waiting: Waiting | null; problem: string | null; ending: string; cannot_switch: string };
  spec: Spec;
  controls: Control[];
  issues: Issue[];
  interventions: Intervention[];
  checkpoints: Checkpoint[];
  start: Checkpoint | null;
  incidents: IncidentLine[];
  counts: Record<string, number>;
}

export interface Series {
  steps: number[];
  tokens: number[];
  cost: number[];
  progress: number[];
  issues: number[];
  interventions: number[];
}

export interface Change {
  path: string;
  kind: string;
  size?: number;
}

export interface Difference {
  a: string;
  b: string | null;
  changes: Change[];
  patch: string;
  total: number;
  cut: boolean;
}

export interface LeftAlone {
  path: string;
  reason: string;
}

export interface Plan {
  checkpoint: string;
  changes: Change[];
  left_alone: LeftAlone[];
  not_covered: string[];
  locks: string[];
}

export interface Restored {
  checkpoint_id: string;
  safety_id: string;
  changed?: Change[];
  left_alone?: LeftAlone[];
  verified?: boolean;
}

export interface Picture {
  name: string;
  time: number;
  bytes: number;
}

export interface Way {
  option: string;
  state: "starting" | "continued" | "aborted" | "failed" | "unknown";
  message: string;
  run_id: string | null;
}

export interface Option {
  name: string;
  description: string;
  command: string;
  applicable?: boolean;
  reason?: string;
  limits?: Record<string, number | null> | null;
  removed_actions?: string[];
  checkpoint_id?: string | null;
  needs_approval?: string[];
  clean_up?: string[];
}

export interface StoredIncident {
  incident: { id: string; time: number; run_id: string; issue: Issue };
  report: {
    summary: string;
    severity: string;
    timeline: { step: number; text: string; time?: number | null }[];
    impact: {
      files?: string[];
      file_operations?: number;
      resources?: { input_tokens?: number; output_tokens?: number; cost_usd?: number; steps?: number };
      duration_s?: number | null;
    };
    root_cause: string;
    contributing_factors: string[];
    recommendations: { immediate: string[]; preventive: string[]; configuration: string[] };
  };
  options: Option[];
  status: string;
  option: string | null;
  continued_by: string | null;
}

export interface IncidentPage {
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
