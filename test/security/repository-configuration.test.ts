// @module-tag full
// @module-tag one-way
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { createPullDiff, createWorkspaceDiff } from '../../src/daemon/services/diff/workspace-diff.ts';
import { checkoutCommit } from '../../src/pulls/checks/checkout-commit.ts';
import { localHost } from '../../src/pulls/local/local-host.ts';
import { createSalvage } from '../../src/workspace/salvage/create-salvage.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { githubScene, stopGithubs } from '../pulls/github/github-scene.ts';
import { branch, mergeOf, pullOf } from '../pulls/pull-scene.ts';
import { shell } from '../workspace/git/examine-scene.ts';
import { type Canary, hatchCanary, plantTraps, type Trap, trapGround, traps } from '../workspace/git/traps.ts';
import { scratchFolder } from '../workspace/scratch-folder.ts';
import { scratchWorkspaces, visit } from '../workspace/scratch-workspaces.ts';

afterEach(stopGithubs);

const configured = (settings: Readonly<Record<string, string>>): string =>
  Object.entries({ 'core.repositoryFormatVersion': '1', ...settings })
    .map(([key, value]) => `git config --file "$git/config" "${key}" "${value}"`)
    .join('\n');

/** Settings by which git would run a program when it reads any repository by its path. Each alone: a first refusal would hide the next. */
const addresses: readonly Trap[] = Object.entries({
  ssh: { 'core.sshCommand': '$canary', 'url.ssh://host/.insteadOf': '/' },
  'a git proxy': { 'core.gitProxy': '$canary', 'url.git://host/.insteadOf': '/' },
  'the ext transport': { 'protocol.ext.allow': 'always', 'url.ext::$canary .insteadOf': '/' },
  'a partial clone': {
    'extensions.partialClone': 'evil',
    'remote.evil.promisor': 'true',
    'remote.evil.url': 'ssh://host/x',
    'core.sshCommand': '$canary',
  },
}).map(([name, settings]) => ({ name, planted: configured(settings), sprungBy: null }));

// The repository must stay whole: the promise of an object that is missing is of another test (hostile-repository).
const programs = traps.filter(({ isAlone, name }) => isAlone !== true && !name.startsWith('a promisor'));
const groups = [0, 1].map((at) => programs.filter((_, index) => index % 2 === at));

const attacks = [
  ...addresses.map((trap) => ({ name: trap.name, planted: [trap] })),
  ...groups.map((planted, at) => ({ name: `each program that git knows, part ${at + 1}`, planted })),
];

/** A repository in which a person works, and in which an agent has set traps that its own commits spring too. */
function trapped(source: string, planted: readonly Trap[]): Canary {
  const attributes = planted.flatMap((trap) =>
    [...trap.planted.matchAll(/'(\w+=\w+)'/g)].map(([, text]) => `* ${text}`),
  );
  writeFileSync(path.join(source, '.gitattributes'), `${attributes.join('\n')}\n`);
  shell('git add -A; git commit -qm attributes; git checkout -q --detach; git branch -f main', source);
  const canary = hatchCanary(path.join(path.dirname(source), 'cage'));
  plantTraps(source, path.join(source, '.git'), canary, planted);
  canary.silence();
  return canary;
}

