import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { BatonError } from '../../../src/core/baton-error.ts';
import { examineWorkspace } from '../../../src/workspace/examine/examine-workspace.ts';
import { unlockGitDirectory } from '../../../src/workspace/git/checkout/unlock.ts';
import type { Git } from '../../../src/workspace/git/git.ts';
import type { GitPlaces } from '../../../src/workspace/git/git-places.ts';
import { setShadow, through } from '../../../src/workspace/git/shadow/shadow-git.ts';
import { createSalvage } from '../../../src/workspace/salvage/create-salvage.ts';
import type { Salvage } from '../../../src/workspace/salvage/salvage.ts';
import { memoryLogger } from '../../fake/memory-logger.ts';
import { requestFor } from '../salvage/salvage-scene.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { scratchWorkspaces, visit } from '../scratch-workspaces.ts';
import { type LookScene, lookScene, oneCommit, scratchGit, shell, watchedGit } from './examine-scene.ts';
import { type Canary, hatchCanary, plantTraps, spring, type Trap, trapGround, traps } from './traps.ts';

function salvageWith(git: Git, places: GitPlaces): Salvage {
  const parts = { clock: systemClock, containment: 'group_only', daemonId: 'd' } as const;
  return createSalvage({
    ...parts,
    project: 'test',
    git,
    places,
    repo: null,
    archive: false,
    logger: memoryLogger(),
    daemonEnv: { PATH: process.env.PATH },
    findCheckout: async () => null,
  });
}

/** Refuses to save what cannot be saved, which is fine here: nothing of the agent may run in either case. */
async function saveAndRestore({ workspace, places }: LookScene): Promise<void> {
  const salvage = salvageWith(scratchGit(), places);
  try {
    await salvage.save(requestFor(workspace));
    for (const work of await salvage.list()) {
      await salvage.diff(work, { stat: false });
      await salvage.restore(work, `${workspace}-${work.name.replaceAll('/', '-')}`);
    }
  } catch (error) {
    if (!(error instanceof BatonError)) throw error;
  }
}

/** No operation of the daemon may run anything of the agent. */
function expectSilence(after: string, canary: Canary): void {
  expect({ after, sang: canary.sang() }).toEqual({ after, sang: [] });
}

function trapped(...planted: readonly Trap[]): LookScene & { readonly canary: Canary } {
  const scene = lookScene(trapGround);
  const canary = hatchCanary(path.join(scene.folder, 'cage'));
  plantTraps(scene.workspace, path.join(scene.workspace, '.git'), canary, ...(planted.length === 0 ? [] : [planted]));
  canary.silence();
  return { ...scene, canary };
}

describe('a hostile repository', () => {
  // @conforms git.7
  it.each(traps.filter(({ sprungBy }) => sprungBy !== null))('springs its trap on plain git: $name', (trap) => {
    const { workspace, canary } = trapped(trap);
    spring(trap, workspace);
    expect(canary.sang()).not.toEqual([]);
  });

  it.each(traps)('is examined, unlocked, saved and restored without running $name', async (trap) => {
    const scene = trapped(trap);
    const facts = await scene.look();
    expectSilence('look', scene.canary);
    if (trap.isAlone !== true) {
      // Files that the trap itself added count too.
      expect(facts?.git?.changed).toBeGreaterThanOrEqual(1);
      expect(facts?.git?.untracked).toBeGreaterThanOrEqual(1);
      expect(facts?.git?.branch).toBe('main');
    }
    await unlockGitDirectory(path.join(scene.workspace, '.git'));
    expectSilence('unlock', scene.canary);
    await saveAndRestore(scene);
    expectSilence('save and restore', scene.canary);
  });

  it('is examined, unlocked, saved and restored with all traps at once, without running one', async () => {
    const scene = trapped();
    await scene.look();
    expectSilence('look', scene.canary);
    await unlockGitDirectory(path.join(scene.workspace, '.git'));
    expectSilence('unlock', scene.canary);
    await saveAndRestore(scene);
    expectSilence('save and restore', scene.canary);
  });
});

