import { describe, expect, it } from 'vitest';
import type { CommandRequest } from '../../../src/client/schema/command.ts';
import { commandKinds } from '../../../src/core/command/command.ts';
import { done, refused } from '../../../src/core/command/command-answers.ts';
import { type SubmitParts, submitCommand } from '../../../src/daemon/services/submit-command.ts';
import { runStart } from '../../conformance/store.ts';
import { scratchStore } from '../../fake/scratch-store.ts';
import { seededChance } from '../../fake/seeded-chance.ts';
import { settings } from '../../fake/settings.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';

/** The real store, and a daemon that refuses everything it is asked, in these words. */
async function staged(text: string) {
  const clock = new SimulatedClock();
  const store = await scratchStore(clock);
  const project = (await store.projects.ensure('test', 0)).id;
  const parts: SubmitParts = {
    store,
    project,
    clock,
    chance: seededChance(1),
    surroundings: { hostName: 'here' },
    stateDir: '/nowhere',
    settings,
    carryOut: async () => ({ at: 1, ...refused('not_paused', text, { because: 'of this' }) }),
  };
  return { store, project, parts, clock };
}

describe('a command over the API', () => {
  const run = { kind: 'run', runId: 'r1' } as const;
  const person = { kind: 'person', name: 'ada' } as const;
  const stopping: readonly string[] = ['issue_hold', 'issue_stop'];

  // @conforms api.55
  it.each(commandKinds.filter((kind) => !stopping.includes(kind)))(
    'from a run that asks for %s is refused before anything is stored',
    async (kind) => {
      const { store, project, parts } = await staged('no');
      // More than the store should have to keep of it.
      const request = { kind, issue: '1', description: 'x'.repeat(200_000), key: 'k' } as unknown as CommandRequest;
      await expect(submitCommand(parts, request, run)).rejects.toMatchObject({
        code: 'command_refused',
        details: { kind, code: 'not_for_agents' },
      });
      expect(await store.commands.list(project, 9)).toEqual([]);
    },
  );

  it.each(stopping)('from a run that asks for %s of its own issue is accepted, of another refused', async (kind) => {
    const { store, project, parts } = await staged('no');
    await store.runs.start(runStart('r1', { project, issueId: '1', identifier: 'T-1' }));
    for (const issue of ['2', 'T-2'])
      await expect(submitCommand(parts, { kind, issue } as unknown as CommandRequest, run)).rejects.toMatchObject({
        details: { code: 'not_for_agents' },
      });
    const request = { kind, issue: 'T-1' } as unknown as CommandRequest;
    await expect(submitCommand(parts, request, run)).rejects.toMatchObject({
      details: { kind, code: 'not_paused', data: { because: 'of this' } },
    });
    expect(await store.commands.list(project, 9)).toMatchObject([{ kind, author: run }]);
  });

  it('waits in the store when no answer comes in time, and repeats as the same command with its key', async () => {
    const { store, project, parts, clock } = await staged('no');
    const never = { ...parts, carryOut: () => new Promise<null>(() => {}) };
    const given = submitCommand(never, { kind: 'pause', key: 'k' }, person);
    await clock.advance(15_000);
    const { command } = await given;
    expect(command).toMatchObject({ kind: 'pause', result: null });
    await store.commands.finish(command.id, { at: 1, ...done('paused', 'Paused.', {}) });
    expect(await submitCommand(never, { kind: 'pause', key: 'k' }, person)).toMatchObject({
      command: { id: command.id, result: { code: 'paused' } },
    });
    await expect(submitCommand(never, { kind: 'resume', key: 'k' }, person)).rejects.toMatchObject({
      details: { code: 'key_in_use' },
    });
    expect(await store.commands.list(project, 9)).toHaveLength(1);
  });

  // @conforms api.67
  it.each([
    ['it is paused already', 'It is paused already.'],
    ['There is no such issue.', 'There is no such issue.'],
    ['really?', 'Really?'],
  ])(
    'that is refused with "%s" has one sentence with one final mark, and does not say twice that it is refused',
    async (text, message) => {
      const { parts } = await staged(text);
      await expect(submitCommand(parts, { kind: 'resume' }, person)).rejects.toMatchObject({ message });
    },
  );
});
