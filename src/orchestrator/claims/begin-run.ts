import type { Message } from '../../core/command/message.ts';
import { whyTooManyClaimed } from '../../core/dispatch/backpressure.ts';
import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import { type Slot, whyNoSlot } from '../../core/dispatch/slots.ts';
import { newPhaseRecord, type PhaseRecord } from '../../core/pipeline/phase.ts';
import type { JudgedCommit } from '../../core/pull/judge.ts';
import { type PullRequest, standsInReview } from '../../core/pull/pull-request.ts';
import type { RecoveryStep } from '../../core/run/context-recovery.ts';
import { isDayLimit, type LimitFinding, limitHold, limitsBeforeStart } from '../../core/run/limits.ts';
import { isJudge, type Role, roleOf } from '../../core/run/role.ts';
import type { Settings } from '../../core/settings.ts';
import { isTaskRole } from '../../core/task/task.ts';
import type { RetryKind } from '../../core/workflow.ts';
import { someone } from '../../pulls/changes.ts';
import type { IssueKey } from '../../store/issue-key.ts';
import type { StoreTables } from '../../store/store.ts';
import type { ClaimHolder } from '../../store/tables/claims.ts';
import type { StoredCompletion } from '../../store/tables/pipeline/completion-claims.ts';
import type { RunRecord, RunStart } from '../../store/tables/runs.ts';
import type { StoredQuestion } from '../../store/tables/words/questions.ts';
import { type KnownPlan, whyNotPlanned } from '../planner/why-not-planned.ts';
import { whyRoleBudgetIn } from '../runs/role-spending.ts';
import { type Hold, storedSlot } from './claim.ts';
import { putIdleHold } from './claim-rows.ts';
import { addRuns, type IssueCounts, readCommentsUntil, readCounts } from './issue-counters.ts';

export interface StartRequest {
  readonly record: Omit<RunStart, 'generation' | 'project' | 'host' | 'account'>;
  /** Why no account may be used now, according to the store. */
  readonly whyNoAccount: (tables: StoreTables) => Promise<SkipReason | null>;
  /** Takes the account for this run; `last` is the previous run of the issue. */
  readonly takeAccount: (tables: StoreTables, last: RunRecord | null) => Promise<string | null>;
  readonly slot: Slot;
  readonly settings: Settings;
  /** The change that a judge is to review; null for a worker. */
  readonly judged?: JudgedCommit | null;
  /** The phase that the issue must be in, or enters now; null: without a pipeline, and for the judge of a change. */
  readonly phase?: string | null;
  /** The completion claim that a judge is to review. */
  readonly judgedClaim?: string | null;
  /** Null: without a planner, and for the judge of a change. */
  readonly planned?: KnownPlan | null;
}

export interface BegunRun {
  readonly isBegun: true;
  readonly generation: number;
  readonly before: IssueCounts;
  /** The runs of this issue before this one, the newest first. */
  readonly earlier: readonly RunRecord[];
  readonly account: string | null;
  /** This and the next as requested; null for the first run of a phase. */
  readonly attempt: number | null;
  readonly recovery: RecoveryStep | null;
  /** As requested, or `revision` for an issue whose change is in review. */
  readonly retryKind: RetryKind | null;
  /** The commits of its open pull request that were in review, the first one first. */
  readonly reviewed: readonly string[];
  /** The branch that its open pull request goes into; null: it has none. */
  readonly into: string | null;
  /** The words that wait for an agent of this issue, the oldest first. */
  readonly messages: readonly Message[];
  /** Comments on the issue since then may be unknown to agents; null for the first run. */
  readonly commentsSince: number | null;
  /** People's answers to earlier runs that no agent has received yet. */
  readonly answers: readonly StoredQuestion[];
  /** People's answers that earlier runs have received, the oldest first. */
  readonly answersBefore: readonly StoredQuestion[];
  /** What a judge is to review; null for a worker. */
  readonly pull: PullRequest | null;
  /** Of the phase that its issue is in; null: it is in none. */
  readonly record: PhaseRecord | null;
  /** The completion claim that a judge is to review; null for all others. */
  readonly completion: StoredCompletion | null;
}

