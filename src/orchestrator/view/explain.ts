import { BatonError } from '../../core/baton-error.ts';
import { retryCommand, reviewCommand } from '../../core/command/retry-command.ts';
import { type DispatchExplanation, explainDispatch } from '../../core/dispatch/dispatch-plan.ts';
import { isAboutSlots, type SkipReason } from '../../core/dispatch/eligibility.ts';
import type { GateName, OutsideGate } from '../../core/dispatch/gates.ts';
import type { NextCode } from '../../core/dispatch/waiting-codes.ts';
import { type Issue, isMeantBy } from '../../core/issue/issue.ts';
import type { PhaseStanding } from '../../core/pipeline/phase-standing.ts';
import { type IssueSpent, limitsBeforeStart } from '../../core/run/limits.ts';
import type { LimitSettings } from '../../core/settings.ts';
import { timeToSecond } from '../../core/text/time-text.ts';
import type { Retrying, Running } from '../claims/claim.ts';
import type { Streaks } from '../claims/issue-counters.ts';
import { type FindIssueParts, knownId } from '../commands/find-issue.ts';
import { dispatchGates, type GateParts } from '../dispatch/gates.ts';
import type { OpenQuestions } from '../runs/open-questions.ts';

export interface ExplainParts extends FindIssueParts, GateParts {
  readonly questions: OpenQuestions;
  readonly isShared: boolean;
}

export interface Explanation {
  readonly issue: Pick<Issue, 'id' | 'identifier' | 'title' | 'state'>;
  readonly gates: readonly { readonly gate: GateName; readonly refusal: SkipReason | null; readonly text: string }[];
  /** The first refusal; null when it starts. */
  readonly reason: SkipReason | null;
  readonly startsBefore: number;
  readonly nextCode: NextCode;
  readonly next: string;
  /** Where it stands in the pipeline; null: it is not in it. */
  readonly phase: PhaseStanding | null;
  /** Its runs since a person last released it, and what those in a row led to. */
  readonly counts: Pick<IssueSpent, 'runs'> & Omit<Streaks, 'quotaWaits'>;
}

/** Who explains: the daemon that would start the issue, or a visitor that reads its store while no daemon runs. */
export type Explainer = 'daemon' | 'visitor';

const caller = { job: 'explain', cause: 'person' } as const;

/**
 * Explains one issue, by its id or identifier, as the next decision would find it. Starts and changes nothing. Rejects
 * with `tracker_issue_not_found` when neither Baton nor the tracker knows the issue.
 */
export async function explainIssue(
  parts: ExplainParts,
  reference: string,
  by: Explainer = 'daemon',
): Promise<Explanation> {
  const { claims, candidates, judges, source, reads, trackerFor } = parts;
  const issue = await readIssue(parts, reference);
  const polled =
    candidates.withReviews ?? (await reads.byStates(source.read().workflow.settings.tracker.activeStates, caller));
  await parts.phases.know([issue.id, ...polled.map(({ id }) => id)]);
  const issues = judges.candidates(polled);
  const { spent, failures, staleRuns, noSignals } = await claims.counts(issue.id);
  const pull = await parts.store.pullRequests.openOfIssue({ project: parts.project, issueId: issue.id });

  // No await from here on: the explanation must describe one moment.
  const reading = source.read();
  const { settings } = reading.workflow;
  const found = explainDispatch(issue, {
    issues,
    settings,
    roleOf: judges.roleOf,
    areWorkersWaiting: claims.areWorkersWaiting(),
    taken: claims.takenSlots(),
    startMove: trackerFor(settings).startMove,
    outside: {
      ...dispatchGates(parts, reading),
      ...(by === 'visitor' && !parts.isShared ? { free_elsewhere: leftBehind(parts) } : {}),
      own_limits: ownLimits(spent, settings.limits),
    },
  });
  const reason = found.answers.find(({ refusal }) => refusal !== null)?.refusal ?? null;
  const { id, identifier, title, state: issueState } = issue;
  const [nextCode, step] = nextStepOf(parts, issue, found, by);
  const isInReview = nextCode === 'needs_change' && pull?.sentBack === null;
  const next = isInReview ? `${step}; its change is in review: ${reviewCommand(identifier)}` : step;
  return {
    issue: { id, identifier, title, state: issueState },
    gates: withoutRepeats(found.answers, claims.retrying.get(id)?.wait?.code),
    reason,
    startsBefore: found.startsBefore,
    nextCode,
    next,
    phase: parts.phases.standings().get(id) ?? null,
    counts: { runs: spent.runs, failures, staleRuns, noSignals },
  };
}

/**
 * No daemon answers, and the store is not shared: the daemon that had the issue is dead, even if its lease is not over.
 */
function leftBehind({ claims }: ExplainParts): OutsideGate {
  const left = new Set(claims.elsewhere.map(({ issueId }) => issueId));
  const text = 'the daemon that had it no longer answers; the next daemon inherits it';
  return {
    refuse: ({ id }) => (left.has(id) ? { code: 'left_by_previous_daemon', text } : null),
    passed: () => 'no other daemon has it',
  };
}

/** If a retry waits for the same reason as a later gate, only that gate gives the reason. */
function withoutRepeats(
  answers: DispatchExplanation['answers'],
  waitCode: SkipReason['code'] | undefined,
): Explanation['gates'] {
  if (!answers.some(({ refusal }) => refusal !== null && refusal.code === waitCode)) return answers;
  return answers.map((answer) =>
    answer.gate === 'free_here' ? { ...answer, text: 'its retry is due and waits' } : answer,
  );
}

