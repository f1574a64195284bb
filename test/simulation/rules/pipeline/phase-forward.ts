import { phaseNames } from '../../../../src/core/pipeline/phase.ts';
import type { PipelineWorld } from '../../pipeline/pipeline-world.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

interface Row {
  readonly issue_id: string;
  readonly phase: string;
}

/**
 * An issue only goes forward, by a completion claim of the phase that it leaves, each of which counts once; or where a
 * person labelled it, and each label counts once.
 */
export function phaseForward(world: World, pipeline: PipelineWorld): Rule {
  const last = new Map<string, string>();
  const advanced = new Map<string, number>();
  return {
    afterStep: () => {
      if (!world.storeHasChanged) return;
      const names = phaseNames(world.plan.settings.pipeline);
      for (const { issue_id: id, phase } of world.memory.look<Row>('select issue_id, phase from phases')) {
        const before = last.get(id);
        last.set(id, phase);
        if (before === undefined || before === phase) continue;
        const [found] = world.memory.look<{ count: number }>(advances, id);
        const isAdvance = (found?.count ?? 0) > (advanced.get(id) ?? 0);
        advanced.set(id, found?.count ?? 0);
        world.tally('phase left');
        if (isAdvance && names.indexOf(phase) > names.indexOf(before)) continue;
        if (!pipeline.obeys(id, phase))
          world.broke('phase_forward', id, `it went from "${before}" to "${phase}", and no one asked for it`);
      }
    },
  };
}

const advances = "select count(*) as count from completion_claims where issue_id = ? and state = 'advanced'";
