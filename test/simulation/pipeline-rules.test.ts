// @module-tag full
import { describe, expect, it } from 'vitest';
import type { RuleName } from './broken-rule.ts';
import type { PipelinePlan } from './pipeline/pipeline-plan.ts';
import type { Plan } from './plan.ts';
import { changed, changedStore, inQuietWorld } from './quiet-world.ts';
import type { Sabotage } from './sabotage.ts';

const calm: PipelinePlan = {
  validations: ['structural', 'judge', 'trust'],
  maxRevisions: 2,
  revisionExpiryMs: 3_600_000,
  short: 0,
  skips: 0,
  silent: 0,
  idle: 0,
  crashes: 0,
  judge: { rejects: 0, saysNothing: 0, spoils: 0 },
  handsPerMinute: 0,
  decisionsPerMinute: 0,
  refused: 0,
};

/** As in `rules.test.ts`, in a world with phases. */
describe('A rule of the pipeline notices', { timeout: 120_000 }, () => {
  it('nothing when nothing goes wrong, and much is completed, sent back, judged, skipped and moved by hand', async () => {
    const plan = {
      short: 0.3,
      skips: 0.2,
      silent: 0.2,
      idle: 0.1,
      crashes: 0.2,
      handsPerMinute: 1,
      decisionsPerMinute: 1,
    };
    const judge = { rejects: 0.4, saysNothing: 0.2, spoils: 0.1 };
    const { broken, counts } = await inPhases({}, { ...plan, judge }, { issues: 20 });
    expect(broken).toBeNull();
    const decisions = ['artifact_put', 'phase_approve', 'phase_reject', 'phase_move'].map((kind) => `command: ${kind}`);
    for (const what of [
      'claim: advanced',
      'claim: revise',
      'judge: approve_phase',
      'label: move',
      'phase left',
      ...decisions,
    ])
      expect([what, counts.get(what) ?? 0]).not.toEqual([what, 0]);
  });

  // @conforms simulation.31
  it('a completion claim that is decided twice', async () => {
    const forgetful = changedStore((tables) => ({
      ...tables,
      completionClaims: { ...tables.completionClaims, decide: async () => true },
    }));
    const reopening: Sabotage = {
      afterStep: ({ memory }) => {
        memory.look("update completion_claims set decided_at = decided_at + 1 where state = 'advanced' returning id");
      },
    };
    expect(await isBroken('completion_once', reopening)).toBe(true);
    expect(await isBroken('phase_forward', { parts: forgetful })).toBe(true);
  });

  it('an artifact that is sent back twice for one claim', async () => {
    const double = changedStore((tables) => ({
      ...tables,
      phases: {
        ...tables.phases,
        put: (key, record) => tables.phases.put(key, { ...record, revisions: record.revisions * 2 }),
      },
    }));
    expect(await isBroken('completion_once', { parts: double }, { short: 1 })).toBe(true);
  });

  // @conforms simulation.32
  it('an issue that goes back although no one asked for it', async () => {
    const back: Sabotage = {
      afterStep: ({ memory }) => {
        memory.look("update phases set phase = 'research' where phase = 'grooming' returning phase");
      },
    };
    expect(await isBroken('phase_forward', back)).toBe(true);
  });

  it("labels of Baton that are taken for a person's", async () => {
    const forgetful = changedStore((tables) => ({
      ...tables,
      phases: {
        ...tables.phases,
        setMirrored: (key, _labels, at, write) => tables.phases.setMirrored(key, ['phase:nowhere'], at, write),
        setMirroring: async () => {},
      },
    }));
    expect(await isBroken('phase_forward', { parts: forgetful })).toBe(true);
  });

  // @conforms simulation.33
  it('a worker that starts before its issue is ready', async () => {
    const hasty = changed(({ source }) => {
      let reads = 0;
      return {
        source: {
          read: () => {
            const { workflow, problem } = source.read();
            reads += 1;
            const pipeline = { ...workflow.settings.pipeline, phases: [] };
            const settings = reads < 40 ? workflow.settings : { ...workflow.settings, pipeline };
            return { workflow: { ...workflow, settings }, problem };
          },
        },
      };
    });
    expect(await isBroken('work_waits', { parts: hasty })).toBe(true);
  });

  // @conforms simulation.34
  it('an issue that stays in its phase for ever', async () => {
    const patient = changedStore((tables) => ({
      ...tables,
      phases: { ...tables.phases, put: (key, record) => tables.phases.put(key, { ...record, revisions: 0 }) },
    }));
    // Long enough for more runs than an issue may need, whatever the seed draws.
    const plan = { stormMs: 6 * 60 * 60_000 };
    const { broken } = await inPhases(
      { parts: patient },
      { short: 1, validations: ['structural'] },
      plan,
      'phase_ends',
    );
    expect(broken?.rule).toBe('phase_ends');
  });
});

function inPhases(sabotage: Sabotage, pipeline: Partial<PipelinePlan>, plan: Partial<Plan> = {}, only?: RuleName) {
  return inQuietWorld(sabotage, { stormMs: 30 * 60_000, ...plan, pipeline: { ...calm, ...pipeline } }, only);
}

async function isBroken(rule: RuleName, sabotage: Sabotage, pipeline: Partial<PipelinePlan> = {}): Promise<boolean> {
  return (await inPhases(sabotage, pipeline, {}, rule)).broken?.rule === rule;
}
