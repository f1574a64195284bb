import { compareForDispatch } from '../src/core/dispatch/dispatch-order.ts';
import { planDispatch } from '../src/core/dispatch/dispatch-plan.ts';
import type { Issue } from '../src/core/issue/issue.ts';
import { type Role, roles } from '../src/core/run/role.ts';
import { issue } from '../test/fake/issues.ts';
import { seededChance } from '../test/fake/seeded-chance.ts';
import { settings } from '../test/fake/settings.ts';
import { type Measured, measureInTurns } from './measure.ts';
import { type Figure, ratioOf } from './report.ts';

/**
 * How long one dispatch decision takes: 10,000 candidates and 100 runs with limits by state, compared with only sorting the
 * same array; and the same with every role among the candidates, compared with workers alone.
 */
export async function benchDecision(): Promise<readonly Figure[]> {
  const decisions = freeSlots.flatMap((free) => [decideUpTo(100 + free), decideUpTo(100 + free, mixed)]);
  const [sort, ...found] = await measureInTurns(20, 10, [() => candidates.toSorted(compareForDispatch), ...decisions]);
  if (sort === undefined) throw new Error('nothing was measured');
  return freeSlots.flatMap((free, index) => {
    const [alone, together] = found.slice(2 * index, 2 * index + 2);
    return alone === undefined || together === undefined
      ? []
      : [figure(free, alone, sort), mixedFigure(free, together, alone)];
  });
}

const freeSlots = [0, 100, 7_900];

function figure(free: number, seen: Measured, sort: Measured): Figure {
  return {
    what: `a decision over 10,000 candidates with 100 runs in progress, ${free.toLocaleString('en')} slots free`,
    seen: `${seen.medianMs.toFixed(1)} ms (p99 ${seen.p99Ms.toFixed(1)})`,
    aim: '20 ms',
    ratio: ratioOf(seen.medianMs, sort.medianMs, `a bare sort (${sort.medianMs.toFixed(1)} ms)`),
  };
}

function mixedFigure(free: number, seen: Measured, alone: Measured): Figure {
  return {
    what: `the same with ${roles.length} roles among the candidates, ${free.toLocaleString('en')} slots free`,
    seen: `${seen.medianMs.toFixed(1)} ms (p99 ${seen.p99Ms.toFixed(1)})`,
    aim: '1.3 times workers alone',
    ratio: ratioOf(seen.medianMs, alone.medianMs, `workers alone (${alone.medianMs.toFixed(1)} ms)`),
  };
}

const states = ['Todo', 'In Progress', 'Rework', 'Merging', 'TODO ', 'in progress'];
const chance = seededChance(1);
const pick = (below: number): number => Math.floor(chance.next() * below);

const candidates: Issue[] = Array.from({ length: 10_000 }, (_, index) =>
  issue({
    id: `id-${index}`,
    identifier: `BAT-${index}`,
    state: states[pick(states.length)] ?? 'Todo',
    priority: pick(6),
    createdAt: pick(5_000),
    labels: pick(10) === 0 ? ['ui'] : ['baton', 'ui'],
    blockedBy: pick(5) === 0 ? [{ id: 'b', identifier: 'BAT-0', state: pick(2) === 0 ? 'Done' : 'Todo' }] : [],
  }),
);
const taken = Array.from({ length: 100 }, (_, index) => ({
  state: states[index % states.length] ?? 'Todo',
  role: 'worker' as const,
}));
const claimed = new Set(candidates.slice(0, 100).map(({ id }) => id));

/** By issue. Each role has as many candidates as the others. */
const rolesOf = new Map(candidates.map((each, index) => [each, roles[index % roles.length] ?? 'worker'] as const));
const mixed = (each: Issue): Role => rolesOf.get(each) ?? 'worker';

/** `limit` agents in all, and fewer in each of three states. */
function decideUpTo(limit: number, roleOf?: (issue: Issue) => Role): () => unknown {
  const byState = { todo: limit / 4, 'in progress': limit / 2, merging: 1 };
  const wanted = settings({
    agent: { maxConcurrentAgents: limit, maxConcurrentAgentsByState: byState },
    // Every state is active and for review, so that candidates of every role can start.
    tracker: { activeStates: states, reviewStates: states, requiredLabels: ['baton'] },
  });
  const facts = {
    issues: candidates,
    settings: wanted,
    taken,
    ...(roleOf === undefined ? {} : { roleOf }),
    startMove: { from: 'Todo', to: 'In Progress' },
    outside: {
      free_here: {
        refuse: ({ id }: Issue) => (claimed.has(id) ? ({ code: 'claimed', text: 'it runs' } as const) : null),
        passed: () => 'no agent works on it',
      },
    },
  };
  return () => planDispatch(facts);
}