export interface RefusedRun {
  readonly isBegun: false;
  readonly refusal: SkipReason;
  /** The issue is held instead, under this generation. */
  readonly held: { readonly hold: Hold; readonly generation: number } | null;
}

export interface Beginner {
  readonly project: string;
  readonly host: string;
  readonly isShared: boolean;
  readonly now: number;
  /** Our claim on the issue; null when it is free. */
  readonly ours: ClaimHolder | null;
  /** Takes a claim that is free, expired, or our own from before a restart. */
  readonly take: (tables: StoreTables) => Promise<ClaimHolder | null>;
}

/** How many earlier runs are searched for a conversation to resume. */
export const mostEarlier = 20;
/** More answers than people give on one issue. */
const mostAnswersBefore = 20;
/** What is beyond these waits for the run after it. A command has at most 100,000 characters. */
const mostMessages = 50;
const mostMessageChars = 200_000;

/**
 * In one transaction: claims the issue, or keeps our claim on it, and writes the start of the run. It refuses when no
 * slot is free over all daemons of the store. An issue that has reached one of its limits is held instead.
 */
export async function beginRun(
  tables: StoreTables,
  request: StartRequest,
  by: Beginner,
): Promise<BegunRun | RefusedRun> {
  const full =
    (await whyNoSlotOf(tables, request, by)) ??
    (await whyRoleBudgetIn(tables, request.slot.role, request.settings, by)) ??
    (await request.whyNoAccount(tables));
  if (full !== null) return refused(full);
  if (request.judged && (await judgedPull(tables, by.project, request.judged)) === null)
    return refused({ code: 'not_judged', text: 'its change no longer needs a judge' });
  const key = { project: by.project, issueId: request.record.issueId };
  const moved =
    (await whyNotInPhase(tables, request, by)) ??
    (await whyTaskOver(tables, request, by)) ??
    (await whyNotPlanned(tables, key, request.planned ?? null, request.settings.planner));
  if (moved !== null) return refused(moved);
  const holder = await claimForRun(tables, request, by);
  return holder === null ? refused(hasAnother) : writeStart(tables, request, by, holder);
}

/** Whether the issue is still where the decision to start saw it. */
async function whyNotInPhase(
  { phases, completionClaims }: StoreTables,
  { record, phase, judgedClaim, slot }: StartRequest,
  { project }: Beginner,
): Promise<SkipReason | null> {
  if (phase == null) return null;
  const key = { project, issueId: record.issueId };
  const now = (await phases.read(key))?.phase ?? phase;
  if (now !== phase) return { code: 'phase_changed', text: `it is in the phase "${now}" now` };
  const open = await completionClaims.openOf(key);
  const isWanted = slot.role === 'phase_judge' ? open?.id === judgedClaim && open?.state === 'judging' : open === null;
  return isWanted
    ? null
    : { code: 'phase_changed', text: `Baton has decided about the end of its phase "${phase}" in the meantime` };
}

/** A task is started only while it waits: another daemon may have finished it since it was last read. */
async function whyTaskOver(
  { tasks }: StoreTables,
  { record, slot }: StartRequest,
  { project }: Beginner,
): Promise<SkipReason | null> {
  if (!isTaskRole(slot.role)) return null;
  const task = await tasks.read({ project, taskId: record.issueId });
  return task?.status === 'waiting' ? null : { code: 'task_over', text: 'the task needs no agent any more' };
}

/** The change, if it is still in review at this commit and this judge has not said anything about it. */
async function judgedPull(
  { pullRequests, verdicts }: StoreTables,
  project: string,
  { number, commit, place }: JudgedCommit,
): Promise<PullRequest | null> {
  const pull = await pullRequests.read({ project, number });
  if (pull === null || !standsInReview(pull) || pull.headCommit !== commit) return null;
  const given = await verdicts.list(pull);
  return given.some((each) => each.commit === commit && each.place === place) ? null : pull;
}

