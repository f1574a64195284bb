import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

/** Only a person promotes an issue with the label `proposed`; an agent may move one that a person gave it. */
export function proposedStays(world: World): Rule {
  world.book.onMove.add(({ id, from, to, by }) => {
    if (by !== 'hand' && by.kind === 'orchestrator' && from === 'Backlog') world.tally('promoted by Baton');
    const isProposed = world.book.get(id)?.labels.includes('proposed') === true;
    if (!isProposed || from !== 'Backlog' || by === 'hand' || by.kind !== 'orchestrator') return;
    world.broke('proposed_stays', id, `Baton moves it from "${from}" to "${to}"`);
  });
  return {};
}
