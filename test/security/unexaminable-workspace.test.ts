// @module-tag one-way
import { expect, it } from 'vitest';
import { decideAfterExit } from '../../src/core/run/exit-decision.ts';
import { settings } from '../fake/settings.ts';
import { stageRun } from '../runner/stage-run.ts';
import { treeBomb } from './tree-bomb.ts';

const repository =
  'git -c init.defaultBranch=main init -q && git config user.name T && git config user.email t@example.com && ' +
  'echo x > before.txt && git add . && git commit -q -m first';

const manyFiles = 'mkdir many && (cd many && seq 20001 | xargs touch)';

/** Each leaves a workspace that the run, and every later run, finds as it was. */
const attacks = {
  'a pipe called .gitignore': `${manyFiles} && mkfifo .gitignore`,
  'a tree bomb': `${manyFiles}${treeBomb}`,
  'too many files without git': `${manyFiles} && rm -rf .git`,
};

for (const [name, attack] of Object.entries(attacks)) {
  it(`an agent that only looked counts as unchanged, whatever earlier runs left: ${name}`, async () => {
    const staged = stageRun('true', {
      agent: { backend: 'command', command: 'exec sh' },
      hooks: { afterCreate: `${repository}\n${attack}` },
    });
    const outcome = await staged.end();
    const told = staged.told.find((line) => line.startsWith('changed: ')) ?? expect.fail('it was examined');
    const changed: boolean | null = JSON.parse(told.slice('changed: '.length));
    expect(
      decideAfterExit({
        identifier: 'T-1',
        outcome,
        work: { moved: false, changed, committed: null, branch: { commits: 'none' }, hasLoose: false },
        noSignalsBefore: 0,
        failuresBefore: 0,
        staleBefore: 2,
        quotaWaitsBefore: 0,
        quotaReadyInMs: null,
        isHeldForLogin: true,
        environmentRetryInMs: null,
        lastRecovery: null,
        agent: settings().agent,
        now: 0,
        chance: 0,
      }),
    ).toMatchObject({ action: 'hold', code: 'no_progress' });
  });
}
