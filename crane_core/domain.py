"""The nouns of the study: frozen records that travel between rooms. Knows no file, no database, no screen."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

JsonObject = dict[str, Any]
"""An object of JSON, by the names of its members."""

PAPER_RUNS = 5
"""Queries per instance, detector and setting (paper, section 4.3)."""


class Version(StrEnum):
    """The two notebooks of a case. The name is the ground truth: reproduced crashes, fixed does not."""

    REPRODUCED = "reproduced"
    FIXED = "fixed"


class Setting(StrEnum):
    """What a detector is shown besides the code (paper, sections 3.3 and 4.5)."""

    CODE = "code"
    RUNTIME = "runtime"
    RUNTIME_WITHOUT_S = "runtime-S"
    RUNTIME_WITHOUT_R = "runtime-R"
    RUNTIME_WITHOUT_V = "runtime-V"
    RUNTIME_DOCS = "runtime+docs"
    RUNTIME_PLUS = "runtime+"


class Label(StrEnum):
    """What an annotator says of a detector's answer to one instance (paper, section 4.4.2).

    CORRECT on a fixed instance means that no crash was predicted and none happens. PARTIAL and WRONG judge the
    diagnosis of a crash that was detected (the paper's partially correct and reasoning wrong). MISDETECTED is the
    paper's wrong: the detection itself fails. UNVERIFIABLE is a judge that could not decide.
    """

    CORRECT = "correct"
    PARTIAL = "partial"
    WRONG = "wrong"
    MISDETECTED = "misdetected"
    UNVERIFIABLE = "unverifiable"


LABEL_CODE = re.compile(r"[a-z][a-z0-9-]{0,23}")
"""What a campaign may store as a label: those above, or codes of its own set (`annotation.label_set`)."""


class CellRole(StrEnum):
    """What a cell is to the prediction: it ran before, it is about to run, or it took no part."""

    EXECUTED = "executed"
    TARGET = "target"
    NOT_RUN = "not run"


class DetectorKind(StrEnum):
    """What answers. REHEARSAL and REPAIR predict nothing: they execute the target in a copy of its kernel.

    A run of REPAIR says whether the target still crashes with the first fix that is shown.
    """

    LLM = "llm"
    ANALYZER = "analyzer"
    RULES = "rules"
    REHEARSAL = "rehearsal"
    REPAIR = "repair"


EXECUTED_KINDS = (DetectorKind.REHEARSAL, DetectorKind.REPAIR)
"""Kinds whose runs are never counted among predictions."""


class AnnotatorKind(StrEnum):
    HUMAN = "human"
    JUDGE = "judge"


class AnnotationAction(StrEnum):
    """One thing that a person did in a campaign. Nothing is edited: an undo or a second label is a separate line.

    LABEL sets the label of an item, REASON says why it is not correct, NOTE keeps a remark, UNDO takes the label back,
    SKIP puts the item off, FLAG and UNFLAG mark it for discussion, ADJUDICATE decides between annotators. SHOWN is the
    program's: after the annotator's own label, the plan had another one shown.
    """

    LABEL = "label"
    REASON = "reason"
    NOTE = "note"
    UNDO = "undo"
    SKIP = "skip"
    FLAG = "flag"
    UNFLAG = "unflag"
    ADJUDICATE = "adjudicate"
    SHOWN = "shown"


class MessageAction(StrEnum):
    """A message in a thread between an annotator and the lead, or that the thread is resolved."""

    WRITE = "write"
    RESOLVE = "resolve"


class Side(StrEnum):
    """On which side of a thread a message was written."""

    ANNOTATOR = "annotator"
    LEAD = "lead"


class Listed(StrEnum):
    """What can be listed, renamed, removed and restored by its name; an answer is invalidated, not renamed."""

    BENCHMARK = "benchmark"
    SOURCE = "source"
    RUN = "run"
    CAMPAIGN = "campaign"
    ANSWER = "answer"


class InventoryAction(StrEnum):
    """What was done to one of them. Nothing is deleted: what is removed is not loaded until it is restored."""

    REMOVE = "remove"
    RESTORE = "restore"
    RENAME = "rename"


class ViewAction(StrEnum):
    """What a person did with one of the saved views."""

    SAVE = "save"
    RENAME = "rename"
    REMOVE = "remove"


class NoteKind(StrEnum):
    """What a person wrote: a word to find things by, a comment, or a diagnosis as it should read."""

    TAG = "tag"
    COMMENT = "comment"
    DIAGNOSIS = "diagnosis"


class NoteAction(StrEnum):
    """What was done with a note. Nothing is deleted: a removed note is not shown until it is restored."""

    ADD = "add"
    REMOVE = "remove"
    RESTORE = "restore"


class AuditAction(StrEnum):
    """What the audit log tells of."""

    LOG_IN = "log in"
    LOG_OUT = "log out"
    INVITE = "invite"
    END_SESSION = "end session"
    END_ACCESS = "end access"
    ROLE = "change role"
    LOCK = "lock"
    OPEN_AGAIN = "open again"
    EXPORT = "export"
    START_RUN = "start run"
    STOP_RUN = "stop run"
    REGISTER_PLAN = "register plan"
    ASSIST = "answer an assistant"
    NOTIFY = "change notifications"
    REMOVE = "remove"
    RESTORE = "restore"
    RENAME = "rename"


class VerifiedAs(StrEnum):
    """The outcome of executing one notebook of a pair.

    AS_RECORDED: the crashing one raised its recorded exception in its target cell, or the fixed one ran through.
    CANNOT_RUN: something is missing here (a module, a file, a GPU, the network). STOPPED: it met a limit. The others
    are ways in which a pair is not what it claims to be.
    """

    AS_RECORDED = "as recorded"
    NO_CRASH = "no crash"
    OTHER_EXCEPTION = "other exception"
    OTHER_CELL = "crash in another cell"
    FIXED_CRASHES = "fixed notebook crashes"
    NOT_A_PAIR = "not a pair"
    CANNOT_RUN = "cannot run here"
    STOPPED = "stopped at a limit"


class ProblemKind(StrEnum):
    """What kind of trouble a record made.

    UNREADABLE: it could not be had. CONTRADICTION: two sources state one fact differently. WAITING: an answer or label
    whose instance is not loaded yet.
    """

    UNREADABLE = "unreadable"
    CONTRADICTION = "contradiction"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Benchmark:
    benchmark: str
    title: str
    licence: str | None = None
    url: str | None = None
    varied_from: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A crash and its repair. Labels use the vocabularies of JunoBench; None without a label.

    created: when the notebook was written, as `stated_date` reads it.
    """

    benchmark: str
    case_id: str
    library: str | None = None
    root_cause: str | None = None
    exception: str | None = None
    crash_type: str | None = None
    stage: str | None = None
    message: str | None = None
    traceback: str | None = None
    diagnosis: str | None = None
    created: str | None = None


@dataclass(frozen=True, slots=True)
class Instance:
    """One notebook of a case, at the moment before its target cell runs."""

    benchmark: str
    case_id: str
    version: Version
    remark: str | None = None

    @property
    def instance_id(self) -> str:
        return f"{self.case_id}_{self.version}"

    @property
    def crashes(self) -> bool:
        return self.version is Version.REPRODUCED


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell as one origin shows it. `position` counts from 0 in execution order, the target last.

    `origin` separates texts that must not be joined by position: upstream edited its notebooks between releases.
    `notebook_index` counts code cells from 0 in the notebook; `crash_line` counts lines of this cell from 1.
    """

    benchmark: str
    instance_id: str
    origin: str
    position: int
    role: CellRole
    code: str
    execution_count: int | None = None
    notebook_index: int | None = None
    crash_line: int | None = None


@dataclass(frozen=True, slots=True)
class VariableState:
    """What is known of one name in the kernel, in the paper's three groups (section 3.3): S, R and V.

    Values are JSON; what JSON cannot say is tagged (see prompts.tagged_json), so nothing is lost in between. `plus`
    holds, by group, the facts that the published extractor has no equal of; `docs` what a callable says of itself;
    `unavailable` why nothing else could be had; `via` the functions of the notebook through which alone it is needed.
    """

    type: str
    structure: JsonObject = field(default_factory=dict)
    representation: JsonObject = field(default_factory=dict)
    values: JsonObject = field(default_factory=dict)
    assigned: JsonObject | None = None
    plus: dict[str, JsonObject] = field(default_factory=dict)
    docs: JsonObject = field(default_factory=dict)
    unavailable: str | None = None
    via: list[str] = field(default_factory=list)

    def to_json(self) -> JsonObject:
        """Without the members that say nothing beyond the three groups."""
        entry: JsonObject = {
            "type": self.type,
            "structure": self.structure,
            "representation": self.representation,
            "values": self.values,
        }
        others = {
            name: getattr(self, name)
            for name in ("assigned", "plus", "docs", "unavailable", "via")
        }
        return entry | {name: value for name, value in others.items() if value}

    @classmethod
    def from_json(cls, entry: JsonObject) -> VariableState:
        """The entry that `to_json` gave; what an entry does not state is empty."""
        return cls(
            **{
                name: entry[name]
                for name in cls.__dataclass_fields__
                if name in entry
            }
        )


@dataclass(frozen=True, slots=True)
class KernelState:
    """The relevant part of a live kernel before the target cell (paper, section 3.1; design, section 4).

    `accesses` are entries in the form of VariableState.to_json, by the text of the access. `is_literal` is False for a
    published block that Python cannot evaluate (object reprs, torch.Size, bare nan). What only a capture states
    (schema 2): `absent`, what the target uses and will not find; `unavailable`, names without a summary and why;
    `captured`, where and how it was taken; `syntax_error` of the target.
    """

    benchmark: str
    instance_id: str
    setting: Setting
    origin: str
    variables: dict[str, VariableState]
    accesses: JsonObject = field(default_factory=dict)
    is_literal: bool = True
    schema_version: int = 1
    absent: JsonObject = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)
    captured: JsonObject = field(default_factory=dict)
    syntax_error: str | None = None

    def to_json(self) -> JsonObject:
        """Without the members of a capture that say nothing."""
        document = {
            "schema_version": self.schema_version,
            "variables": {
                name: variable.to_json()
                for name, variable in self.variables.items()
            },
            "accesses": self.accesses,
            "is_literal": self.is_literal,
        }
        others = {
            name: getattr(self, name)
            for name in ("absent", "unavailable", "captured", "syntax_error")
        }
        return document | {
            name: value for name, value in others.items() if value
        }

    @classmethod
    def from_json(
        cls,
        document: JsonObject,
        *,
        benchmark: str,
        instance_id: str,
        setting: Setting,
        origin: str,
    ) -> KernelState:
        """The state whose JSON this is: of `to_json`, or of a capture (schema 2)."""
        others = (
            "accesses",
            "is_literal",
            "schema_version",
            "absent",
            "unavailable",
            "captured",
            "syntax_error",
        )
        return cls(
            benchmark,
            instance_id,
            setting,
            origin,
            {
                name: VariableState.from_json(entry)
                for name, entry in document["variables"].items()
            },
            **{name: document[name] for name in others if name in document},
        )


@dataclass(frozen=True, slots=True)
class Prompt:
    """The exact text a detector was shown for an instance, addressed by the sha256 of its UTF-8 bytes."""

    benchmark: str
    instance_id: str
    setting: Setting
    origin: str
    sha256: str
    text: str


@dataclass(frozen=True, slots=True)
class Detector:
    detector: str
    title: str
    kind: DetectorKind


@dataclass(frozen=True, slots=True)
class Run:
    """One answer of a detector. `run_index` counts from 1; 0 means that the detector got no question.

    `crashes` is None if no answer can be read; `unanswered` then says why. `experiment` names the release or
    job that the answer belongs to, so that repetitions of a study are not mixed in one vote. What an imported answer
    took (tokens, seconds from question to answer, USD) is here where its file says it; of a local job its Reply has it.
    """

    benchmark: str
    instance_id: str
    detector: str
    setting: Setting
    experiment: str
    run_index: int
    crashes: bool | None
    reasoning: str | None = None
    unanswered: str | None = None
    diagnostics: str | None = None
    prompt_sha256: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: float | None = None
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One detector set to work on a benchmark in one setting; its name is the `experiment` of its answers.

    `options` is a JSON object of what else shaped the answers: model, base address, template, temperature, seed,
    versions of tools. Never a key. `started_at` is ISO 8601 in UTC.
    """

    job: str
    benchmark: str
    detector: str
    setting: Setting
    options: str
    started_at: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model sent back when it was asked once, before anybody read it: one Run comes of it when it is loaded.

    `text` is None if nothing came; `trouble` then says why. Times are ISO 8601 in UTC; `seconds` runs from the
    first attempt to the answer, `attempts` counts requests. Tokens are those that the endpoint counted, `usd` what
    they cost: as the endpoint reported (`is_usd_reported`), else by the price in the job's options; None where unknown.
    `chance` is the probability in 0..1 of the tokens that spell its detection, None if the endpoint did not tell it.
    """

    job: str
    benchmark: str
    instance_id: str
    detector: str
    setting: Setting
    run_index: int
    prompt_sha256: str
    answered_at: str
    text: str | None = None
    trouble: str | None = None
    finish_reason: str | None = None
    seconds: float | None = None
    attempts: int = 1
    input_tokens: int | None = None
    output_tokens: int | None = None
    usd: float | None = None
    is_usd_reported: bool | None = None
    chance: float | None = None


@dataclass(frozen=True, slots=True)
class Reread:
    """What a stored reply said when it was loaded, where a later reading says something else.

    None: no answer could be read, and `unanswered` said why. The reply itself stays as it is.
    """

    job: str
    benchmark: str
    instance_id: str
    detector: str
    setting: Setting
    run_index: int
    read_at: str
    crashes_before: bool | None = None
    unanswered_before: str | None = None
    crashes_after: bool | None = None
    unanswered_after: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A label by one annotator. `run_index` 0 judges the verdict of all runs, 1..k one run.

    `repetition` counts from 1 and `presentation` is "normal" or "reversed": a judge is asked again, and in both
    orders of its two texts. `guideline` is the version that a judge was shown, None if it was shown none. `label` is a
    Label, or a code of the own labels of `campaign`, which is None otherwise.
    """

    benchmark: str
    instance_id: str
    detector: str
    setting: Setting
    experiment: str
    annotator: str
    annotator_kind: AnnotatorKind
    label: str
    run_index: int = 0
    repetition: int = 1
    presentation: str = "normal"
    note: str | None = None
    guideline: str | None = None
    campaign: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeJob:
    """One model set to judge the diagnoses of an experiment on a benchmark; `annotator` is the name of its labels.

    `options` as in Job: what shaped the answers, never a key.
    """

    job: str
    benchmark: str
    experiment: str
    annotator: str
    options: str
    started_at: str


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """What a judge sent back when it was asked once about one run's diagnosis, before anybody read it.

    A Judgement comes of it when it is loaded, where a label can be read. `prompt` is the exact text that it was shown;
    `labels` are the codes that it could give, with commas between, where those are a campaign's own; else None. The
    rest is as in Judgement and Reply.
    """

    job: str
    benchmark: str
    instance_id: str
    detector: str
    setting: Setting
    experiment: str
    annotator: str
    run_index: int
    repetition: int
    presentation: str
    prompt: str
    answered_at: str
    text: str | None = None
    trouble: str | None = None
    finish_reason: str | None = None
    seconds: float | None = None
    attempts: int = 1
    input_tokens: int | None = None
    output_tokens: int | None = None
    usd: float | None = None
    guideline: str | None = None
    campaign: str | None = None
    labels: str | None = None
    is_usd_reported: bool | None = None


@dataclass(frozen=True, slots=True)
class Campaign:
    """A plan for labelling: population, design, seed, annotators, as one JSON document."""

    campaign: str
    plan: str


@dataclass(frozen=True, slots=True)
class CampaignGuideline:
    """The text that annotators of a campaign read from `changed_at` on, Markdown; before the first it is the plan's."""

    campaign: str
    changed_at: str
    changed_by: str
    text: str


@dataclass(frozen=True, slots=True)
class CampaignRound:
    """A change of who labels what in a campaign from now on, as one JSON document. One after a lock reopens it."""

    campaign: str
    made_at: str
    round: str


@dataclass(frozen=True, slots=True)
class CampaignLock:
    """The end of a campaign: labels can no longer change, and what was hidden from annotators is shown."""

    campaign: str
    locked_at: str
    locked_by: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """One act of an annotator on an item of a campaign.

    `event` is made where the key was pressed, so that a second copy of it is the same act; `sequence` counts the acts
    of an annotator from 1. `item` is the campaign's own name of the item, which tells nothing of detector or setting;
    `showing` is 1, or 2 where the item comes back as a hidden repeat. `label` is a code of the campaign's label set.
    `guideline` is the version in force. Times are ISO 8601 in UTC; `seconds` is how long the item was in sight, idle
    time capped. `received_at` is the server's clock, the other times the browser's; None in acts from before it was
    kept. `source` names the file that the act was imported from, None if it was done here. `device` is a browser, and
    `number` counts the acts that were made there: what one device made has that order, whatever its clock said and
    whenever it arrived; None for acts that no desk of a browser made, and in those from before acts were counted.
    `is_as_before` is true of a label that was taken from the item before, by the key that offers it where the texts are
    nearly alike; None of every other act.
    """

    campaign: str
    annotator: str
    event: str
    sequence: int
    action: AnnotationAction
    item: str
    showing: int
    guideline: str
    submitted_at: str
    label: str | None = None
    reason: str | None = None
    note: str | None = None
    shown_at: str | None = None
    first_action_at: str | None = None
    seconds: float | None = None
    received_at: str | None = None
    source: str | None = None
    device: str | None = None
    number: int | None = None
    is_as_before: bool | None = None


@dataclass(frozen=True, slots=True)
class CampaignMessage:
    """A message about one showing of an item, between the annotator who labels it and the lead.

    `annotator`, `item` and `showing` name the thread. `flag` is the event of the flag that stood then:
    an item that is flagged again after it was resolved is open again. A resolution has no text.
    """

    campaign: str
    event: str
    annotator: str
    item: str
    showing: int
    action: MessageAction
    side: Side
    written_by: str
    written_at: str
    text: str | None = None
    flag: str | None = None


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """The keys that a person chose for labelling and deciding, a JSON text; the last one of a person is in force."""

    annotator: str
    chosen_at: str
    chosen: str


@dataclass(frozen=True, slots=True)
class InventoryAct:
    """A benchmark, source, run, campaign or answer removed, restored or renamed; the last act of each kind holds.

    `name` is its id: of a run the experiment, of an answer its `answer_name`. `title` is its new name for people.
    `held` says what it held when it was removed, in words; `reason` why an answer is invalid. `acted_at` is ISO 8601 in
    UTC.
    """

    kind: Listed
    name: str
    action: InventoryAction
    acted_at: str
    acted_by: str
    title: str | None = None
    held: str | None = None
    reason: str | None = None


def answer_name(
    benchmark: str,
    experiment: str,
    detector: str,
    setting: str,
    instance_id: str,
    run_index: int,
) -> str:
    """The id of one answer, which is compared and never taken apart: a name of these may hold a slash itself."""
    parts = (benchmark, experiment, detector, setting, instance_id, run_index)
    return "/".join(map(str, parts))


@dataclass(frozen=True, slots=True)
class ViewAct:
    """A view of a person saved, renamed or removed; `person` is empty without logins. `acted_at` is UTC.

    A view is a `page` with its `query`, the part of the address after "?"; only a view that is saved has them. `title`
    is the new name of a view that is renamed.
    """

    person: str
    name: str
    action: ViewAction
    acted_at: str
    page: str | None = None
    query: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class NoteAct:
    """A note added, removed or restored; the last act on a `note`, its id, holds. `acted_at` is ISO 8601 in UTC.

    A note that is added has a kind, a text and a case. `experiment` to `run_index` name the answer that it is about;
    with `labelled_by` it is about the label that this person gave to it, and index 0 means all repeats. `corrects` is
    the diagnosis that stood there when it was corrected, `reason` why a note was removed.
    """

    note: str
    action: NoteAction
    acted_at: str
    acted_by: str
    kind: NoteKind | None = None
    text: str | None = None
    benchmark: str | None = None
    case_id: str | None = None
    experiment: str | None = None
    detector: str | None = None
    setting: str | None = None
    version: str | None = None
    run_index: int | None = None
    labelled_by: str | None = None
    corrects: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeCertificate:
    """How far the labels of a judge can be trusted against those of a person, at the time that it was computed.

    A diagnosis counts as correct where at least `needed` of the `n_labels` labels in these `orders` say so, chosen out
    of `n_rules` on `tuned_cases` cases. Rates are in 0..1 over the other `n_cases` cases, their bounds one-sided at
    95%; `n_left_out` items lack a label. `attempt` counts certificates against the same person. `order_bias` is the
    share correct with the texts reversed minus that in normal order; it and `self_preference` have 95% intervals and
    are None where they cannot be estimated.
    """

    judge: str
    person: str
    certified_at: str
    certified_by: str
    gate: float
    seed: int
    attempt: int
    orders: str
    needed: int
    n_labels: int
    n_rules: int
    tuned_cases: int
    n_cases: int
    n_left_out: int
    n_correct: int
    sensitivity: float
    sensitivity_bound: float
    n_other: int
    specificity: float
    specificity_bound: float
    order_bias: float | None = None
    order_bias_low: float | None = None
    order_bias_high: float | None = None
    self_preference: float | None = None
    self_preference_low: float | None = None
    self_preference_high: float | None = None

    @property
    def is_passed(self) -> bool:
        """Whether both bounds reach the gate."""
        return self.weakest_bound >= self.gate

    @property
    def weakest_bound(self) -> float:
        return min(self.sensitivity_bound, self.specificity_bound)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An act that the audit log tells of. `acted_at` is ISO 8601 in UTC; `what` names the thing it was done to.

    `acted_from` is the address of a visitor's browser, or the machine of a command line.
    """

    acted_at: str
    acted_by: str
    acted_from: str
    action: AuditAction
    what: str
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class RegisteredPlan:
    """The plan of a study as it was registered: its name, the text of its file, and when, in UTC.

    n_answers: its answers that were loaded then. 0 says that the plan came first, which no clock can.
    """

    name: str
    text: str
    registered_at: str
    n_answers: int


@dataclass(frozen=True, slots=True)
class Verification:
    """One notebook of a pair executed in a fresh kernel, to see whether it does what the pair claims.

    `environment` is a digest of the interpreter and its packages, `content` one of the notebook, its benchmark's claims
    about it and the files beside it: where both are the same, the outcome is known. `python` is the interpreter's
    version. `recorded` is the exception that the notebook claims, None if it claims none; `exception` and `message` are
    what was raised, in code cell `cell` (from 0). `why` is one line for people. `seconds` is wall time.
    """

    benchmark: str
    case_id: str
    version: Version
    environment: str
    content: str
    python: str
    outcome: VerifiedAs
    verified_at: str
    seconds: float | None = None
    recorded: str | None = None
    exception: str | None = None
    message: str | None = None
    cell: int | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class PublishedNumber:
    """A cell of a printed table. `printed` is the text, so that its digits are known."""

    publication: str
    table_id: str
    row: str
    column: str
    printed: str
    unit: str


@dataclass(frozen=True, slots=True)
class LoadProblem:
    """A record that did not come in as it is: which file, where in it, why."""

    path: str
    place: str
    reason: str
    kind: ProblemKind = ProblemKind.UNREADABLE


Record = (
    Benchmark
    | Case
    | Instance
    | Cell
    | KernelState
    | Prompt
    | Detector
    | Run
    | Job
    | Reply
    | Reread
    | Judgement
    | JudgeJob
    | JudgeReply
    | JudgeCertificate
    | Campaign
    | CampaignGuideline
    | CampaignRound
    | CampaignLock
    | Annotation
    | CampaignMessage
    | KeyChoice
    | Verification
    | InventoryAct
    | ViewAct
    | NoteAct
    | AuditEntry
    | RegisteredPlan
    | PublishedNumber
    | LoadProblem
)
"""Everything that an importer or the ledger may yield."""

PAPER_GROUPS = (
    "tensorflow",
    "torch",
    "sklearn",
    "pandas",
    "numpy",
    "other",
    "NBspecific",
)
"""Library groups of the study (paper, Figure 5), in its order."""

_GROUP_OF_ALIAS = {"tensorflow/keras": "tensorflow", "None": "NBspecific"}


def library_group(library: str | None) -> str:
    """The paper's group of a library: the five big ones and NBspecific as they are, all else "other"."""
    name = _GROUP_OF_ALIAS.get(str(library), str(library))
    return name if name in PAPER_GROUPS else "other"
