import type { SessionRequest } from '../../../src/agent/agent.ts';
import type { Incarnation } from '../incarnation.ts';
import type { SimulatedProcess } from '../process-table.ts';
import type { World } from '../world.ts';
import type { TaskWorld } from './task-world.ts';

export interface TaskTurnParts {
  readonly world: World;
  readonly incarnation: Incarnation;
  readonly request: SessionRequest;
  readonly process: SimulatedProcess;
}

/** Plans what the agent of an intake or of a scan does in one turn. In calm weather it proposes once, and not too much. */
export function playTaskTurn(parts: TaskTurnParts, tasks: TaskWorld, durationMs: number): void {
  const { world, incarnation, request, process } = parts;
  const { draw, isCalm, plan: all } = world;
  const { plan } = tasks;
  const chance = (share: number): boolean => draw.tasks.chance(isCalm ? 0 : share);
  if (chance(plan.silent)) {
    world.tally('task agent: says nothing');
    return;
  }
  const { maxIssues } = request.env.BATON_ROLE === 'scanner' ? all.settings.scanner : all.settings.intake;
  const times = chance(plan.repeats) ? draw.tasks.between(2, 5) : 1;
  const first = durationMs * 0.5;
  for (let nth = 0; nth < times; nth += 1) {
    const most = chance(plan.greedy) ? maxIssues + draw.tasks.between(1, 60) : maxIssues;
    const input = { issues: drawIssues(world, draw.tasks.between(most > maxIssues ? most : 0, most)) };
    world.later(process, first + (durationMs * 0.4 * nth) / times, () => {
      if (!incarnation.isAlive) return;
      world.tally(`task agent: proposes ${most > maxIssues ? 'too much' : nth === 0 ? '' : 'again'}`.trim());
      incarnation.deliver(() => void request.tools.call('propose_issues', input));
    });
  }
  if (chance(plan.crashes))
    world.later(process, first + draw.tasks.logBetween(1, 5_000), () => world.finishOrphan(process, true));
}

function drawIssues({ draw, book }: World, count: number): Record<string, unknown>[] {
  return Array.from({ length: count }, () => {
    const ids = book.ids();
    const isSame = ids.length > 0 && draw.tasks.chance(0.1);
    const known = isSame ? book.get(draw.tasks.pick(ids)) : undefined;
    return {
      title: known?.title ?? `Idea ${draw.tasks.between(1, 1_000_000_000)}`,
      description: 'An idea.',
      labels: draw.tasks.pick([[], ['baton'], ['baton'], ['proposed']]),
      priority: draw.tasks.pick([null, 1, 3]),
      ...(draw.tasks.chance(0.1) && known !== undefined ? { duplicate_of: known.identifier } : {}),
    };
  });
}
