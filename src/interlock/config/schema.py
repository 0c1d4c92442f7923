"""The one configuration model: every key with its default, its bounds and what it means."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, structs

from ..core import Ending, Forbidden, Limits
from .hosts import DEFAULT_HOSTS

Share = Annotated[float, Meta(ge=0, le=1)]
Seconds = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(ge=0)]
Dollars = Annotated[float, Meta(ge=0)]


class Section(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A section of the configuration; an unknown key is an error."""


class SoftCorrection(Section, frozen=True, kw_only=True):
    enabled: Annotated[bool, Meta(description="Use this intervention.")] = True
    max_attempts: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="Hints per episode before the next level. Unset: 1; 3 for severity and pattern_specific."),
    ] = None
    custom_prompts_path: Annotated[str | None, Meta(description="A YAML file of your own hint templates.")] = None


class ContextReinforcement(Section, frozen=True, kw_only=True):
    enabled: Annotated[bool, Meta(description="Use this intervention.")] = True
    reinforcement_strength: Annotated[
        Literal["light", "medium", "strong"], Meta(description="How much of the context to repeat.")
    ] = "medium"
    include_examples: Annotated[bool, Meta(description="Repeat the context's examples too.")] = True


class ReductionFactors(Section, frozen=True, kw_only=True):
    moderate: Annotated[Share, Meta(description="Growth above 1.2.")] = 0.85
    high: Annotated[Share, Meta(description="Growth above 1.5.")] = 0.7
    aggressive: Annotated[Share, Meta(description="Growth above 2.0.")] = 0.5
    severe: Annotated[Share, Meta(description="Growth above 2.0 in a run that was throttled before.")] = 0.25


class ResourceThrottling(Section, frozen=True, kw_only=True):
    enabled: Annotated[bool, Meta(description="Use this intervention.")] = True
    reduction_factors: Annotated[ReductionFactors, Meta(description="The factor for each limit.")] = ReductionFactors()
    metrics_window_seconds: Annotated[float, Meta(gt=0, description="The window over which growth is measured.")] = 60


class SafeCheckpointCriteria(Section, frozen=True, kw_only=True):
    min_success_rate: Annotated[Share, Meta(description="Share of the last 20 tool results without error.")] = 0.8
    no_errors_duration_seconds: Annotated[Seconds, Meta(description="No error for this long before it.")] = 60


class CheckpointRollback(Section, frozen=True, kw_only=True):
    enabled: Annotated[bool, Meta(description="Use this intervention.")] = True
    max_rollback_depth: Annotated[Count, Meta(description="Automatic rollbacks per run.")] = 3
    checkpoint_retention_minutes: Annotated[
        float, Meta(gt=0, description="How old a checkpoint may be for an automatic rollback.")
    ] = 30
    safe_checkpoint_criteria: Annotated[
        SafeCheckpointCriteria, Meta(description="What makes a checkpoint safe to restore.")
    ] = SafeCheckpointCriteria()


class EmergencyStop(Section, frozen=True, kw_only=True):
    enabled: Annotated[bool, Meta(description="Use this intervention; if off, the run pauses for a person.")] = True
    auto_cleanup: Annotated[bool, Meta(description="Clean up as for `abort` without asking.")] = False
    notification_channels: Annotated[
        tuple[str, ...], Meta(description="Channels (from notifications.channels) to alert on a stop.")
    ] = ()
    preserve_incident_data_days: Annotated[float, Meta(ge=0, description="How long incidents are kept.")] = 30


class Strategy(Section, frozen=True, kw_only=True):
    type: Annotated[
        str, Meta(description="progressive, severity, pattern_specific, custom, or the name of a registered strategy.")
    ] = "progressive"
    effectiveness_threshold: Annotated[Share, Meta(description="Below this, one level up.")] = 0.6
    effectiveness_steps: Annotated[
        int, Meta(ge=1, description="An intervention worked if its issue does not return for this many steps.")
    ] = 10
    escalation_delay_seconds: Annotated[
        Seconds | None,
        Meta(description="Time before a stronger intervention. Unset: 120 s, or three calls if that is shorter."),
    ] = None


