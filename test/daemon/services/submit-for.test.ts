import { describe, expect, it } from 'vitest';
import { commandKinds } from '../../../src/core/command/command.ts';
import { refused } from '../../../src/core/command/command-answers.ts';
import { type SubmitParts, submitFor } from '../../../src/daemon/services/submit-for.ts';
import type { CommandRequest } from '../../../src/server/api/schema/command.ts';
import { scratchStore } from '../../fake/scratch-store.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';

/** The real store, and a daemon that refuses everything it is asked, in these words. */
async function staged(text: string) {
  const store = await scratchStore(new SimulatedClock());
  const project = (await store.projects.ensure('test', 0)).id;
  const refuseAll = async (): Promise<void> => {
    for (const { id } of await store.commands.waiting(project, 99))
      await store.commands.finish(id, { at: 1, ...refused('not_paused', text, { because: 'of this' }) });
  };
  const parts = { store, project, orchestrator: { wake: () => void refuseAll() } } as unknown as SubmitParts;
  return { store, project, parts };
}

describe('a command over the API', () => {
  const run = { kind: 'run', runId: 'r1' } as const;
  const person = { kind: 'person', name: 'ada' } as const;
  const stopping: readonly string[] = ['pause', 'drain', 'issue_hold', 'issue_stop'];

  // @conforms api.55
  it.each(commandKinds.filter((kind) => !stopping.includes(kind)))(
    'of a run that asks for %s is refused before anything of it is written',
    async (kind) => {
      const { store, project, parts } = await staged('no');
      // More than the store should have to keep of it.
      const request = { kind, issue: '1', description: 'x'.repeat(200_000), key: 'k' } as unknown as CommandRequest;
      await expect(submitFor(parts, request, run)).rejects.toMatchObject({
        code: 'command_refused',
        details: { kind, code: 'not_for_agents' },
      });
      expect(await store.commands.list(project, 9)).toEqual([]);
    },
  );

  it.each(stopping)('of a run that asks for %s is given', async (kind) => {
    const { store, project, parts } = await staged('no');
    const request = { kind, issue: '1' } as unknown as CommandRequest;
    await expect(submitFor(parts, request, run)).rejects.toMatchObject({
      details: { kind, code: 'not_paused', data: { because: 'of this' } },
    });
    expect(await store.commands.list(project, 9)).toMatchObject([{ kind, author: run }]);
  });

  // @conforms api.67
  it.each([
    ['it is paused already', 'It is paused already.'],
    ['There is no such issue.', 'There is no such issue.'],
    ['really?', 'Really?'],
  ])(
    'that is refused with "%s" is one sentence with one mark at its end, and does not say twice that it is refused',
    async (text, message) => {
      const { parts } = await staged(text);
      await expect(submitFor(parts, { kind: 'resume' }, person)).rejects.toMatchObject({ message });
    },
  );
});