it.each(attacks)(
  'nothing that Baton does runs a program that the configuration of the repository names: $name',
  async ({ planted }) => {
    const folder = scratchFolder();
    const source = path.join(folder, 'source');
    mkdirSync(source);
    shell(`${trapGround}; git config user.name Ada; git config user.email ada@example.invalid`, source);
    const canary = trapped(source, planted);
    const configFile = path.join(source, '.git/config');
    const leadsElsewhere = planted.some((trap) => addresses.includes(trap) && trap.planted.includes('insteadOf'));
    const silentAfter = (step: string): void => expect([step, canary.sang()]).toEqual([step, []]);
    const repo = { location: source, shown: source, isLocal: true };
    const { workspaces, resources, stateDir } = scratchWorkspaces({
      workspace: { repo, strategy: 'worktree', copyFrom: source, base: 'main' },
    });
    const { git, places } = resources;

    const made = await workspaces.prepare(visit());
    expect(readFileSync(path.join(made.path, 'dir/deep'), 'utf8')).toBe('x\n');
    silentAfter('a new workspace');
    shell('echo agent > other; git add -A; git commit -qm work; echo rest > rest', made.path);
    expect((await workspaces.examine(made.path))?.git?.ahead).toBe(1);
    const diffOf = createWorkspaceDiff({ git, places, clock: systemClock, findCheckout: async () => null });
    expect((await diffOf(made.path)).files).not.toEqual([]);
    silentAfter('a look at it');
    const head = await workspaces.commitRest(made, visit());
    expect(head).not.toBeNull();
    const published = { outcome: 'published', commit: head };
    // A repository whose paths lead elsewhere gets nothing, and no program runs.
    if (leadsElsewhere) {
      expect(await workspaces.afterRun(made, visit())).toMatchObject({ outcome: 'refused' });
      silentAfter('publishing that is refused');
      const hostile = readFileSync(configFile);
      shell(
        'git config --get-regexp --name-only "^url" | while read -r key; do git config --unset "$key"; done',
        source,
      );
      expect(await workspaces.afterRun(made, visit())).toMatchObject(published);
      writeFileSync(configFile, hostile);
    } else expect(await workspaces.afterRun(made, visit())).toMatchObject(published);
    silentAfter('publishing');

    const pulls = localHost.create({ repo, git, places } as Parameters<typeof localHost.create>[0]);
    const pull = pullOf(await pulls.open({ branch, base: 'main', title: 't', body: '' }));
    expect(await pulls.read([pull])).toMatchObject([{ mergeability: 'clean' }]);
    silentAfter('the conflict test');
    const diff = await createPullDiff({ git, places, clock: systemClock, repo: () => repo })(pull, null);
    expect(diff.files?.map((file) => file.path)).toEqual(['other', 'rest']);
    silentAfter('the diff of a change');
    const checked = path.join(folder, 'checked');
    await checkoutCommit(git, { folder: checked, common: path.join(source, '.git'), commit: pull.headCommit });
    expect(readFileSync(path.join(checked, 'other'), 'utf8')).toBe('agent\n');
    silentAfter('the checkout of a check');
    const merged = pulls.merge(pull, mergeOf(pull)).catch(({ code }) => ({ outcome: code }));
    expect(await merged).toMatchObject({ outcome: leadsElsewhere ? 'git_failed' : 'merged' });
    silentAfter('a merge');

    writeFileSync(path.join(made.path, 'unsaved'), 'work\n');
    await workspaces.remove({ path: made.path, identifier: 'T-1' }, visit());
    const salvage = createSalvage({
      ...{ clock: systemClock, containment: 'group_only', daemonId: 'd', daemonEnv: { PATH: process.env.PATH } },
      ...{ git, places, repo, project: 'scratch', archive: false, logger: memoryLogger() },
      findCheckout: async () => null,
    });
    const [work] = await salvage.list();
    expect(work?.files).toBe(1);
    if (work === undefined) return;
    expect(await salvage.diff(work, { stat: false })).toContain('+work');
    const restored = path.join(stateDir, 'restored');
    await salvage.restore(work, restored);
    expect(readFileSync(path.join(restored, 'unsaved'), 'utf8')).toBe('work\n');
    await salvage.drop(work);
    silentAfter('saved work');
    await workspaces.prepare(visit());
    silentAfter('the workspace again');

    // The traps work: plain git in the repository runs the program. (Of a partial clone only where an object is missing.)
    const spring = planted
      .map(({ sprungBy }) => sprungBy ?? 'git fetch -q "$PWD" main')
      .map((act) => `{ ${act}; } || :`);
    shell(`exec > /dev/null 2>&1 < /dev/null\n${spring.join('\n')}`, source);
    if (leadsElsewhere || planted.length > 1) expect(canary.sang()).not.toEqual([]);
  },
);

it('nor does the delivery of a change to GitHub', async () => {
  const { pulls, github, source, publish } = await githubScene();
  const head = publish(branch, { 'new.txt': 'hello\n' });
  const canary = trapped(source, [...programs, ...addresses.slice(0, 1)]);
  const opened = await pulls.open({ branch, base: 'main', title: 't', body: '' });
  expect(github.tip(branch)).toBe(head);
  await pulls.read([pullOf(opened)]);
  expect(canary.sang()).toEqual([]);
});