class Interventions(Section, frozen=True, kw_only=True):
    enabled: Annotated[bool, Meta(description="Respond to issues at all.")] = True
    observe: Annotated[bool, Meta(description="Watch, never act.")] = False
    max_interventions_per_execution: Annotated[Count, Meta(description="Interventions that did not work, per run.")] = (
        10
    )
    on_limit: Annotated[Literal["pause", "stop"], Meta(description="What happens at that limit.")] = "pause"
    intervention_cooldown_seconds: Annotated[
        Seconds | None,
        Meta(description="Time between two interventions. Unset: 30 s, or one call of the run if that is shorter."),
    ] = None
    soft_correction: Annotated[SoftCorrection, Meta(description="Level 1: a hint.")] = SoftCorrection()
    context_reinforcement: Annotated[ContextReinforcement, Meta(description="Level 2: a reminder of the goal.")] = (
        ContextReinforcement()
    )
    resource_throttling: Annotated[ResourceThrottling, Meta(description="Level 3: tighter limits, enforced.")] = (
        ResourceThrottling()
    )
    checkpoint_rollback: Annotated[CheckpointRollback, Meta(description="Level 4: roll back to a safe checkpoint.")] = (
        CheckpointRollback()
    )
    emergency_stop: Annotated[EmergencyStop, Meta(description="Level 5: stop, report, four options.")] = EmergencyStop()
    strategy: Annotated[Strategy, Meta(description="How the level is chosen.")] = Strategy()


class RunLimits(Limits, frozen=True, kw_only=True, omit_defaults=True):
    """The limits of a run, and what a run without any may spend."""

    default_max_cost_usd: Annotated[
        Dollars | None, Meta(description="Without any limit, a run that has spent this much pauses for a person.")
    ] = 25

    def smaller(self, other: Limits) -> "RunLimits":
        """The tighter of two, limit by limit."""
        tighter = self.plain.smaller(other)
        changes = {name: getattr(tighter, name) for name in Limits.__struct_fields__}
        return structs.replace(self, **changes)

    @property
    def plain(self) -> Limits:
        return Limits(**{name: getattr(self, name) for name in Limits.__struct_fields__})

    @property
    def ceiling(self) -> float | None:
        """The default ceiling, where no limit would end the run."""
        ends = (self.max_tokens, self.max_cost_usd, self.max_steps, self.max_execution_time)
        return self.default_max_cost_usd if all(limit is None for limit in ends) else None


class RiskLevels(Section, frozen=True, kw_only=True):
    medium: Annotated[Share, Meta(description="Lowest risk that counts as medium.")] = 0.6
    high: Annotated[Share, Meta(description="Lowest risk that counts as high.")] = 0.8
    critical: Annotated[Share, Meta(description="Lowest risk that counts as critical.")] = 0.95


class RationalityLevels(Section, frozen=True, kw_only=True):
    medium: Annotated[Share, Meta(description="Lowest rationality that counts as medium.")] = 0.5
    high: Annotated[Share, Meta(description="Lowest rationality that counts as high.")] = 0.8


class Review(Section, frozen=True, kw_only=True):
    risk_levels: Annotated[RiskLevels, Meta(description="Risk at which a step counts as medium, high or critical.")] = (
        RiskLevels()
    )
    rationality_levels: Annotated[
        RationalityLevels, Meta(description="Rationality at which a step counts as medium or high.")
    ] = RationalityLevels()
    rules_path: Annotated[str | None, Meta(description="A YAML file, or a folder of them, with your own rules.")] = None
    programs_path: Annotated[str | None, Meta(description="A YAML file that says what your own programs do.")] = None
    ask: Annotated[
        bool, Meta(description="Rules with ask: true wait for a person; if false, their verdict applies at once.")
    ] = True
    approval_hours: Annotated[
        float, Meta(gt=0, description="An approval request expires after this long, and the call is blocked.")
    ] = 12
    untrusted: Annotated[
        Literal["warn", "ask", "block"],
        Meta(description="What to do with a risky call that uses text from the web, an issue or a foreign file."),
    ] = "ask"


class Judge(Section, frozen=True, kw_only=True):
    enabled: Annotated[bool, Meta(description="Ask a model where rules are unsure, and at sampled points.")] = False
    api: Annotated[
        Literal["anthropic", "openai"], Meta(description="openai: any compatible server, local ones too.")
    ] = "anthropic"
    url: Annotated[str | None, Meta(description="The server's address. Unset: the provider's own.")] = None
    key_env: Annotated[
        str | None,
        Meta(description="The environment variable with the key. Unset: ANTHROPIC_API_KEY or OPENAI_API_KEY."),
    ] = None
    model: Annotated[str, Meta(description="The model.")] = "claude-haiku-4-5"
    max_cost_usd: Annotated[float, Meta(ge=0, description="Dollars per run, if the model's price is known.")] = 0.5
    max_questions: Annotated[int, Meta(ge=0, description="Questions per run.")] = 50
    every: Annotated[
        int, Meta(ge=0, description="Steps between two checks of the run's direction; 0 switches them off.")
    ] = 40


