// Made by scripts/web_types.py from the Python types: do not edit, run `make web`.
// Every string in here may come from an agent: it is shown as text, never as markup.

export type MomentKind = "step" | "review" | "issue" | "intervention" | "checkpoint" | "control" | "state" | "limit" | "incident" | "approval" | "picture" | "note";
export type Level = "quiet" | "info" | "notice" | "warning" | "critical";

/** Each kind of record with its body; a newer version may write others. */
export interface Records {
  spec: RunSpec;
  started: StartedRecord;
  step: StepRecord;
  issue: Issue;
  intervention: InterventionRecord;
  applied: AppliedRecord;
  effect: Intervention;
  episode: EpisodeRecord;
  person: PersonRecord;
  opinion: Opinion;
  plan: Plan;
  history: RollbackEntry;
  checkpoint: CheckpointInfo;
  restored: RestoredRecord;
  snapshot: SnapshotRecord;
  status: StatusRecord;
  hold: Hold;
  contract: ContractRecord;
  breach: BreachRecord;
  stop_gate: StopGateRecord;
  limit: LimitRecord;
  incident: IncidentRecord;
  fault: Fault;
  tamper: TamperRecord;
  fence: FenceRecord;
  transcript: TranscriptRecord;
  proxied: ProxiedRecord;
  lost: LostRecord;
  parked: ParkedRecord;
  woken: WokenRecord;
  liveness: LivenessRecord;
  unwedge: UnwedgeRecord;
  request: Request;
  ack: Ack;
  result: Result;
  state: State | Abort | Done;
  audit: Audit;
  proof: ProofRecord;
  end: EndRecord;
  gui_session: GuiSessionRecord;
  gui_chunk: GuiChunkRecord;
  gui_trouble: GuiTroubleRecord;
  gui_event: InterventionEvent;
  gui_model_call: GuiModelCallRecord;
  gui_verification: VerificationResult;
  gui_result: GuiResultRecord;
}

/** The kinds of record that each kind of moment is made of. */
export const RECORDS: Record<MomentKind, (keyof Records)[]> = {
  step: ["step", "gui_chunk"],
  review: ["step"],
  issue: ["issue", "episode"],
  intervention: ["intervention", "applied", "effect", "unwedge"],
  checkpoint: ["checkpoint", "restored", "history", "breach"],
  control: ["request", "ack", "result", "audit"],
  state: ["spec", "contract", "started", "hold", "state", "end", "parked", "woken", "liveness"],
  limit: ["limit"],
  incident: ["incident", "plan"],
  approval: ["state"],
  picture: ["gui_event"],
  note: ["opinion", "person", "proof", "stop_gate", "fault", "tamper", "fence", "transcript", "proxied", "lost", "issue", "gui_session", "gui_trouble", "gui_event", "gui_model_call", "gui_verification", "gui_result"],
};

/** Records that timelines leave out. */
export const HIDDEN: (keyof Records)[] = ["snapshot", "status"];

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
  tokens: number;
  unpriced_tokens: number;
  started: number;
  updated: number;
  ended: number | null;
  task: string;
  host: string;
  workspace: string | null;
  waiting: string | null;
  liveness: Liveness | null;
  problem: string | null;
  owner_pid: number | null;
  ending: string;
  outcome: string;
  spark: number[];
}

export interface Liveness {
  word: "parked" | "paused" | "waiting for a person" | "waiting for a tool" | "waiting for the model" | "wedged" | "working";
  since: number;
  evidence?: string;
  question?: string | null;
  wedged?: "client deadlocked" | "client prompt" | "client spins" | "disk full" | "empty answers" | "half-open stream" | "network gone" | "only pings" | "owner hung" | "pipe held by a child" | "tool never ends" | "tool reads the terminal" | "tool waits for input" | null;
  wake?: number | null;
}

export interface Summary {
  run_id: string;
  name: string;
  task: string;
  status: "aborted" | "done" | "paused" | "pausing" | "running" | "unreadable";
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
  stuck: string | null;
  cost_usd: number;
  tokens: number;
  unpriced_tokens: number;
  max_cost_usd: number | null;
  waiting: string | null;
  owner_pid: number | null;
  problem: string | null;
  reason: string | null;
  tampering: string | null;
  liveness: Liveness | null;
  exit_status: number | null;
  cancelled_by: string | null;
  unstopped: string | null;
  ending: "broken" | "cancelled" | "contradicted" | "done" | "failed" | "limit" | "proven" | "refused" | "stopped" | "unproven" | null;
}