const hasAnother: SkipReason = { code: 'claimed_elsewhere', text: 'another daemon has it' };

function refused(refusal: SkipReason, held: RefusedRun['held'] = null): RefusedRun {
  return { isBegun: false, refusal, held };
}

/** On a shared store the slots of all daemons count. The lock of the project lets only one daemon decide at a time. */
async function whyNoSlotOf(
  tables: StoreTables,
  { record, slot, settings }: StartRequest,
  { isShared, project, now, ours }: Beginner,
): Promise<SkipReason | null> {
  if (!isShared) return null;
  await tables.projects.lock(project);
  const claims = await tables.claims.held(project, now);
  const others = claims.filter(({ issueId }) => issueId !== record.issueId);
  if (others.length === claims.length && ours === null && !isJudge(slot.role)) {
    const full = whyTooManyClaimed(others.length, 0, settings.agent.maxClaimed);
    if (full !== null) return full;
  }
  const taken = others.flatMap((claim) => storedSlot(claim) ?? []);
  return whyNoSlot(slot, taken, settings);
}

async function claimForRun(
  tables: StoreTables,
  { record, slot, settings }: StartRequest,
  { project, isShared, now, ours, take }: Beginner,
): Promise<ClaimHolder | null> {
  const key = { project, issueId: record.issueId };
  const isThis = ({ issueId }: IssueKey): boolean => issueId === key.issueId;
  // A run without an end may still have a live agent, even one of ours. It must be inherited and ended first.
  if ((await tables.runs.unfinished(project)).some(isThis)) return null;
  if ((await tables.held.list(project)).some(isThis)) return null;
  if (ours !== null) {
    if (!(await tables.claims.setSlot(key, ours, slot.state, slot.role))) return null;
    // The lease may have expired although no other daemon took the claim: renew it for this run.
    const lease = { at: now, leaseMs: settings.store.leaseMs };
    if (isShared) await tables.claims.renewAll(project, ours.owner, lease);
    return ours;
  }
  // An issue that a daemon left behind is inherited with its due time and its reason, never started as if it were new.
  return (await tables.retries.read(key)) === null ? take(tables) : null;
}

async function writeStart(
  tables: StoreTables,
  request: StartRequest,
  { project, host, now }: Beginner,
  holder: ClaimHolder,
): Promise<BegunRun | RefusedRun> {
  const { record, settings, takeAccount } = request;
  const { issueId, identifier } = record;
  const { generation } = holder;
  const key = { project, issueId };
  const before = await readCounts(tables, key);
  const { role } = request.slot;
  const reached = issueLimitReached(before, settings, role);
  if (reached !== undefined) {
    const issue = { id: issueId, identifier };
    const hold = { ...limitHold(reached, identifier), issue, role, since: now, runId: null };
    await putIdleHold(tables, key, holder, hold);
    return refused({ code: 'limit_reached', text: hold.reason }, { hold, generation });
  }
  // A judge does not continue the work of a worker, nor a worker that of a judge, nor an agent that of another phase.
  const earlier = await tables.runs.list(project, { issueId, role, phase: record.phase ?? null, limit: mostEarlier });
  const last = earlier[0] ?? null;
  await tables.retries.remove(key);
  // The new run asks an unanswered question of an earlier run again, if it still matters.
  await tables.questions.closeOfIssue(key, now);
  const answers = await ofRole(tables, key, role, await tables.questions.undelivered(key));
  const given = await tables.questions.list(project, { issueId, limit: mostAnswersBefore });
  const known = given.filter((each) => each.given !== null && each.deliveredTo !== null).toReversed();
  const answersBefore = await ofRole(tables, key, role, known);
  const account = await takeAccount(tables, last);
  const phase = request.phase == null ? null : await enterPhase(tables, key, request.phase, now);
  // The first run of a phase repeats nothing, whatever the run of the phase before it was retried for.
  const isFirstOfPhase = request.phase != null && earlier.length === 0;
  const { attempt, recovery = null, retryKind: asked } = isFirstOfPhase ? nothingRepeated : record;
  const start = { ...record, attempt, recovery, project, host, generation, account };
  const begun = { isBegun: true, generation, before, earlier, account, attempt, recovery } as const;
  if (isJudge(role)) {
    await tables.runs.start({ ...start, retryKind: asked });
    const pull = request.judged ? await tables.pullRequests.read({ project, number: request.judged.number }) : null;
    const completion = role === 'phase_judge' ? await tables.completionClaims.openOf(key) : null;
    return { ...begun, retryKind: asked, ...noWords, answers, answersBefore, pull, record: phase, completion };
  }
  const messages = withinChars(await tables.messages.waiting(key, mostMessages));
  const commentsSince = (await readCommentsUntil(tables, key)) ?? firstStart(earlier);
  const pull = await tables.pullRequests.openOfIssue(key);
  const reviewed = pull === null ? [] : (await tables.pullRequests.rounds(pull)).map(({ headCommit }) => headCommit);
  const retryKind = asked ?? (pull === null ? null : await revise(tables, pull, now));
  await tables.runs.start({ ...start, retryKind });
  await addRuns(tables, key, 1);
  const words = { messages, commentsSince, answers, answersBefore };
  const ofPhase = { pull: null, record: phase, completion: null };
  return { ...begun, retryKind, reviewed, into: pull?.base ?? null, ...ofPhase, ...words };
}