describe('a worktree with a hostile git directory', () => {
  const kept = traps.filter(({ isAlone }) => isAlone !== true);

  // In groups: with all of them at once, a first refusal could skip the others.
  const groups = Array.from({ length: 8 }, (_, at) => kept.filter((_trap, index) => index % 8 === at));
  const together = groups.map((planted) => ({ name: planted.map(({ name }) => name).join(', '), planted }));

  // @conforms git.8
  it.each([...together, { name: 'all of them', planted: kept }])(
    'is examined, published, removed and created again without running $name',
    async ({ planted }) => {
      const folder = scratchFolder();
      const source = path.join(folder, 'project');
      mkdirSync(source);
      shell(`${trapGround}; git add -A; git commit -qm three`, source);
      const repo = { location: source, shown: source, isLocal: true };
      const { workspaces } = scratchWorkspaces({ workspace: { repo, strategy: 'worktree', copyFrom: source } });
      const made = await workspaces.prepare(visit());
      shell('echo four >> other; git commit -qam four; echo left > file', made.path);
      const canary = hatchCanary(path.join(folder, 'cage'));
      plantTraps(made.path, made.gitDir ?? '', canary, planted);
      canary.silence();
      await workspaces.examine(made.path);
      await workspaces.prepare(visit());
      await workspaces.afterRun(made, visit());
      await workspaces.remove({ path: made.path, identifier: 'T-1' }, visit());
      await workspaces.prepare(visit());
      expect(canary.sang()).toEqual([]);
    },
  );
});