class SecondOpinion(Section, frozen=True, kw_only=True):
    enabled: Annotated[bool | None, Meta(description="Now detect.judge.enabled.")] = None
    model: Annotated[str | None, Meta(description="Now detect.judge.model.")] = None
    max_cost_usd: Annotated[Dollars | None, Meta(description="Now detect.judge.max_cost_usd.")] = None


class Detect(Section, frozen=True, kw_only=True):
    sensitivity: Annotated[Literal["low", "medium", "high"], Meta(description="How easily an alarm is raised.")] = (
        "medium"
    )
    exceptions: Annotated[
        dict[str, tuple[str, ...]],
        Meta(description="Issue types to ignore for each tool; '*' means every type or tool."),
    ] = {}
    waiting_minutes: Annotated[
        float, Meta(gt=0, description="How long an agent may wait while nothing moves before it and you get a message.")
    ] = 30
    judge: Annotated[Judge, Meta(description="A model as judge.")] = Judge()
    second_opinion: Annotated[SecondOpinion, Meta(description="The former name of detect.judge.")] = SecondOpinion()

    @property
    def judging(self) -> Judge:
        """The judge, with what is set under its former name where it has nothing of its own."""
        old, new, default = self.second_opinion, self.judge, Judge()
        changes = {
            name: value
            for name in SecondOpinion.__struct_fields__
            if (value := getattr(old, name)) is not None and getattr(new, name) == getattr(default, name)
        }
        return structs.replace(new, **changes)


class Runtime(Section, frozen=True, kw_only=True):
    contain: Annotated[
        Literal["off", "auto", "guard", "fence"],
        Meta(
            description="Keep the agent away from its supervisor; auto: guard where it works; fence: also from the "
            "rest of the machine and the network."
        ),
    ] = "auto"
    fail: Annotated[
        Literal["auto", "open", "closed"],
        Meta(
            description="If supervision fails, a step runs (open) or is blocked (closed); auto: open, but closed for "
            "the hooks of unattended runs under guard or fence."
        ),
    ] = "auto"
    step_timeout_ms: Annotated[float, Meta(gt=0, description="The most that supervision may add to a step.")] = 250
    on_tamper: Annotated[
        Literal["auto", "warn", "pause", "stop"],
        Meta(description="Reaction to tampering; auto: warn; when contained: stop, or pause if a person is present."),
    ] = "auto"
    left_running: Annotated[
        Literal["end", "leave"],
        Meta(description="Whether the run ends processes that are still running when the command ends."),
    ] = "end"


Allowed = Literal["at", "cron", "dbus", "docker", "interlock-code", "podman", "screen", "shell-files", "ssh-keys",
                  "systemd", "tmux"]  # fmt: skip


class RunSettings(Section, frozen=True, kw_only=True):
    fail_on: Annotated[
        tuple[Ending, ...],
        Meta(
            description="Endings that turn exit status 0 of `interlock run` into 123. A failed done_when always does."
        ),
    ] = ("broken",)


class Contain(Section, frozen=True, kw_only=True):
    allow: Annotated[tuple[Allowed, ...], Meta(description="What stays available under guard.")] = ()
    files: Annotated[
        Literal["auto", "workspace", "everything"],
        Meta(
            description="What a run may write under guard: its workspace, caches and temporary folders, or everything; "
            "auto: everything for a plain command, and for root in a container or CI."
        ),
    ] = "auto"
    tmp: Annotated[
        Literal["shared", "own"], Meta(description="Whether a limited run has a /tmp of its own; under fence it does.")
    ] = "shared"
    write: Annotated[
        tuple[str, ...],
        Meta(description="What the agent may also write, besides its workspace, even where fence would hide it."),
    ] = ()
    hide: Annotated[
        tuple[str, ...], Meta(description="Folders and files that a limited run does not see, besides secrets.")
    ] = ()
    show: Annotated[
        tuple[str, ...],
        Meta(description="Secrets that a limited run may read although no tool of it seems to need them."),
    ] = ()
    hosts: Annotated[
        tuple[str, ...], Meta(description="Hosts that the agent may reach under fence: NAME, *.NAME or NAME:PORT.")
    ] = DEFAULT_HOSTS


