import type { CommandKind } from '../../../src/core/command/command.ts';
import type { World } from '../world.ts';
import { artifactText, type PipelineWorld } from './pipeline-world.ts';

type Submit = (kind: CommandKind, payload: Record<string, unknown>) => Promise<void>;

/**
 * People who change the labels of the pipeline by hand (to another phase, to two, to none, and the marks), and who write,
 * approve and reject artifacts and move issues by command.
 */
export function startPipelinePeople(world: World, pipeline: PipelineWorld, submit: Submit): void {
  const { handsPerMinute, decisionsPerMinute } = pipeline.plan;
  world.nowAndThen(world.draw.pipeline, handsPerMinute, () => changeLabels(world, pipeline));
  world.nowAndThen(world.draw.artifacts, decisionsPerMinute, () => decide(world, pipeline, submit));
}

function decide(world: World, pipeline: PipelineWorld, submit: Submit): void {
  const { draw, memory, plan } = world;
  const known = memory.look<{ issue_id: string }>('select issue_id from phases order by issue_id');
  if (known.length === 0) return;
  const { issue_id: issue } = draw.artifacts.pick(known);
  const phases = plan.settings.pipeline.phases.map(({ name }) => name);
  const kind = draw.artifacts.weighted({ artifact_put: 3, phase_approve: 3, phase_reject: 3, phase_move: 1 });
  world.count(`command: ${kind}`);
  const phase = draw.artifacts.pick([...phases, 'ready']);
  const more = {
    artifact_put: { text: artifactText(draw.artifacts.chance(0.3), 'by a person') },
    phase_approve: {},
    phase_reject: { note: 'Not like this.' },
    phase_move: { phase },
  }[kind];
  if (kind === 'phase_move') pipeline.movedByHand(issue, phase);
  // A hold that asks about the phase ends with the decision, and so does a wait.
  if (kind !== 'artifact_put') {
    world.askedAt.set(issue, world.now);
    world.freedAt.set(issue, world.now);
  }
  void submit(kind, { issue, ...more });
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
