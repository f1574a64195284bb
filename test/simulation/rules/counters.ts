import { isJudge, roleOf } from '../../../src/core/run/role.ts';
import type { LedgerRun } from '../run-ledger.ts';
import type { World } from '../world.ts';
import type { Rule } from './rule.ts';

interface Counted {
  runs: number;
  tokens: number;
  failures: number;
}

interface CounterRow {
  readonly issue_id: string;
  readonly name: string;
  readonly value: number;
}

const failed = new Set<string | null>(['failed', 'timed_out', 'stalled']);
const noFailure = new Set<string | null>([
  'agent_quota_exhausted',
  'agent_input_required',
  'agent_survives',
  'agent_auth_failed',
  'run_stalemate',
]);

/**
 * The counters of an issue follow its runs: each start is one run, unless its account had no quota or login, each end adds
 * its tokens, and failures in a row grow by one only with a failed run; an interrupted run adds none.
 * Only a person resets them. The usage of a day is the sum over the runs that ended.
 */
export function counters(world: World): Rule {
  const expected = new Map<string, Counted>();
  const of = (issueId: string): Counted => {
    const known = expected.get(issueId) ?? { runs: 0, tokens: 0, failures: 0 };
    expected.set(issueId, known);
    return known;
  };
  let hasRun = false;
  return {
    runStarted: ({ issueId, role }) => {
      if (!isJudge(roleOf(role))) of(issueId).runs += 1;
      hasRun = true;
      compare(world, expected);
    },
    runEnded: (run) => {
      of(run.issueId).tokens += run.tokens;
      const isCounted = !isJudge(roleOf(run.role));
      if (isCounted && run.errorCode === 'agent_quota_exhausted') of(run.issueId).runs -= 1;
      // One issue is held for a missing login, and its run counts; the others wait as for quota.
      if (
        isCounted &&
        run.errorCode === 'agent_auth_failed' &&
        countsOf(world, run.issueId).runs === of(run.issueId).runs - 1
      )
        of(run.issueId).runs -= 1;
      if (mayRaise(run)) of(run.issueId).failures += 1;
      hasRun = true;
      compare(world, expected);
    },
    afterStep: () => {
      if (!hasRun) return;
      hasRun = false;
      compareUsage(world);
    },
  };
}

/** Whether the end of this run may add a failure; a hold by a person does not. */
function mayRaise({ outcome, errorCode }: LedgerRun): boolean {
  return failed.has(outcome) && !noFailure.has(errorCode);
}

/** Expected failures are an upper bound: a lower number in the store becomes the expected one. */
function compare(world: World, expected: ReadonlyMap<string, Counted>): void {
  const found = allCounts(world);
  for (const [issueId, wanted] of expected) {
    const is = found.get(issueId) ?? { runs: 0, tokens: 0, failures: 0 };
    const isLess = is.runs < wanted.runs || is.tokens < wanted.tokens;
    if (is.runs <= 1 && is.tokens === 0 && isLess && world.freedAt.has(issueId)) {
      // A person gave it a new allowance, and it may have started since.
      Object.assign(wanted, is);
      continue;
    }
    for (const name of ['runs', 'tokens'] as const)
      if (is[name] !== wanted[name])
        world.broke('counters', issueId, `the store counts ${is[name]} ${name}, its runs say ${wanted[name]}`);
    if (is.failures > wanted.failures)
      world.broke('counters', issueId, `${is.failures} failures in a row, and at most ${wanted.failures} runs failed`);
    wanted.failures = is.failures;
  }
}

function countsOf(world: World, issueId: string): Counted {
  return allCounts(world).get(issueId) ?? { runs: 0, tokens: 0, failures: 0 };
}

function allCounts(world: World): ReadonlyMap<string, Counted> {
  const found = new Map<string, Counted>();
  for (const { issue_id, name, value } of world.memory.look<CounterRow>(rows)) {
    const counted = found.get(issue_id) ?? { runs: 0, tokens: 0, failures: 0 };
    found.set(issue_id, { ...counted, [name]: value });
  }
  return found;
}

function compareUsage(world: World): void {
  const [sums] = world.memory.look<Record<'used' | 'ran' | 'used_runs' | 'ran_runs', number>>(usage);
  if (sums === undefined || (sums.used === sums.ran && sums.used_runs === sums.ran_runs)) return;
  world.broke(
    'counters',
    null,
    `the days say ${sums.used} tokens of ${sums.used_runs} runs, the runs ${sums.ran} of ${sums.ran_runs}`,
  );
}

const rows = "select issue_id, name, value from counters where name in ('runs', 'tokens', 'failures')";

const usage = `
  select (select coalesce(sum(total_tokens), 0) from usage) as used,
    (select coalesce(sum(runs), 0) from usage) as used_runs,
    (select coalesce(sum(total_tokens), 0) from runs where ended_at is not null) as ran,
    (select count(*) from runs where ended_at is not null) as ran_runs`;