describe('a repository with false data', () => {
  const person = `git init -q ../person; cd ../person; echo secret > secret; git add -A; git commit -qm theirs; cd -`;

  it.each([
    ['a link to the repository of a person', `${person}; ln -s ../person/.git .git`],
    ['a link to nowhere', 'ln -s nowhere .git'],
    ['a file .git that leads to devices', 'echo "gitdir: /dev" > .git'],
    [
      'pipes for all that git reads',
      'mkdir -p .git/refs .git/objects; for n in HEAD index config packed-refs; do mkfifo .git/$n; done',
    ],
    ['references in tables', `${oneCommit}; printf '[extensions]\\n\\trefStorage = reftable\\n' >> .git/config`],
    [
      'a tree that leads out of the workspace',
      `${oneCommit}
      blob=$(git rev-parse HEAD:file); tree=$(printf "100644 blob $blob\\t..\\n" | sed 's/\\.\\./PP/' | git mktree)
      bad=$(git cat-file tree $tree | sed 's/PP/../' | git hash-object -t tree -w --literally --stdin)
      git update-ref HEAD $(git commit-tree -m bad $bad)`,
    ],
    ['a commit that is none', `${oneCommit}; id=$(git rev-parse HEAD:file); echo $id > .git/refs/heads/main`],
    ['a commit that is nowhere', `${oneCommit}; echo ffffffffffffffffffffffffffffffffffffffff > .git/refs/heads/main`],
    ['broken objects', `${oneCommit}; for o in .git/objects/??/*; do chmod +w $o; echo rubbish > $o; done`],
    [
      'a broken pack',
      `${oneCommit}; git gc -q; chmod +w .git/objects/pack/*; for p in .git/objects/pack/*; do echo x > $p; done`,
    ],
  ])('is examined by its files alone: %s', async (_what, made) => {
    const scene = lookScene(made);
    const facts = await scene.look();
    expect(facts).toMatchObject({ git: null, fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) });
    scene.agent('touch new-file');
    expect((await scene.look())?.fingerprint).not.toBe(facts?.fingerprint);
  });

  // @conforms git.9
  it.each([
    ['another work tree', 'mkdir ../out; touch ../out/x; git config core.worktree ../../out'],
    ['a bare one', 'git config core.bare true'],
    ['its own excludes', `echo '*' > .git/info/exclude; echo '*' > ../e; git config core.excludesFile "$PWD/../e"`],
    ['files that are assumed unchanged', 'git update-index --assume-unchanged file'],
    ['files that are assumed left out', 'git update-index --skip-worktree file'],
    ['modes that do not count', 'git config core.fileMode false; git config core.symlinks false'],
    [
      'times that do not count',
      'git config core.trustctime false; git config core.checkStat minimal; git config core.ignoreStat true',
    ],
    ['upper case that is lower case', 'git config core.ignoreCase true; git config core.precomposeUnicode true'],
    ['line ends that do not count', 'git config core.autocrlf true; git config core.eol crlf'],
    ['no untracked files', 'git config status.showUntrackedFiles no; git config core.untrackedCache true'],
    [
      'a sparse checkout',
      'git config core.sparseCheckout true; mkdir -p .git/info; echo /dir/ > .git/info/sparse-checkout',
    ],
    ['a split index', 'git update-index --split-index'],
    ['replaced objects', 'git replace HEAD:file HEAD:dir/other; git replace HEAD $(git commit-tree -m x HEAD^{tree})'],
    ['grafts', 'git commit -q --allow-empty -m 2; git rev-parse HEAD > .git/info/grafts'],
    [
      'attributes that convert',
      `printf '* text working-tree-encoding=UTF-16 ident eol=crlf\\n' > .git/info/attributes`,
    ],
    [
      'attributes in the tree that convert',
      `printf '* text working-tree-encoding=UTF-16 ident eol=crlf filter=x -diff merge=x\\n' > .gitattributes
       git hash-object -w --no-filters .gitattributes > ../id
       git update-index --add --cacheinfo 100644,$(cat ../id),.gitattributes; git commit -qm attributes`,
    ],
    ['a broken .gitmodules', 'echo "<<<<<<<" > .gitmodules; git add .gitmodules; git commit -qm m'],
    [
      '.gitmodules with names that lead out',
      `git config -f .gitmodules submodule.../../x.path ../x; git add .gitmodules; git commit -qm m`,
    ],
    [
      'an index with names of the future',
      'git config core.fsmonitor true; git config index.threads 99; git config feature.manyFiles true',
    ],
    ['an alternate that leads out', 'git init -q ../o; echo "$PWD/../o/.git/objects" > .git/objects/info/alternates'],
  ])('does not hide a change: %s', async (_what, lie) => {
    const scene = lookScene(`${oneCommit}; ${lie}`);
    scene.agent('echo two >> file; touch new-file');
    expect((await scene.look())?.git).toMatchObject({ changed: 1, untracked: 1, branch: 'main' });
  });

  // @conforms git.10
  it.each([
    ['replacing', 'git replace HEAD $(git commit-tree -m x HEAD^{tree} -p HEAD~3)'],
    ['grafting', 'mkdir -p .git/info; echo "$(git rev-parse HEAD) $(git rev-parse HEAD~3)" > .git/info/grafts'],
    ['a graph that lies', 'git commit-graph write --reachable'],
  ])('does not hide commits by %s', async (what, lie) => {
    const scene = lookScene(`${oneCommit}; for n in 1 2 3; do git commit -q --allow-empty -m $n; done`);
    const [head = '', base = ''] = scene.agent('git rev-parse HEAD HEAD~3').split('\n');
    scene.agent(lie);
    if (what.includes('graph that'))
      forgeGraph(path.join(scene.workspace, '.git/objects/info/commit-graph'), head, base);
    expect(scene.agent('git rev-list --count HEAD').trim()).toBe('2');
    const checkout = { ...(await scene.asCheckout()), baseCommit: base };
    expect((await scene.look(checkout))?.git?.ahead).toBe(3);
    const shadow = await setShadow({ folder: path.join(scene.folder, 'shadow'), head, objectFormat: 'sha1' });
    const borrowed = [path.join(scene.workspace, '.git/objects')];
    const call = { ...through(shadow, scene.workspace), borrowed, args: ['rev-list', '--count', 'HEAD'] };
    expect(await scratchGit().run(call)).toBe('4\n');
  });

  // @conforms git.11
  it('does not make git wait for ever', async () => {
    const files = ['.gitignore', '.gitattributes', 'dir/.gitignore', '.git/objects/pack/pack-1.idx', '$commit'];
    for (const pipe of files) {
      const scene = lookScene(`${oneCommit}; commit=$(git rev-parse HEAD | sed 's#^..#.git/objects/&/#')
        rm -f ${pipe}; mkfifo ${pipe}; touch .git/objects/pack/pack-1.pack`);
      const { workspace, places } = scene;
      const facts = await examineWorkspace(workspace, { git: scratchGit(), places, checkout: null, timeoutMs: 300 });
      expect(facts?.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    }
  });

  // @conforms git.12
  it('does not make git expand a tree of ten thousand million files', async () => {
    const scene = lookScene(`${oneCommit}; kind=blob; id=$(git rev-parse HEAD:file); mode=100644
      for level in $(seq 10); do
        id=$(for n in 0 1 2 3 4 5 6 7 8 9; do printf "$mode $kind $id\\t$n\\n"; done | git mktree); kind=tree; mode=040000
      done
      git update-ref HEAD $(git commit-tree -m bomb $id)`);
    const { git, calls } = watchedGit();
    const { workspace, places } = scene;
    const facts = await examineWorkspace(workspace, { git, places, checkout: null, timeoutMs: 1000 });
    expect(facts).toMatchObject({ git: null });
    expect(calls.map(({ args }) => args[0])).toEqual(['ls-tree']);
    const { git: saving, calls: saved } = watchedGit();
    await expect(salvageWith(saving, places).save(requestFor(workspace))).rejects.toMatchObject({
      code: 'salvage_failed',
    });
    expect(saved.map(({ args }) => args[0])).not.toContain('read-tree');
  });

  it('does not lead an examination into files behind links', async () => {
    const scene = lookScene(oneCommit);
    mkdirSync(path.join(scene.folder, 'out'));
    shell('echo secret > other; echo secret > file', path.join(scene.folder, 'out'));
    scene.agent('rm -r dir file; ln -s ../out dir; ln -s ../out/file file');
    const before = await scene.look();
    expect(before?.git).toMatchObject({ changed: 2, untracked: 1 });
    shell('echo other > other; echo other > file', path.join(scene.folder, 'out'));
    expect((await scene.look())?.fingerprint).toBe(before?.fingerprint);
  });

  it('leaves the repository that it points to unchanged', async () => {
    const scene = lookScene(`${person}; echo "gitdir: $PWD/../person/.git" > .git`);
    const all = () => shell('find person -printf "%p %s %T@ %m\\n" | sort', scene.folder);
    const before = all();
    await scene.look();
    await unlockGitDirectory(path.join(scene.workspace, '.git'));
    expect(all()).toBe(before);
    expect(existsSync(path.join(scene.folder, 'person/.git/index.lock'))).toBe(false);
  });
});

/** Writes a commit graph that says that the first commit has the second one as its parent. */
function forgeGraph(file: string, child: string, parent: string): void {
  chmodSync(file, 0o644);
  const bytes = readFileSync(file);
  const chunk = (name: string): number => {
    const row = bytes.indexOf(name, 8, 'latin1');
    return Number(bytes.readBigUInt64BE(row + 4));
  };
  const position = (id: string): number => (bytes.indexOf(id, chunk('OIDL'), 'hex') - chunk('OIDL')) / 20;
  bytes.writeUInt32BE(position(parent), chunk('CDAT') + position(child) * 36 + 20);
  writeFileSync(file, bytes);
}
