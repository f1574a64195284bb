import type { Message } from '../../core/command/message.ts';
import { whyTooManyClaimed } from '../../core/dispatch/backpressure.ts';
import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import { whyNoSlot } from '../../core/dispatch/slots.ts';
import type { PullRequest } from '../../core/pull/pull-request.ts';
import { isDayLimit, type LimitFinding, limitHold, limitsBeforeStart } from '../../core/run/limits.ts';
import type { Settings } from '../../core/settings.ts';
import type { RetryKind } from '../../core/workflow.ts';
import { someone } from '../../pulls/changes.ts';
import type { IssueKey } from '../../store/issue-key.ts';
import type { StoreTables } from '../../store/store.ts';
import type { ClaimHolder } from '../../store/tables/claims.ts';
import type { RunRecord, RunStart } from '../../store/tables/runs.ts';
import type { StoredQuestion } from '../../store/tables/words/questions.ts';
import type { Hold } from './claim.ts';
import { putIdleHold } from './claim-rows.ts';
import { addRuns, type IssueCounts, readCommentsUntil, readCounts } from './issue-counters.ts';

export interface StartRequest {
  readonly record: Omit<RunStart, 'generation' | 'project' | 'host' | 'account'>;
  /** Why no account may be used now, according to the store. */
  readonly whyNoAccount: (tables: StoreTables) => Promise<SkipReason | null>;
  /** Takes the account for this run; `last` is the previous run of the issue. */
  readonly takeAccount: (tables: StoreTables, last: RunRecord | null) => Promise<string | null>;
  readonly slotState: string;
  readonly settings: Settings;
}

export interface BegunRun {
  readonly isBegun: true;
  readonly generation: number;
  readonly before: IssueCounts;
  /** The runs of this issue before this one, the newest first. */
  readonly earlier: readonly RunRecord[];
  readonly account: string | null;
  /** As requested, or `revision` for an issue whose change is in review. */
  readonly retryKind: RetryKind | null;
  /** The commits of its open pull request that were in review, the first one first. */
  readonly reviewed: readonly string[];
  /** The words that wait for an agent of this issue, the oldest first. */
  readonly messages: readonly Message[];
  /** Comments on the issue since then may be unknown to agents; null for the first run. */
  readonly commentsSince: number | null;
  /** People's answers to earlier runs that no agent has received yet. */
  readonly answers: readonly StoredQuestion[];
  /** People's answers that earlier runs have received, the oldest first. */
  readonly answersBefore: readonly StoredQuestion[];
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
  const full = (await whyNoSlotOf(tables, request, by)) ?? (await request.whyNoAccount(tables));
  if (full !== null) return refused(full);
  const holder = await claimForRun(tables, request, by);
  return holder === null ? refused(hasAnother) : writeStart(tables, request, by, holder);
}

const hasAnother: SkipReason = { code: 'claimed_elsewhere', text: 'another daemon has it' };

function refused(refusal: SkipReason, held: RefusedRun['held'] = null): RefusedRun {
  return { isBegun: false, refusal, held };
}

/** On a shared store the slots of all daemons count. The lock of the project lets only one daemon decide at a time. */
async function whyNoSlotOf(
  tables: StoreTables,
  { record, slotState, settings }: StartRequest,
  { isShared, project, now, ours }: Beginner,
): Promise<SkipReason | null> {
  if (!isShared) return null;
  await tables.projects.lock(project);
  const claims = await tables.claims.held(project, now);
  const others = claims.filter(({ issueId }) => issueId !== record.issueId);
  if (others.length === claims.length && ours === null) {
    const full = whyTooManyClaimed(others.length, 0, settings.agent.maxClaimed);
    if (full !== null) return full;
  }
  const taken = others.flatMap((claim) => claim.slotState ?? []);
  return whyNoSlot(slotState, taken, settings.agent);
}

async function claimForRun(
  tables: StoreTables,
  { record, slotState, settings }: StartRequest,
  { project, isShared, now, ours, take }: Beginner,
): Promise<ClaimHolder | null> {
  const key = { project, issueId: record.issueId };
  const isThis = ({ issueId }: IssueKey): boolean => issueId === key.issueId;
  // A run without an end may still have a live agent, even one of ours. It must be inherited and ended first.
  if ((await tables.runs.unfinished(project)).some(isThis)) return null;
  if ((await tables.held.list(project)).some(isThis)) return null;
  if (ours !== null) {
    if (!(await tables.claims.setSlot(key, ours, slotState))) return null;
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
  { record, settings, takeAccount }: StartRequest,
  { project, host, now }: Beginner,
  holder: ClaimHolder,
): Promise<BegunRun | RefusedRun> {
  const { issueId, identifier } = record;
  const { generation } = holder;
  const key = { project, issueId };
  const before = await readCounts(tables, key);
  const reached = issueLimitReached(before, settings);
  if (reached !== undefined) {
    const hold = { ...limitHold(reached, identifier), issue: { id: issueId, identifier }, since: now, runId: null };
    await putIdleHold(tables, key, holder, hold);
    return refused({ code: 'limit_reached', text: hold.reason }, { hold, generation });
  }
  const earlier = await tables.runs.list(project, { issueId, limit: mostEarlier });
  const last = earlier[0] ?? null;
  await tables.retries.remove(key);
  // The new run asks an unanswered question of an earlier run again, if it still matters.
  await tables.questions.closeOfIssue(key, now);
  const answers = await tables.questions.undelivered(key);
  const asked = await tables.questions.list(project, { issueId, limit: mostAnswersBefore });
  const answersBefore = asked.filter(({ given, deliveredTo }) => given !== null && deliveredTo !== null).toReversed();
  const account = await takeAccount(tables, last);
  const messages = withinChars(await tables.messages.waiting(key, mostMessages));
  const commentsSince = (await readCommentsUntil(tables, key)) ?? firstStart(earlier);
  const pull = await tables.pullRequests.openOfIssue(key);
  const reviewed = pull === null ? [] : (await tables.pullRequests.rounds(pull)).map(({ headCommit }) => headCommit);
  const retryKind = record.retryKind ?? (pull === null ? null : await revise(tables, pull, now));
  await tables.runs.start({ ...record, retryKind, project, host, generation, account });
  await addRuns(tables, key, 1);
  const words = { messages, commentsSince, answers, answersBefore };
  return { isBegun: true, generation, before, earlier, account, retryKind, reviewed, ...words };
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
function issueLimitReached({ spent }: IssueCounts, { limits }: Settings): LimitFinding | undefined {
  const findings = limitsBeforeStart({ issue: spent, day: { tokens: 0, microUsd: 0 } }, limits);
  return findings.find((finding) => finding.level === 'reached' && !isDayLimit(finding));
}
