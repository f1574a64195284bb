import { describe, expect, it } from 'vitest';
import { newPhaseRecord } from '../../../src/core/pipeline/phase.ts';
import { issue } from '../../fake/issues.ts';
import { scratchStore } from '../../fake/scratch-store.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { type Scene, scene } from '../scene.ts';
import { phased, second } from './pipeline-scene.ts';

const ids = Array.from({ length: 300 }, (_, at) => `${at + 1}`);

/** A daemon on a store that others write to, with one slot, and a record of every issue. */
async function shared() {
  const clock = new SimulatedClock();
  const store = await scratchStore(clock);
  const project = (await store.projects.ensure('test', 0)).id;
  for (const issueId of ids) await store.phases.put({ project, issueId }, newPhaseRecord('research', 0));
  const read: string[] = [];
  const stage = await scene({
    ...{ clock, store, isShared: true },
    issues: ids.map((id) => issue({ id, labels: ['phase:research'] })),
    settings: phased({ agent: { maxConcurrentAgents: 1 } }),
    through: (given) => ({
      ...given,
      phases: {
        ...given.phases,
        readAll: (of, wanted) => {
          read.push(...wanted);
          return given.phases.readAll(of, wanted);
        },
      },
    }),
  });
  await stage.orchestrator.start();
  await clock.advance(20 * second);
  read.length = 0;
  return { stage, read };
}

function phaseOf({ orchestrator }: Scene, id: string): string | undefined {
  return orchestrator.read().phases.get(id)?.record.phase;
}

describe('a tick on a store that other daemons write to', () => {
  it('reads no phases again while nothing changed', async () => {
    const { stage, read } = await shared();
    const ticks = stage.health.length;
    await stage.clock.advance(60 * second);
    expect(stage.health.length).toBeGreaterThan(ticks + 5);
    expect(read).toEqual([]);
  });

  it('reads the phase that another daemon changed, and no other', async () => {
    const { stage, read } = await shared();
    const { store, project } = stage;
    await store.phases.put({ project, issueId: '7' }, newPhaseRecord('grooming', 1));
    await stage.clock.advance(10 * second);
    expect([new Set(read), phaseOf(stage, '7')]).toEqual([new Set(['7']), 'grooming']);
    read.length = 0;
    await stage.clock.advance(60 * second);
    expect(read).toEqual([]);
  });

  it('reads an issue whose completion claim another daemon made or decided', async () => {
    const { stage, read } = await shared();
    const { store, project } = stage;
    const key = { project, issueId: '9' };
    const claim = { id: 'c', phase: 'research', runId: null, path: 'a.md', version: null, summary: '', skipTo: null };
    await store.completionClaims.add(key, { ...claim, at: 1, found: [] });
    await store.completionClaims.decide('c', 'pending', { state: 'judging', reasons: [], at: 1 });
    await stage.clock.advance(10 * second);
    expect([new Set(read), stage.orchestrator.read().phases.get('9')?.open?.state]).toEqual([
      new Set(['9']),
      'judging',
    ]);
    read.length = 0;
    await store.completionClaims.decide('c', 'judging', { state: 'withdrawn', reasons: [], at: 2 });
    await stage.clock.advance(10 * second);
    expect([new Set(read), stage.orchestrator.read().phases.get('9')?.open]).toEqual([new Set(['9']), null]);
  });
});