/** An issue enters the pipeline with its first run, never before: a whole backlog would be labelled at once. */
async function enterPhase({ phases }: StoreTables, key: IssueKey, phase: string, now: number): Promise<PhaseRecord> {
  const known = await phases.read(key);
  if (known !== null) return known;
  const record = newPhaseRecord(phase, now);
  await phases.put(key, record);
  return record;
}

const nothingRepeated = { attempt: null, recovery: null, retryKind: null } as const;

/** Words on an issue are for its worker, and before for the agents of its phases. */
const noWords = { reviewed: [], into: null, messages: [], commentsSince: null } as const;

/** The questions that runs of this role asked. */
async function ofRole(
  { runs }: StoreTables,
  { project, issueId }: IssueKey,
  role: Role,
  asked: readonly StoredQuestion[],
): Promise<readonly StoredQuestion[]> {
  if (asked.length === 0) return asked;
  const known = await runs.list(project, { issueId, limit: mostEarlier * 5 });
  const roleOfRun = new Map(known.map((run) => [run.runId, roleOf(run.role)]));
  return asked.filter(({ runId }) => isJudge(roleOfRun.get(runId) ?? 'worker') === isJudge(role));
}

/** A new run of an issue whose change is in review revises it; a change that no one sent back was moved back by hand. */
async function revise({ pullRequests }: StoreTables, pull: PullRequest, now: number): Promise<'revision'> {
  await pullRequests.sendBack(pull, pull.headCommit, { at: now, by: someone, kind: 'moved' });
  return 'revision';
}

/** As many as fit, and always the first. */
function withinChars(messages: readonly Message[]): readonly Message[] {
  let chars = 0;
  const beyond = messages.findIndex(({ body }, index) => {
    chars += body.length;
    return index > 0 && chars > mostMessageChars;
  });
  return beyond === -1 ? messages : messages.slice(0, beyond);
}

/** The start of the first run; zero when that is not among the earlier ones, null when there was none. */
function firstStart(earlier: readonly RunRecord[]): number | null {
  const first = earlier.at(-1);
  if (first === undefined) return null;
  return earlier.length < mostEarlier ? first.startedAt : 0;
}

/** Only the limits of this issue: the limits of the day hold for every issue and are checked earlier. */
function issueLimitReached({ spent }: IssueCounts, { limits }: Settings, role: Role): LimitFinding | undefined {
  // Runs of judges are not counted: their rounds have a limit of their own.
  const issue = isJudge(role) ? { ...spent, runs: 0 } : spent;
  const findings = limitsBeforeStart({ issue, day: { tokens: 0, microUsd: 0 } }, limits);
  return findings.find((finding) => finding.level === 'reached' && !isDayLimit(finding));
}
