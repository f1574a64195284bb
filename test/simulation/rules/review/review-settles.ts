import { whyNotBatons } from '../../../../src/core/dispatch/eligibility.ts';
import { checksVerdict } from '../../../../src/core/pull/pull-request.ts';
import type { ReviewWorld } from '../../review/review-world.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';
import { reviewLagMs } from './review-lag.ts';

interface PullRow {
  readonly number: number;
  readonly issue_id: string;
  readonly head_commit: string;
  readonly moved_at: number | null;
  readonly sent_back_kind: string | null;
  readonly times_sent_back: number;
}

interface CheckRow {
  readonly result: 'passed' | 'failed' | 'timed_out' | 'skipped' | null;
}

const lookEveryMs = 5_000;

/**
 * No change is stuck: where Baton has the next step, it takes it soon. A wanted check gets a result; a red change goes back
 * while rounds are left; the issue of a change that was sent back leaves review; and the commits of a run that ended well, on
 * an issue in review, have a pull request. Everything else in review waits for a person, and a daemon shows it.
 */
export function reviewSettles(world: World, review: ReviewWorld): Rule {
  const since = new Map<string, number>();
  const lastOutcome = new Map<string, string | null>();
  let nextLookAt = 0;
  return {
    runStarted: ({ issueId, role }) => void (role === 'judge' || lastOutcome.delete(issueId)),
    runEnded: ({ issueId, outcome, role }) => void (role === 'judge' || lastOutcome.set(issueId, outcome)),
    afterStep: () => {
      if (world.now < nextLookAt) return;
      nextLookAt = world.now + lookEveryMs;
      const found = new Map([...stuckPulls(world), ...stuckIssues(world, review, lastOutcome), ...hiddenIssues(world)]);
      for (const why of since.keys()) if (!found.has(why)) since.delete(why);
      for (const [why, issueId] of found) {
        const at = since.get(why) ?? world.now;
        since.set(why, at);
        const waitedMs = world.now - Math.max(at, world.disturbedAt, world.book.changedAt.get(issueId) ?? 0);
        if (waitedMs > reviewLagMs(world) + checkTimeMs(world, review)) world.broke('review_settles', issueId, why);
      }
    },
  };
}

/** All checks of all open changes, one after another. */
function checkTimeMs({ memory }: World, { plan }: ReviewWorld): number {
  const [{ open } = { open: 0 }] = memory.look<{ open: number }>(
    'select count(*) as open from checks where result is null',
  );
  return (open + 1) * plan.slowestCheckMs;
}

function stuckPulls(world: World): [string, string][] {
  const { book, memory, file } = world;
  const { maxRounds, checks: wanted } = file.settings.review;
  return memory.look<PullRow>(openPulls).flatMap((pull): [string, string][] => {
    const { number, issue_id: id, head_commit: head, sent_back_kind: kind } = pull;
    const issue = book.get(id);
    // What a person took from Baton stays where it is.
    const isInReview = issue?.state === 'Review' && whyNotBatons(issue, file.settings.tracker) === null;
    const last = book.lastMove.get(id);
    const isByOthers = last !== undefined && (last.by === 'hand' || last.by.kind === 'run');
    const name = `pull request ${number} at ${head}`;
    if (kind !== null)
      return kind !== 'moved' && isInReview && !isByOthers ? [[`${name} was sent back, and its issue stays`, id]] : [];
    const checks = memory.look<CheckRow>(checksOf, number, head);
    if (checks.length < wanted.length || checks.some(({ result }) => result === null))
      return [[`${name} has no result of its checks`, id]];
    const verdict = checksVerdict(checks.map((check) => ({ ...noCheck, ...check })));
    const goesBack = verdict === 'red' && pull.times_sent_back < maxRounds && pull.moved_at !== null && isInReview;
    return goesBack ? [[`${name} is red and stays`, id]] : [];
  });
}

const noCheck = { commit: '', name: '', command: '', startedAt: null, endedAt: null, exitCode: null, output: null };

function stuckIssues(
  { book, memory }: World,
  review: ReviewWorld,
  lastOutcome: ReadonlyMap<string, string | null>,
): [string, string][] {
  return book.all().flatMap(({ id, identifier, state }): [string, string][] => {
    const { repository } = review;
    const head = repository.ref(`baton/${identifier}`);
    const last = book.lastMove.get(id);
    const isByBaton = last !== undefined && last.by !== 'hand';
    if (state !== 'Review' || head === null || !isByBaton || lastOutcome.get(id) !== 'succeeded') return [];
    if (repository.get(head).maker !== 'agent' || review.isMerged(head)) return [];
    const isKnown = memory.look(anyOfIssue, id, head, id, id).length > 0;
    return isKnown ? [] : [[`${head} of ${identifier} is in review without a pull request`, id]];
  });
}

function hiddenIssues({ book, running }: World): [string, string][] {
  const shown = new Set(
    running.flatMap(({ orchestrator }) => {
      const { reviews, held, retrying, running: live } = orchestrator.read();
      return [...reviews, ...[...held, ...retrying, ...live].map(({ issue }) => issue)].map(({ id }) => id);
    }),
  );
  return book
    .all()
    .filter(({ id, state }) => state === 'Review' && !shown.has(id))
    .map(({ id, identifier }) => [`${identifier} is in review and no daemon shows it`, id]);
}

const openPulls = `
  select number, issue_id, head_commit, moved_at, sent_back_kind, times_sent_back from pull_requests
    where merged_at is null and closed_at is null`;
const checksOf = 'select result from checks where number = ? and commit_id = ?';
const anyOfIssue = `
  select 1 from pull_rounds join pull_requests using (project, number) where issue_id = ? and pull_rounds.head_commit = ?
  union all select 1 from retries where issue_id = ?
  union all select 1 from held where issue_id = ?`;