class Contract(Section, frozen=True, kw_only=True):
    may_change: Annotated[
        tuple[str, ...],
        Meta(
            description="Globs. Changes to other files in the workspace are blocked, or need approval with --attended."
        ),
    ] = ()
    protect: Annotated[tuple[str, ...], Meta(description="Globs of files that must not change.")] = ()
    may_run: Annotated[tuple[str, ...], Meta(description="The only commands allowed; empty: review decides.")] = ()
    may_not: Annotated[tuple[Forbidden, ...], Meta(description="What no command may do.")] = ()
    hosts: Annotated[tuple[str, ...], Meta(description="The only hosts that a call may name; empty: any.")] = ()
    done_when: Annotated[
        tuple[str, ...], Meta(description="Commands that must pass on the final files; Interlock runs them itself.")
    ] = ()
    constraints: Annotated[tuple[str, ...], Meta(description="Rules in words, repeated to the agent.")] = ()
    goals: Annotated[tuple[str, ...], Meta(description="What progress is measured against.")] = ()
    boundaries: Annotated[tuple[str, ...], Meta(description="What the work must stay within, in words; repeated.")] = ()
    examples: Annotated[tuple[str, ...], Meta(description="Examples of good work, which reminders repeat.")] = ()
    task: Annotated[bool, Meta(description="Read clauses from the task.")] = True
    max_returns: Annotated[
        Count, Meta(description="How often the output of a failing done_when goes back to the agent.")
    ] = 3
    timeout_seconds: Annotated[float, Meta(gt=0, description="How long one done_when command may take.")] = 600


class Checkpoints(Section, frozen=True, kw_only=True):
    keep_days: Annotated[float, Meta(gt=0, description="Checkpoints older than this are removed.")] = 14
    keep_count: Annotated[int, Meta(ge=1, description="Number of checkpoints to keep; older ones are thinned out.")] = (
        1000
    )
    max_bytes: Annotated[int, Meta(gt=0, description="Size of the store.")] = 20 * 1024**3
    exclude: Annotated[
        tuple[str, ...], Meta(description="Names (*.log, node_modules) or paths (web/dist) to leave out.")
    ] = ()
    budget_files: Annotated[int, Meta(gt=0, description="Files that a workspace may have.")] = 500_000
    budget_bytes: Annotated[int, Meta(gt=0, description="New bytes that one checkpoint may save.")] = 10 * 1024**3
    budget_ms: Annotated[float, Meta(gt=0, description="How long one checkpoint may take.")] = 120_000


class Hub(Section, frozen=True, kw_only=True):
    url: Annotated[str | None, Meta(description="nats://host:port or tls://host:port; several with commas.")] = None
    credentials_file: Annotated[str | None, Meta(description="A NATS .creds file.")] = None
    token_file: Annotated[str | None, Meta(description="A file with the token.")] = None
    tls: Annotated[dict[str, str], Meta(description="ca_file, cert_file, key_file.")] = {}
    key_file: Annotated[
        str | None, Meta(description="The private key file; default: key in the user's state directory.")
    ] = None
    trusted_file: Annotated[
        str | None,
        Meta(description="The file of trusted public keys; default: hub-keys in the configuration directory."),
    ] = None
    unsigned: Annotated[bool, Meta(description="Accept requests, replies and runs without a trusted signature.")] = (
        False
    )
    replicas: Annotated[
        Annotated[int, Meta(ge=1, le=5)] | None,
        Meta(description="Copies on the hub; default: 3 if the cluster has enough servers, otherwise 1."),
    ] = None


class Store(Section, frozen=True, kw_only=True):
    dir: Annotated[str | None, Meta(description="Where runs are stored; default: the user's state directory.")] = None
    max_bytes: Annotated[int, Meta(gt=0, description="Disk budget of all runs together.")] = 10 * 1024**3
    output_bytes: Annotated[
        Count, Meta(description="How much of a command's output to keep: the first and the newest part. 0: none.")
    ] = 64 * 1024**2


class Control(Section, frozen=True, kw_only=True):
    strict_ids: Annotated[bool, Meta(description="Accept only UUID v4 as request_id.")] = False


NotifyEvent = Literal[
    "emergency_stop", "critical_issue", "waiting", "budget", "tampered", "failed", "limit", "broken", "contradicted",
    "unproven", "finished",
]  # fmt: skip