export interface Control {
  request_id: string;
  command: string;
  outcome: string;
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

export interface IncidentLine {
  id: string;
  time: number;
  status: string;
  summary: string;
}

export interface InboxItem {
  id: string;
  kind: string;
  run_id: string;
  run: string;
  time: number;
  title: string;
  text?: string;
  answers?: InboxAnswer[];
  expires?: number | null;
  host?: string;
}

export interface InboxAnswer {
  name: string;
  does: string;
  command?: string;
  payload?: Record<string, unknown>;
  words?: string;
  here?: boolean;
}

export interface Series {
  steps: number[];
  tokens: number[];
  cost: number[];
  progress: number[];
  issues: number[];
  interventions: number[];
}

export interface Line {
  seq: number;
  time: number;
  kind: string;
  level: string;
  title: string;
  detail?: string;
  step?: number | null;
  look?: string;
  cut?: boolean;
  call?: string;
  ms?: number | null;
  tokens?: number;
}

export interface Moment {
  seq: number;
  time: number;
  kind: "approval" | "checkpoint" | "control" | "incident" | "intervention" | "issue" | "limit" | "note" | "picture" | "review" | "state" | "step";
  step: number | null;
  level: "critical" | "info" | "notice" | "quiet" | "warning";
  title: string;
  detail: string;
  record: string;
  data: unknown;
}

export interface Difference {
  a: string;
  b: string | null;
  changes: Change[];
  patch: string;
  total: number;
  cut: boolean;
}

export interface Change {
  path: string;
  kind: "attributes" | "content" | "created" | "deleted" | "mode" | "touched" | "type";
  was?: string;
  now?: string;
  size?: number;
  raw?: string | null;
}

export interface Preview {
  checkpoint: string;
  changes: Change[];
  left_alone: LeftAlone[];
  not_covered: string[];
  locks: string[];
}

export interface LeftAlone {
  path: string;
  reason: string;
}

export interface Restored {
  checkpoint_id: string;
  safety_id: string;
  changed?: Change[];
  left_alone?: LeftAlone[];
  verified?: boolean;
  wrong?: LeftAlone[];
  not_covered?: string[];
}

export interface Picture {
  name: string;
  time: number;
  bytes: number;
}

export interface Way {
  incident_id: string;
  option: "abort" | "manual_intervention" | "resume_with_limits" | "rollback_and_retry";
  state: "aborted" | "continued" | "failed" | "starting" | "unknown";
  message: string;
  run_id: string | null;
  time: number;
}

export interface Problem {
  id: string;
  issue_id: string;
  type: string;
  what: string;
  place: string;
  agent: string;
  severity: "critical" | "high" | "low" | "medium";
  description: string;
  opened_step: number;
  opened_at: number;
  closed_at: number | null;
  updated_at: number;
  ending: string | null;
  achieved: string;
  relapses: number;
  calls: number;
  tokens: number;
  cost_usd: number;
  tried: Tried[];
}

export interface Tried {
  step: number;
  time: number;
  type: string;
  name: string;
  level: number;
  outcome: string;
  reason: string;
}

export interface StoredIncident {
  incident: Incident;
  report: IncidentReport;
  options: RecoveryOption[];
  status: "aborted" | "continued" | "open";
  option: string | null;
  continued_by: string | null;
}

export interface Incident {
  id: string;
  time: number;
  run_id: string;
  issue: Issue;
  state: Record<string, unknown>;
  context: Context;
  patterns: Issue[];
  usage: Spend;
  actions: Action[];
}

export interface Issue {
  id: string;
  type: string;
  step: number;
  description: string;
  severity?: "critical" | "high" | "low" | "medium" | null;
  confidence?: number | null;
  impact_factor?: number | null;
  details?: Record<string, unknown>;
  evidence?: number[];
  started_step?: number | null;
  agent?: string | null;
  stuck?: Stuck | null;
}

export interface Stuck {
  kind: "failure" | "pattern" | "repeat";
  key: string;
  tool?: string;
  program?: string;
  targets?: string[];
  marks?: number[];
  names?: number[];
  failures?: number | null;
  passes?: number | null;
  place?: string;
  any_target?: boolean;
  call?: number;
  level?: number;
  every?: number;
  needed?: number;
  turns?: number;
  bad?: number;
  gained?: boolean;
  most?: number | null;
  acted?: boolean;
}

export interface Context {
  original_prompt?: string;
  instructions?: string;
  primary_goal?: string;
  goals?: Goal[];
  completed_subtasks?: string[];
  constraints?: string[];
  boundaries?: string[];
  expected_paths?: string[];
  examples?: string[];
  workspace?: string | null;
  contract?: Contract;
}

export interface Goal {
  text: string;
  priority?: number;
  progress?: number | null;
}

export interface Contract {
  may_change?: string[];
  protect?: string[];
  may_run?: string[];
  may_not?: ("commit" | "deploy" | "install" | "push")[];
  hosts?: string[];
  done_when?: string[];
  constraints?: string[];
  goals?: string[];
  narrowed?: string[];
  origins?: Clause[];
}

export interface Clause {
  key: "constraints" | "done_when" | "goals" | "hosts" | "may_change" | "may_not" | "may_run" | "protect";
  value: string;
  source?: string;
  phrase?: string;
}

export interface Spend {
  input_tokens?: number;
  output_tokens?: number;
  cost_usd?: number;
  unpriced_tokens?: number;
  steps?: number;
  calls?: number;
  file_operations?: number;
  memory_mb?: number;
  execution_time?: number;
}

export interface Action {
  step: number;
  text: string;
  error?: boolean | null;
  time?: number | null;
}

export interface IncidentReport {
  incident_id: string;
  run_id: string;
  time: number;
  summary: string;
  severity: string;
  timeline: IncidentMoment[];
  impact: Impact;
  root_cause: string;
  contributing_factors: string[];
  recommendations: Recommendations;
}

export interface IncidentMoment {
  step: number;
  text: string;
  time?: number | null;
}

export interface Impact {
  files?: string[];
  file_operations?: number;
  resources?: Spend;
  duration_s?: number | null;
}

export interface Recommendations {
  immediate: string[];
  preventive: string[];
  configuration: string[];
}

export interface RecoveryOption {
  name: "abort" | "manual_intervention" | "resume_with_limits" | "rollback_and_retry";
  description: string;
  command: string;
  applicable?: boolean;
  reason?: string;
  limits?: Limits | null;
  removed_actions?: string[];
  monitoring?: "normal" | "strict";
  checkpoint_id?: string | null;
  needs_approval?: string[];
  clean_up?: string[];
}

export interface Limits {
  max_tokens?: number | null;
  max_cost_usd?: number | null;
  max_steps?: number | null;
  max_file_operations?: number | null;
  max_memory_mb?: number | null;
  max_execution_time?: number | null;
  max_calls_per_minute?: number | null;
  max_processes?: number | null;
  max_cpu_percent?: number | null;
  batch_size?: number | null;
}

export interface RunSpec {
  run_id: string;
  name?: string;
  task?: string;
  workspace?: string | null;
  argv?: string[];
  cwd?: string | null;
  adapter?: string;
  session_id?: string | null;
  continues?: string | null;
  model?: string | null;
  issue_id?: string | null;
  labels?: string[];
}

export interface StartedRecord {
  pid: number;
  mechanism?: string;
  limits?: string;
  successor?: boolean;
}

export interface StepRecord {
  step: Step;
  review?: Review | null;
  decision?: Decision | null;
  unobserved?: boolean;
  stalled?: boolean;
  cost_usd?: number;
  absent?: string[] | null;
}

export interface Step {
  run_id: string;
  index: number;
  role: "assistant" | "system" | "tool" | "user";
  kind?: "message" | "tool_call" | "tool_result" | "usage";
  content?: string;
  tool?: Tool | null;
  error?: boolean | null;
  exit_code?: number | null;
  paths?: Paths | null;
  usage?: Usage | null;
  agent?: string | null;
  model?: string | null;
  time?: number | null;
  duration_ms?: number | null;
  origin?: "agent" | "interlock";
  v?: number;
}

export interface Tool {
  name: string;
  arguments?: Record<string, unknown>;
  call_id?: string | null;
}

export interface Paths {
  read?: string[];
  written?: string[];
  deleted?: string[];
}

export interface Usage {
  input_tokens?: number;
  output_tokens?: number;
  cost_usd?: number;
  cache_read_tokens?: number;
  cache_write_tokens?: number;
}

export interface Review {
  verdict: "allow" | "block" | "modify" | "warn";
  risk?: number;
  rationality?: number;
  rules?: string[];
  reason?: string;
  instead?: string;
  rewrite?: Record<string, unknown> | null;
  action?: string;
  ask?: boolean;
}

export interface Decision {
  action?: "defer" | "deny" | "hold" | "proceed" | "rewrite" | "stop";
  messages?: Message[];
  delay_s?: number;
  arguments?: Record<string, unknown> | null;
  model?: string | null;
  reason?: string;
}

export interface Message {
  content: string;
  meta?: MessageMeta | null;
}

export interface MessageMeta {
  intervention: string;
  issue: string;
  time: number;
  run_id: string;
  step: number;
  type?: string;
  limits?: Limits | null;
  checkpoint_id?: string | null;
}

export interface InterventionRecord {
  intervention: Intervention;
  score: number;
  combined: number;
  directives?: (Inject | SetLimits | Delay | Deny | Rewrite | Hold | Defer | Restore | Stop | Notify | SwitchModel)[];
  would?: (Inject | SetLimits | Delay | Deny | Rewrite | Hold | Defer | Restore | Stop | Notify | SwitchModel)[];
  escalated?: boolean;
}

export interface Intervention {
  id: string;
  type: string;
  level: number;
  issue_id: string;
  issue_type: string;
  step: number;
  time: number;
  outcome?: "failure" | "held_back" | "not_applied" | "not_judged" | "pending" | "success";
  reason?: string;
  details?: Record<string, unknown>;
  episode?: string | null;
}

export interface Inject {
  do: "inject";
  message: Message;
}

export interface SetLimits {
  do: "set_limits";
  limits: Limits;
  reason: string;
  windowed: string[];
  window_s: number;
}

export interface Delay {
  do: "delay";
  seconds: number;
  reason: string;
}

export interface Deny {
  do: "deny";
  reason: string;
  instead: string;
}

export interface Rewrite {
  do: "rewrite";
  arguments: Record<string, unknown>;
  reason: string;
}

export interface Hold {
  do: "hold";
  reason: string;
  kind: "approval" | "limit" | "parked" | "pause" | "recovery";
  until: number;
}

export interface Defer {
  do: "defer";
  reason: string;
}

export interface Restore {
  do: "restore";
  checkpoint_id: string;
  paths: string[];
  reason: string;
}

export interface Stop {
  do: "stop";
  reason: string;
  incident_id: string | null;
}

export interface Notify {
  do: "notify";
  title: string;
  text: string;
  level: "critical" | "info" | "warning";
}

export interface SwitchModel {
  do: "switch_model";
  model: string;
  reason: string;
}

export interface AppliedRecord {
  directive: Inject | SetLimits | Delay | Deny | Rewrite | Hold | Defer | Restore | Stop | Notify | SwitchModel;
  applied: Applied;
  intervention_id?: string | null;
}

export interface Applied {
  ok: boolean;
  how?: string;
}

export interface EpisodeRecord {
  id: string;
  type: string;
  what: string;
  opened_step: number;
  opened_at: number;
  issue_id: string;
  description?: string;
  severity?: "critical" | "high" | "low" | "medium";
  place?: string;
  agent?: string;
  answers?: number;
  rung?: string | null;
  opportunities?: number;
  relapses?: number;
  ending?: string | null;
  tokens?: number;
  cost_usd?: number;
  calls?: number;
}

export interface PersonRecord {
  reachable: boolean;
}

export interface Opinion {
  issue_id: string;
  key: string;
  model: string;
  agrees?: boolean | null;
  why?: string;
  cost_usd?: number;
  issue?: Issue | null;
}

export interface Plan {
  id: string;
  issue: Issue;
  steps: string[];
  constraints: string[];
  success_criteria: string[];
  escalation_path: string[];
}

export interface RollbackEntry {
  from_state: Record<string, unknown>;
  to_checkpoint: string;
  time: number;
  type: "rollback";
}

export interface CheckpointInfo {
  id: string;
  time: number;
  step: number;
  label?: string;
  cause?: string;
  files?: number;
  bytes?: number;
  not_covered?: string[];
  basis?: string;
  success_rate?: number;
  last_error_time?: number | null;
  limits?: Limits | null;
  context?: Context | null;
  run_id?: string | null;
  parent?: string | null;
}

export interface RestoredRecord {
  checkpoint_id: string;
  safety_id: string;
  changed?: string[];
  left_alone?: string[];
  by?: string;
}

export interface SnapshotRecord {
  watch: string;
  next_index: number;
}

export interface StatusRecord {
  status: "aborted" | "done" | "paused" | "pausing" | "running";
}

export interface ContractRecord {
  contract: Contract;
  refs?: Record<string, string>;
}

export interface BreachRecord {
  step: number;
  clause: string;
  restored?: string[];
  left?: string[];
  safety_id?: string;
  git?: string[];
  doubtful?: boolean;
}

export interface StopGateRecord {
  step: number;
  outcome: "asked" | "observed" | "own_check" | "passed" | "returned" | "unproven";
  results?: CommandResult[];
  claims?: string[];
  returns?: number;
  tree?: string;
}

export interface CommandResult {
  command: string;
  exit_status?: number | null;
  seconds?: number;
  output?: string;
  why?: string;
  own?: string[];
  differs?: string[];
}

export interface LimitRecord {
  what: string;
  limit?: string;
  seconds?: number;
}

export interface IncidentRecord {
  id: string;
  where?: string;
  summary?: string;
}

export interface Fault {
  part: string;
  why: string;
  dropped: boolean;
}

export interface TamperRecord {
  what: string;
  answer?: string;
  path?: string;
}

export interface FenceRecord {
  why: string;
  host: string;
  port: number;
  step: number;
}

export interface TranscriptRecord {
  path: string;
  offset: number;
}

export interface ProxiedRecord {
  place: string;
  index: number;
  text: string;
  items: Record<string, unknown>[];
  until: string;
  until_index: number;
}

export interface LostRecord {
  kind?: string;
  reason?: string;
  entries?: number;
}

export interface ParkedRecord {
  number: number;
  reason: string;
  source: string;
  quota?: string;
  wake?: number | null;
  held_by?: string;
}

export interface WokenRecord {
  number: number;
  by: string;
  how: string;
}

export interface LivenessRecord {
  word: string;
  evidence?: string;
  question?: string | null;
  wedged?: "client deadlocked" | "client prompt" | "client spins" | "disk full" | "empty answers" | "half-open stream" | "network gone" | "only pings" | "owner hung" | "pipe held by a child" | "tool never ends" | "tool reads the terminal" | "tool waits for input" | null;
}

export interface UnwedgeRecord {
  wedged: "client deadlocked" | "client prompt" | "client spins" | "disk full" | "empty answers" | "half-open stream" | "network gone" | "only pings" | "owner hung" | "pipe held by a child" | "tool never ends" | "tool reads the terminal" | "tool waits for input";
  answer: string;
  how?: string;
}

export interface Request {
  type: "REQUEST";
  schema: 0;
  request_id: string;
  command: "approve" | "cancel" | "escalate" | "pause" | "reject" | "resume" | "rollback";
  target: Target;
  timestamp: string;
  payload: Record<string, unknown>;
  actor?: string | null;
  reason?: string | null;
  attempt?: number | null;
  batch_id?: string | null;
}

export interface Target {
  run_id: string;
  issue_id?: string | null;
}

export interface Ack {
  type: "ACK";
  schema: 0;
  request_id: string;
  command: string;
  target: Target;
  timestamp: string;
  payload: Record<string, unknown>;
  batch_id?: string | null;
}

export interface Result {
  type: "RESULT";
  schema: 0;
  request_id: string | null;
  command: string | null;
  target: Target | null;
  timestamp: string;
  payload: ResultPayload;
  batch_id?: string | null;
}

export interface ResultPayload {
  status: "failure" | "success";
  message?: string;
  code?: "bad_request" | "duplicate" | "failed" | "invalid_state" | "not_found";
  previous_model?: string | null;
  new_model?: string;
  run_status?: string;
  details?: Record<string, unknown>;
}

export interface State {
  event: "STATE";
  schema: 0 | 1;
  run_id: string;
  updated_at: string;
  stack: StackFrame[];
  status?: "paused" | "pausing" | "running";
  seq?: number | null;
  request_id?: string | null;
  waiting?: Waiting | null;
  revision?: number | null;
}

export interface StackFrame {
  id: string;
  mode: string;
  iter: number;
  max: number | null;
  model: string | null;
  issue_id?: string | null;
  escalation_reason?: string | null;
}

export interface Waiting {
  kind: string;
  step: number;
  text: string;
  digest?: string;
  until?: number;
}

export interface Abort {
  event: "ABORT";
  schema: 0 | 1;
  stack: StackFrame[];
  run_id?: string | null;
  updated_at?: string | null;
  seq?: number | null;
  request_id?: string | null;
  revision?: number | null;
  reason: "CRITICAL_FAILURE" | "EMERGENCY_STOP" | "ERROR" | "USER_CANCELLED";
}

export interface Done {
  event: "DONE";
  schema: 0 | 1;
  stack: StackFrame[];
  run_id?: string | null;
  updated_at?: string | null;
  seq?: number | null;
  request_id?: string | null;
  revision?: number | null;
  reason: "COMPLETE" | "MAX_ISSUES" | "MAX_ITERATIONS" | "NO_MORE_ISSUES" | "STUCK" | "UNPROVEN";
}

export interface Audit {
  what: string;
  time: string;
  request_id?: string | null;
  command?: string | null;
  age?: number | null;
  why?: string | null;
  problem?: string | null;
  bytes?: number | null;
  actor?: string | null;
}

export interface ProofRecord {
  claims?: ClaimVerdict[];
  tests?: TestFact[];
  tree?: string;
  step?: number;
  contract?: string[];
  ending?: string;
  run?: "contradicted" | "own_check" | "proven" | "stale" | "unproven" | "";
}

export interface ClaimVerdict {
  claim: Claim;
  verdict: "contradicted" | "own_check" | "proven" | "stale" | "unproven";
  why: string;
  evidence?: CheckRun | null;
  changed?: string[];
  source?: "" | "own_run" | "reported" | "stream";
}

export interface Claim {
  kind: "build" | "commit" | "done" | "endpoint" | "file" | "lint" | "push" | "tests" | "types";
  text: string;
  step?: number;
  subject?: string;
  every?: boolean;
  count?: number;
}

export interface CheckRun {
  step: number;
  kind: "build" | "commit" | "done" | "endpoint" | "file" | "lint" | "push" | "tests" | "types";
  runner: string;
  command: string;
  outcome: "failed" | "none" | "passed" | "unknown";
  detail?: string;
  targets?: string[];
  tree?: string;
  limited?: boolean;
  selects?: boolean;
  own?: string;
  changed?: string[];
  failing?: string[];
  ours?: boolean;
}

export interface TestFact {
  what: string;
  path: string;
  line?: number;
  kind?: string;
}

export interface EndRecord {
  status: "aborted" | "done" | "paused" | "pausing" | "running";
  reason: string;
  message?: string;
  ending?: "broken" | "cancelled" | "contradicted" | "done" | "failed" | "limit" | "proven" | "refused" | "stopped" | "unproven" | null;
  not_done?: NotDone[];
}

export interface NotDone {
  kind: "alert" | "blocked" | "check" | "claim" | "contract" | "expired" | "rejected" | "undo" | "waiting";
  what: string;
  why?: string;
  step?: number;
  times?: number;
}

export interface GuiSessionRecord {
  session_id: string;
  chunks: number;
}

export interface GuiChunkRecord {
  chunk: number;
  path: string;
  sha256: string;
}

export interface GuiTroubleRecord {
  chunk: number;
  trouble: string;
}

export interface InterventionEvent {
  timestamp: number;
  status: "normal" | "dialog" | "wrong_file" | "error" | "terminal" | "unknown";
  confidence: number;
  actions_taken: string[];
  recovery_success: boolean | null;
  screenshot_path: string | null;
  outcome: "failed" | "no_action" | "none" | "recovered" | "skipped";
  reason: string;
  description: string;
  raw_response: string;
  evidence: string[];
  screenshot_after: string | null;
}

export interface GuiModelCallRecord {
  model: string;
  attempt: number;
  file: string | null;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  question: string;
  answer: string;
  seconds: number;
  outcome: string;
}

export interface VerificationResult {
  success: boolean;
  comparisons: FileComparison[];
  summary: string;
}

export interface FileComparison {
  path: string;
  exists: boolean;
  similarity: number;
  match_status: "match" | "mismatch" | "missing" | "partial";
  diff_lines: string[];
  expected_lines: number;
  actual_lines: number;
  exact: boolean;
  method: string;
  reason: string;
  lines_lost: number;
  lines_added: number;
  lines_changed: number;
}

export interface GuiResultRecord {
  completed: boolean;
  success: boolean;
  chunks: number;
  chunks_done: number;
  seconds: number;
  reason: string;
  troubles: string[];
  repaired: boolean;
  cost_usd: number;
}
