import type { World } from '../world.ts';
import type { PipelineWorld } from './pipeline-world.ts';

/** People who change the labels of the pipeline by hand: to another phase, to two, to none, and the marks. */
export function startPipelinePeople(world: World, pipeline: PipelineWorld): void {
  world.nowAndThen(world.draw.pipeline, pipeline.plan.handsPerMinute, () => changeLabels(world, pipeline));
}

function changeLabels(world: World, pipeline: PipelineWorld): void {
  const { book, draw, plan, trace } = world;
  const ids = book.ids();
  if (ids.length === 0) return;
  const id = draw.pipeline.pick(ids);
  const labels = book.get(id)?.labels ?? [];
  const phases = [...plan.settings.pipeline.phases.map(({ name }) => name), 'ready'];
  const phase = draw.pipeline.pick(phases);
  const what = draw.pipeline.weighted({ move: 6, double: 1, strip: 1, unknown: 1, mark: 1, skip: 1 });
  const others = labels.filter((label) => !label.startsWith('phase:'));
  const marks = labels.includes('needs-revision')
    ? labels.filter((label) => label !== 'needs-revision')
    : [...labels, 'needs-revision'];
  const changed = {
    move: [...others, `phase:${phase}`],
    double: [...labels, `phase:${phase}`],
    strip: others,
    unknown: [...labels, 'phase:nowhere'],
    mark: marks,
    skip: [...labels, `skip:${phase}`],
  }[what];
  trace.tell('a person labels', id, what, phase);
  world.count(`label: ${what}`);
  if (what === 'move' || what === 'double') pipeline.movedByHand(id, phase);
  // A hold that asks about the phase ends with the move.
  world.askedAt.set(id, world.now);
  world.freedAt.set(id, world.now);
  book.relabel(id, [...new Set(changed)], 'hand');
}