class Notifications(Section, frozen=True, kw_only=True):
    channels: Annotated[dict[str, str], Meta(description="Name to apprise URL.")] = {}
    events: Annotated[
        tuple[NotifyEvent, ...], Meta(description="Events to alert on; for stops see notification_channels.")
    ] = (
        "emergency_stop", "critical_issue", "waiting", "budget", "tampered", "failed", "limit", "broken",
        "contradicted",
    )  # fmt: skip
    link: Annotated[
        str | None, Meta(description="The dashboard's address (https://host:7717): alerts carry a link to their run.")
    ] = None
    budget_thresholds: Annotated[
        tuple[Annotated[float, Meta(gt=0)], ...],
        Meta(description="Shares of max_cost_usd and max_tokens that raise an alert, once each."),
    ] = (0.8, 1.0)
    repeat_seconds: Annotated[float, Meta(ge=0, description="Minimum time between two equal alerts.")] = 60
    heartbeat: Annotated[
        str | None, Meta(description="An http(s) address that is requested once a minute while a run is supervised.")
    ] = None


class GuiBudget(Section, frozen=True, kw_only=True):
    max_checks: Annotated[Count, Meta(description="Questions to the model per session.")] = 200
    max_cost_usd: Annotated[float, Meta(ge=0, description="Dollars per session.")] = 2


class GuiVerification(Section, frozen=True, kw_only=True):
    enabled: Annotated[bool, Meta(description="Compare the files with the expected result.")] = True
    similarity_threshold: Annotated[Share, Meta(description="Minimum similarity for a match.")] = 0.98
    partial_threshold: Annotated[Share, Meta(description="Minimum similarity for a partial match.")] = 0.90
    strict: Annotated[
        bool, Meta(description="Success requires equality apart from line endings; if false, every file must match.")
    ] = True
    verify_on_completion: Annotated[bool, Meta(description="Verify when a replay ends.")] = True


class Gui(Section, frozen=True, kw_only=True):
    enabled: Annotated[bool, Meta(description="Watch the screen.")] = True
    interval_seconds: Annotated[float, Meta(gt=0, description="Time between two checks.")] = 600
    min_cooldown_seconds: Annotated[Seconds, Meta(description="Time between two recoveries.")] = 60
    max_retries: Annotated[int, Meta(ge=1, description="Failed recoveries in a row before the replay is aborted.")] = 3
    confidence_threshold: Annotated[Share, Meta(description="How sure an analysis must be to act.")] = 0.85
    screenshot_backend: Annotated[
        Literal["auto", "mss", "scrot", "wayland"], Meta(description="How the screen is captured.")
    ] = "auto"
    save_screenshots: Annotated[bool, Meta(description="Keep screenshots.")] = True
    screenshot_dir: Annotated[str | None, Meta(description="Where; default: the run's folder.")] = None
    screenshot_retention_days: Annotated[float, Meta(ge=0, description="How long screenshots are kept.")] = 7
    analyzer: Annotated[Literal["auto", "claude", "local"], Meta(description="What analyses the screenshot.")] = "auto"
    model: Annotated[str | None, Meta(description="The large model; default: the newest Opus known.")] = None
    small_model: Annotated[str | None, Meta(description="The model asked first.")] = None
    allowed_buttons: Annotated[
        tuple[str, ...], Meta(description="Dangerous buttons (delete, trust) that may be pressed.")
    ] = ()
    budget: Annotated[GuiBudget, Meta(description="What questions to a model may cost.")] = GuiBudget()
    verification: Annotated[GuiVerification, Meta(description="The check of the files at the end.")] = GuiVerification()


class ModelInfo(Section, frozen=True, kw_only=True):
    """A model: its strength within its family, and its prices if the price list lacks them."""

    name: Annotated[str, Meta(description="As the agent or the provider calls it.")]
    family: Annotated[str | None, Meta(description="Only models of one family are compared; unset matches all.")] = None
    strength: Annotated[int, Meta(description="Escalation only goes to a higher number.")] = 0
    aliases: Annotated[tuple[str, ...], Meta(description="Other names for it.")] = ()
    input_usd_per_million: Annotated[Dollars | None, Meta(description="Price per million input tokens.")] = None
    output_usd_per_million: Annotated[Dollars | None, Meta(description="Price per million output tokens.")] = None