/** The store checks this when a run begins; here it is checked earlier. */
function ownLimits(spent: IssueSpent, limits: LimitSettings): OutsideGate {
  const day = { tokens: 0, microUsd: 0 };
  const reached = limitsBeforeStart({ issue: spent, day }, limits).find(({ level }) => level === 'reached');
  return {
    refuse: () => (reached === undefined ? null : { code: 'limit_reached', text: reached.text }),
    passed: () => 'this issue has reached none of its limits',
  };
}

/** The issue as it is now, whatever its state. */
async function readIssue(parts: ExplainParts, reference: string): Promise<Issue> {
  const { source, reads } = parts;
  const wanted = reference.trim();
  const known = (await knownId(parts, wanted)) ?? wanted;
  let issue: Issue | null;
  try {
    issue = (await reads.byIds([known], caller)).get(known) ?? null;
  } catch (thrown) {
    // When the tracker does not answer, people still want to know why nothing happens.
    const last = lastKnown(parts, known);
    if (last === null) throw thrown;
    issue = last;
  }
  if (issue !== null) return issue;
  const { activeStates } = source.read().workflow.settings.tracker;
  // Only the tracker knows an issue that is newer than the last poll.
  const young = (await reads.byStates(activeStates, caller)).find((each) => isMeantBy(each, wanted));
  if (young !== undefined) return young;
  throw new BatonError('tracker_issue_not_found', `Neither Baton nor its tracker has an issue "${wanted}".`, {
    details: { reference: wanted },
    nextStep: "Check the name. For an issue that Baton never worked on, use the tracker's own id.",
  });
}

/** The newest record of the issue: of its run, of the last read, or of the list of candidates. */
function lastKnown({ claims, candidates, reads }: ExplainParts, id: string): Issue | null {
  const listed = [...(candidates.list ?? []), ...(candidates.polled ?? [])].find((issue) => issue.id === id);
  return claims.running.get(id)?.issue ?? reads.lastRead(id) ?? listed ?? null;
}

/** How many of the issues that have the slots are named. */
const mostNamed = 5;

function nextStepOf(
  parts: ExplainParts,
  { id, identifier }: Issue,
  { answers, startsBefore }: DispatchExplanation,
  by: Explainer,
): readonly [NextCode, string] {
  const { running, retrying, held } = parts.claims;
  const refusals = answers.flatMap(({ refusal }) => refusal ?? []);
  // A refusal that ends only when a person changes the issue explains more than other waits.
  const [earliest] = refusals;
  const isElsewhere = earliest?.code === 'claimed_elsewhere' || earliest?.code === 'left_by_previous_daemon';
  const first = isElsewhere ? earliest : (refusals.find(isLasting) ?? earliest);
  if (first === undefined)
    return by === 'daemon'
      ? ['starts_next_tick', 'it starts at the next tick']
      : ['starts_with_daemon', 'it starts when a daemon runs'];
  const run = running.get(id);
  if (run !== undefined) return afterRun(parts, run);
  const hold = held.get(id);
  if (hold !== undefined) return ['held', `it is on hold: ${withCommand(hold.reason, retryCommand(identifier))}`];
  const retry = retrying.get(id);
  if (retry !== undefined) return untilRetry(retry, refusals);
  const others = startsBefore === 1 ? '1 other starts' : `${startsBefore} others start`;
  const before = startsBefore > 0 && isAboutSlots(first) ? `; ${others} before it` : '';
  const names = [...running.values()].slice(0, mostNamed).map((each) => each.issue.identifier);
  const taken = names.length > 0 && isAboutSlots(first) ? `; agents work on ${names.join(', ')}` : '';
  const remedy = parts.pause.state?.kind === 'pause' && first.code === 'paused' ? '; baton resume lets it start' : '';
  const why = `${first.text}${taken}${before}${remedy}`;
  return isLasting(first) ? ['needs_change', `it does not start: ${why}`] : ['waits', `it does not start yet: ${why}`];
}

function untilRetry({ wait, dueAt }: Retrying, refusals: readonly SkipReason[]): readonly [NextCode, string] {
  if (wait !== null) return ['retry_waits', `its retry is due and waits: ${wait.text}`];
  const at = `it is retried at ${timeToSecond(dueAt)}`;
  const obstacle = refusals.find(({ code }) => code !== 'claimed');
  return obstacle === undefined
    ? ['retry_scheduled', `${at} and starts then`]
    : ['retry_obstructed', `${at}, but if nothing changes, it cannot start: ${obstacle.text}`];
}

function afterRun({ questions }: ExplainParts, { runId, holdAfterwards }: Running): readonly [NextCode, string] {
  const isAsking = questions.isAsking(runId);
  const now = `its run ${runId} ${isAsking ? "waits for a person's answer" : 'continues'}`;
  const then = holdAfterwards === null ? '' : `; then it goes on hold: ${holdAfterwards.reason}`;
  return [isAsking ? 'run_asks' : 'run_continues', `${now}${then}`];
}

/** Some reasons name the command themselves. */
function withCommand(reason: string, command: string): string {
  return reason.includes(command) ? reason : `${reason}; ${command} continues it`;
}

/** Refusals that end only when a person changes the issue. */
const needsChange: ReadonlySet<SkipReason['code']> = new Set([
  'missing_field',
  'not_dispatchable',
  'missing_label',
  'terminal_state',
  'inactive_state',
]);

function isLasting({ code }: SkipReason): boolean {
  return needsChange.has(code);
}
