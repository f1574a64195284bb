// @module-tag full
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { patiently } from '../fault/patience.ts';
import { logged, reachable, WorktreeScene } from '../fault/worktree-scene.ts';
import { commit, git } from '../workspace/git/scratch-repository.ts';
import { daemonHere } from './baton-here.ts';
import { answer, runsOf, startDaemon, stateFolderOf, stopDaemon } from './live-daemon.ts';
import { baton, leaveNoPlaces, type RunningBaton } from './run-baton.ts';

leaveNoPlaces();

const worktreeTest = { timeout: 180_000 };

/** What an agent may leave: a commit, a tracked file that is changed, one that is staged, new ones, bytes that are no text. */
const messyWork = [
  'echo committed > src/committed.txt',
  'git add -A',
  'git commit --quiet --message "The first half"',
  'echo edited >> README.md',
  'echo staged > src/a.txt',
  'git add src/a.txt',
  'echo "and then changed" > src/a.txt',
  'mkdir -p "new folder"',
  `printf '\\000\\377\\r\\n\\001' > "new folder/raw.bin"`,
  'echo new > "new folder/ünïcode.txt"',
  'chmod +x "new folder/ünïcode.txt"',
  'touch ../../begun',
  'sleep 600',
].join('\n');

describe.concurrent('an issue with a worktree', worktreeTest, () => {
  // @conforms F078
  it("leaves its commits on its branch, and the person's files, index and HEAD unchanged", async () => {
    using scene = new WorktreeScene();
    const { source } = scene;
    writeFileSync(path.join(source, 'README.md'), 'the person is at work\n');
    writeFileSync(path.join(source, 'src/a.txt'), 'staged by the person\n');
    git(source, 'add', 'src/a.txt');
    writeFileSync(path.join(source, 'untracked.txt'), 'the person has this too\n');
    await scene.file('cat README.md > seen.txt; git add -A; git commit --quiet --message Work');
    const before = personsView(source);
    const daemon = await daemonHere(scene.place);
    await scene.untilAll('review', daemon);
    await daemon.stop();
    expect(personsView(source)).toEqual(before);
    expect(git(source, 'for-each-ref', '--format=%(refname)').split('\n')).toEqual([
      'refs/heads/baton/bat-1',
      'refs/heads/main',
    ]);
    expect(git(source, 'log', '--format=%s', 'main..baton/bat-1')).toBe('Work');
    // The agent saw what was committed, not what the person had on the desk.
    expect(git(source, 'show', 'baton/bat-1:seen.txt')).toBe('hello');
    const [run] = (await answer(scene.place, 'runs', 'list')).runs;
    const shown = await answer(scene.place, 'runs', 'show', String(run.run_id));
    const work = git(source, 'rev-parse', 'baton/bat-1');
    const publication = { outcome: 'published', branch: 'baton/bat-1', commit: work };
    expect(shown.run.workspace_evidence).toMatchObject({ git: { head: work }, publication });
    const { stdout } = await baton(scene.place, 'runs', 'show', 'BAT-1');
    expect(stdout).toMatch(new RegExp(`^branch +baton/bat-1 .* ${work.slice(0, 7)} `, 'm'));
  });

  it('starts at the current base, and continues its branch when it is reopened', async () => {
    using scene = new WorktreeScene();
    const { source, place } = scene;
    const work = 'echo "$BATON_RUN_ID" >> runs.txt; git add -A; git commit --quiet --message "$BATON_RUN_ID"';
    await scene.file(work);
    const daemon = await startDaemon(place);
    await scene.untilAll('review', daemon);
    const moved = commit(source, { 'later.txt': 'the base moves on\n' });
    await scene.file(work);
    await scene.untilAll('review', daemon);
    expect(git(source, 'rev-parse', 'baton/bat-2~1')).toBe(moved);
    const first = git(source, 'rev-parse', 'baton/bat-1');
    expect(git(source, 'merge-base', first, 'main')).not.toBe(moved);

    await scene.closeAndPrune('BAT-1');
    expect(scene.names()).toEqual(['BAT-2']);
    await answer(place, 'issue', 'move', 'BAT-1', 'todo');
    await scene.untilAll('review', daemon);
    await stopDaemon(daemon);
    expect(git(source, 'rev-parse', 'baton/bat-1~1')).toBe(first);
    const runs = (await runsOf(place)).filter((run) => run.issue_identifier === 'BAT-1');
    expect(git(source, 'log', '--reverse', '--format=%s', 'main..baton/bat-1').split('\n')).toEqual(
      runs.map((run) => run.run_id),
    );
    expect(scene.salvaged()).toEqual([]);
  });

  it('has its own branch among ten at once on one repository, and none waits for a lock forever', async () => {
    using scene = new WorktreeScene({ agent: ['max_concurrent_agents: 10'] });
    const { source } = scene;
    const work = 'echo "$BATON_ISSUE_IDENTIFIER" > mine.txt; git add -A; git commit --quiet --message Mine';
    await scene.file(...Array<string>(10).fill(work));
    const daemon = await daemonHere(scene.place);
    await scene.untilAll('review', daemon);
    await daemon.stop();
    for (let number = 1; number <= 10; number += 1) {
      expect(git(source, 'show', `baton/bat-${number}:mine.txt`)).toBe(`BAT-${number}`);
      expect(git(source, 'rev-list', '--count', `main..baton/bat-${number}`)).toBe('1');
    }
    const runs = await runsOf(scene.place);
    expect(runs.map(({ outcome }) => outcome)).toEqual(Array(10).fill('succeeded'));
    expect(daemon.stderr()).not.toMatch(/"level":"(?:warn|error)"/);
    scene.checkFolders();
  });

  // @conforms 4.31
  it('is held when its runs write the same again or only ignored files, and not when they commit', async () => {
    using scene = new WorktreeScene({ agent: ['max_stale_runs: 2', 'max_concurrent_agents: 2', 'max_turns: 1'] });
    commit(scene.source, { '.gitignore': 'out/\n' });
    await scene.fileForEver(
      'cat README.md > copy; mv copy README.md; mkdir -p out; date +%N > out/now; echo run >> out/log',
      'echo "$BATON_RUN_ID" >> runs.txt; git add -A; git commit --quiet --message "$BATON_RUN_ID"',
    );
    const daemon = await daemonHere(scene.place);
    await patiently(() => {
      const ended = scene.query("select run_id from runs where identifier = 'BAT-2' and ended_at is not null");
      expect(ended.length, daemon.stderr()).toBeGreaterThanOrEqual(4);
      expect(scene.query('select reason from held')).toHaveLength(1);
    });
    await daemon.stop();
    expect(scene.query('select identifier from held')).toEqual([{ identifier: 'BAT-1' }]);
    expect(scene.query("select run_id from runs where identifier = 'BAT-1'")).toHaveLength(2);
  });

  it('that a person closes while its agent works has after_run run, its branch published and its files saved', async () => {
    using scene = new WorktreeScene({ hooks: ['after_run: "echo after >> ../../after-run.txt"'] });
    const { place, source } = scene;
    await scene.file(
      'echo half > half.txt; git add -A; git commit --quiet --message Half; echo more > more.txt; touch ../../begun; sleep 600',
    );
    const daemon = await daemonHere(place);
    await untilBegun(scene, daemon);
    await answer(place, 'issue', 'move', 'BAT-1', 'cancelled');
    await scene.untilGone(daemon, 'BAT-1');
    await scene.untilAll('cancelled', daemon);
    await daemon.stop();
    expect(place.read('after-run.txt')).toBe('after\n');
    expect(git(source, 'log', '--format=%s', 'main..baton/bat-1')).toBe('Half');
    const [reference, ...others] = scene.salvaged();
    expect(others).toEqual([]);
    expect(git(source, 'show', `${reference}:more.txt`)).toBe('more');
    expect(await runsOf(place)).toMatchObject([{ outcome: 'canceled_by_reconciliation' }]);
    scene.checkFolders();
  });
});