class Resume(Section, frozen=True, kw_only=True):
    until: Annotated[
        Annotated[str, Meta(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")] | None,
        Meta(description="A time of day such as 08:00: once it has come, a run no longer resumes by itself."),
    ] = None
    max_parks: Annotated[Count, Meta(description="Usage limits per run after which it resumes; 0: it never parks.")] = 6
    max_cost_usd: Annotated[Dollars | None, Meta(description="A run that has spent this much waits for a person.")] = (
        None
    )
    jitter_s: Annotated[Seconds, Meta(description="A random delay of up to this long after each reset.")] = 30
    rerun: Annotated[
        bool,
        Meta(
            description="After a usage limit, rerun a command that has no session to resume, although it starts over."
        ),
    ] = False


class Unattended(Section, frozen=True, kw_only=True):
    unwedge: Annotated[bool, Meta(description="Act on a run that hangs; if off, only show it.")] = True
    tool_minutes: Annotated[
        float, Meta(gt=0, description="A tool that prints nothing, uses no CPU and does no I/O is stopped after this.")
    ] = 10
    resume: Annotated[Resume, Meta(description="How a run that a usage limit stopped may resume by itself.")] = Resume()


class BudgetMatch(Section, frozen=True, kw_only=True):
    """The runs that a budget applies to: patterns with * and ?, all of which must match; unset matches every run."""

    name: Annotated[str | None, Meta(description="The run's name.")] = None
    label: Annotated[str | None, Meta(description="One of its labels (interlock run --label).")] = None
    workspace: Annotated[str | None, Meta(description="Its workspace, as an absolute path.")] = None
    user: Annotated[str | None, Meta(description="Who started it.")] = None
    host: Annotated[str | None, Meta(description="The machine that it runs on.")] = None


class Budget(Section, frozen=True, kw_only=True):
    """What runs may spend in total."""

    name: Annotated[str, Meta(description="A unique name.")]
    match: Annotated[BudgetMatch, Meta(description="The runs it applies to; unset: all.")] = BudgetMatch()
    per: Annotated[Literal["run", "day", "week", "month"], Meta(description="The period, in local time.")] = "day"
    max_cost_usd: Annotated[
        Annotated[float, Meta(gt=0)] | None, Meta(description="Dollars per period, for all its runs together.")
    ] = None
    max_tokens: Annotated[
        Annotated[int, Meta(gt=0)] | None, Meta(description="Tokens per period, for all its runs together.")
    ] = None
    on_limit: Annotated[
        Literal["warn", "pause", "stop"], Meta(description="What happens to a run whose next step would exceed it.")
    ] = "pause"


class Config(Section, frozen=True, kw_only=True):
    """Everything that can be set."""

    interventions: Annotated[Interventions, Meta(description="How Interlock responds to issues.")] = Interventions()
    limits: Annotated[RunLimits, Meta(description="What a run may use; unset means no limit.")] = RunLimits()
    review: Annotated[Review, Meta(description="Review of steps before they run.")] = Review()
    detect: Annotated[Detect, Meta(description="Detection of problems.")] = Detect()
    runtime: Annotated[Runtime, Meta(description="How supervision itself behaves.")] = Runtime()
    run: Annotated[RunSettings, Meta(description="The end of `interlock run`.")] = RunSettings()
    contain: Annotated[Contain, Meta(description="Containment of the agent.")] = Contain()
    contract: Annotated[Contract, Meta(description="What a run may and must do.")] = Contract()
    checkpoints: Annotated[Checkpoints, Meta(description="Stored checkpoints.")] = Checkpoints()
    hub: Annotated[Hub, Meta(description="Runs on several machines.")] = Hub()
    store: Annotated[Store, Meta(description="Where runs are kept.")] = Store()
    control: Annotated[Control, Meta(description="The control protocol.")] = Control()
    notifications: Annotated[Notifications, Meta(description="Alerts.")] = Notifications()
    gui: Annotated[Gui, Meta(description="GUI sessions.")] = Gui()
    unattended: Annotated[Unattended, Meta(description="Unattended runs.")] = Unattended()
    models: Annotated[tuple[ModelInfo, ...], Meta(description="Additional models.")] = ()
    budgets: Annotated[tuple[Budget, ...], Meta(description="What runs may spend in total.")] = ()

    def __post_init__(self) -> None:
        if type(self.limits) is Limits:  # as `Config(limits=Limits(...))` gives them
            given = {name: getattr(self.limits, name) for name in Limits.__struct_fields__}
            structs.force_setattr(self, "limits", RunLimits(**given))