const strategies = {
  worktree: { workspace: ['repo: project'] },
  clone: { workspace: ['repo: project', 'strategy: clone'] },
  'none, with a clone that a hook makes': {
    workspace: ['strategy: none'],
    hooks: ['after_create: "git clone --quiet ../../project . && git switch --quiet --create mine"'],
  },
};

describe.concurrent('the work of a closed issue', worktreeTest, () => {
  for (const [strategy, options] of Object.entries(strategies)) {
    // @conforms git.26
    it(`of the strategy ${strategy} is restored completely by the command in the log`, async () => {
      using scene = new WorktreeScene(options);
      const { place, source } = scene;
      await scene.file(messyWork);
      const daemon = await daemonHere(place);
      await untilBegun(scene, daemon);
      const workspace = scene.workspace('BAT-1');
      const before = { files: filesIn(workspace), ...gitView(workspace) };
      await answer(place, 'issue', 'move', 'BAT-1', 'done');
      await scene.untilGone(daemon, 'BAT-1');
      const command = await restoreCommandIn(daemon);
      await daemon.stop();
      expect(git(source, 'status', '--porcelain')).toBe('');
      const home = strategy.startsWith('none') ? path.join(stateFolderOf(place), 'git', 'salvage.git') : source;
      expect(scene.salvaged(home)).toHaveLength(1);

      const folder = await restored(command, scene);
      expect({ files: filesIn(folder), ...gitView(folder) }).toEqual(before);
      // What was staged is another thing than the file, and is there as well.
      expect(reachable(folder).split('\n')).toContain('staged');
    });
  }

  it('on a branch that the person has checked out is not changed under them, and is restored from salvage', async () => {
    using scene = new WorktreeScene();
    const { place, source } = scene;
    git(source, 'switch', '--quiet', '--create', 'baton/bat-1');
    await scene.file(messyWork);
    const daemon = await daemonHere(place);
    await untilBegun(scene, daemon);
    const workspace = scene.workspace('BAT-1');
    const before = { files: filesIn(workspace), ...gitView(workspace) };
    const theirs = personsView(source);
    await answer(place, 'issue', 'move', 'BAT-1', 'done');
    await scene.untilGone(daemon, 'BAT-1');
    const command = await restoreCommandIn(daemon);
    await daemon.stop();
    expect(personsView(source)).toEqual(theirs);
    const { run } = await answer(place, 'runs', 'show', 'BAT-1');
    expect(run.workspace_evidence.publication).toMatchObject({
      outcome: 'refused',
      code: 'checked_out',
      branch: 'baton/bat-1',
    });
    const { stdout } = await baton(place, 'runs', 'show', 'BAT-1');
    expect(stdout).toMatch(/^branch +baton\/bat-1 .* \S+$/m);
    const folder = await restored(command, scene);
    expect({ files: filesIn(folder), ...gitView(folder) }).toEqual(before);
  });

  it('that was never in a repository is archived if configured, and restored too', async () => {
    using scene = new WorktreeScene({ workspace: ['strategy: none', 'archive: true'] });
    const { place } = scene;
    await scene.file(
      `mkdir deep; printf '\\000\\377' > deep/raw.bin; echo text > text.txt; touch ../../begun; sleep 600`,
    );
    const daemon = await daemonHere(place);
    await untilBegun(scene, daemon);
    const before = filesIn(scene.workspace('BAT-1'));
    await answer(place, 'issue', 'move', 'BAT-1', 'done');
    await scene.untilGone(daemon, 'BAT-1');
    const command = await restoreCommandIn(daemon);
    await daemon.stop();
    expect(filesIn(await restored(command, scene))).toEqual(before);
  });

  it('of a repository that was moved away is saved in the state folder, and restored from there', async () => {
    using scene = new WorktreeScene();
    const { place, source } = scene;
    await scene.file(messyWork);
    const daemon = await daemonHere(place);
    await untilBegun(scene, daemon);
    const workspace = scene.workspace('BAT-1');
    const before = { files: filesIn(workspace), ...gitView(workspace) };
    renameSync(source, `${source}-moved`);
    await answer(place, 'issue', 'move', 'BAT-1', 'done');
    await scene.untilGone(daemon, 'BAT-1');
    const command = await restoreCommandIn(daemon);
    await daemon.stop();
    expect(git(`${source}-moved`, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    const folder = await restored(command, scene);
    expect({ files: filesIn(folder), ...gitView(folder) }).toEqual(before);
  });
});

async function untilBegun({ place }: WorktreeScene, daemon: Pick<RunningBaton, 'stderr'>): Promise<void> {
  await patiently(() => expect(existsSync(path.join(place.folder, 'begun')), daemon.stderr()).toBe(true));
}

/** The command that the log line of a removal names. */
async function restoreCommandIn(daemon: Pick<RunningBaton, 'stderr'>): Promise<string> {
  let commands: unknown[] = [];
  await patiently(() => {
    const lines = logged(daemon, 'workspace_removed_and_saved');
    expect(lines, daemon.stderr()).toHaveLength(1);
    commands = lines[0]?.restore as unknown[];
  });
  expect(commands).toEqual([expect.any(String)]);
  return String(commands[0]);
}

const bin = fileURLToPath(new URL('../../bin', import.meta.url));

/** Runs it as a person would who pastes it into a shell somewhere; gives the folder that it made there. */
async function restored(command: string, { place }: WorktreeScene): Promise<string> {
  const cwd = path.join(place.folder, 'elsewhere', 'deep');
  mkdirSync(cwd, { recursive: true });
  await promisify(execFile)('sh', ['-c', command], { cwd, env: { ...place.env, PATH: `${bin}:${place.env.PATH}` } });
  const [made, ...others] = readdirSync(cwd);
  expect(others).toEqual([]);
  return path.join(cwd, made ?? '');
}

/** What a person finds in their repository. */
function personsView(source: string): Record<string, unknown> {
  return {
    files: filesIn(source),
    index: readFileSync(path.join(source, '.git/index')).toString('hex'),
    head: git(source, 'rev-parse', 'HEAD'),
    ref: readFileSync(path.join(source, '.git/HEAD'), 'utf8'),
    main: git(source, 'rev-parse', 'main'),
    config: readFileSync(path.join(source, '.git/config'), 'utf8'),
    hooks: readdirSync(path.join(source, '.git/hooks')),
    status: git(source, 'status', '--porcelain'),
  };
}

/** What git says of a workspace, wherever its git directory is. */
function gitView(folder: string): Record<string, string> {
  return {
    head: git(folder, 'rev-parse', 'HEAD'),
    branch: git(folder, 'symbolic-ref', '--short', 'HEAD'),
    log: git(folder, 'log', '--format=%H %s'),
  };
}

/** Every file below a folder outside of `.git`, by a digest of its bytes, with whether it can be run. */
function filesIn(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(folder, file);
    if (!entry.isFile() || name === '.git' || name.startsWith('.git/')) continue;
    found[name] = createHash('sha256').update(readFileSync(file)).digest('hex');
  }
  return found;
}
