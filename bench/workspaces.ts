import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { sleep } from '../src/clock/clock.ts';
import { systemChance } from '../src/clock/system-chance.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import type { Issue } from '../src/core/issue/issue.ts';
import type { WorkspaceSettings } from '../src/core/settings.ts';
import { quietLogger } from '../src/daemon/quiet-logger.ts';
import { runToEnd } from '../src/process/run-to-end.ts';
import { createLocalWorkspaces } from '../src/workspace/local-workspaces.ts';
import type { Removal, Workspaces, WorkspaceVisit } from '../src/workspace/workspace.ts';
import { createWorkspaceResources } from '../src/workspace/workspace-resources.ts';
import { percentile } from './measure.ts';
import { type Figure, ratioOf } from './report.ts';
import { Scratch } from './scratch.ts';

const files = 2_000;
const changedFiles = 1_000;
const fileBytes = 5_000;
const rounds = 5;
const atOnce = 10;
/** The shortest realistic run. */
const runMs = 3_000;

/**
 * The time of workspace operations, compared with the git commands that a person would type: a new worktree with its base
 * fetched, saving a thousand changed files, removing a workspace, and ten of each at once. The same process runs both, in
 * turns.
 */
export async function benchWorkspaces(): Promise<readonly Figure[]> {
  using scratch = new Scratch();
  const source = path.join(scratch.folder, 'source');
  await makeSource(source);
  const baton = batonSide(scratch.folder, source);
  const bare = await bareSide(scratch.folder, source);
  // The first of each creates its cache.
  await baton.make('warm');
  await bare.make('warm');

  const times = new Map<string, number[]>();
  const timed = async (what: string, act: () => Promise<unknown>): Promise<void> => {
    // So that no operation pays for earlier writes.
    await run(scratch.folder, 'sync');
    const began = performance.now();
    await act();
    times.set(what, [...(times.get(what) ?? []), performance.now() - began]);
  };
  for (let round = 0; round < rounds; round += 1) {
    const sides = [
      ['baton', baton],
      ['bare', bare],
    ] as const;
    for (const [name, side] of round % 2 === 0 ? sides : sides.toReversed()) {
      const [clean, dirty] = [`${name}-clean-${round}`, `${name}-dirty-${round}`];
      await timed(`${name} make`, () => side.make(clean));
      await side.make(dirty);
      await sleep(systemClock, runMs);
      change(side.folder(dirty));
      await side.look([clean, dirty]);
      await timed(`${name} remove`, () => side.remove(clean));
      await timed(`${name} save`, () => side.saveAndRemove(dirty));
    }
  }
  for (const [name, side] of [
    ['baton', baton],
    ['bare', bare],
  ] as const) {
    const names = Array.from({ length: atOnce }, (_, at) => `${name}-many-${at}`);
    await timed(`${name} make many`, () => side.makeMany(names));
    await sleep(systemClock, runMs);
    await side.look(names);
    await timed(`${name} remove many`, () => Promise.all(names.map((each) => side.remove(each))));
  }
  const seen = (what: string): number => percentile(times.get(what) ?? [], 0.5);
  const figure = (what: string, act: string, bareWords: string): Figure => ({
    what,
    seen: `${seen(`baton ${act}`).toFixed(0)} ms`,
    aim: '1.20 times',
    ratio: ratioOf(seen(`baton ${act}`), seen(`bare ${act}`), `${bareWords} (${seen(`bare ${act}`).toFixed(0)} ms)`),
  });
  const size = `${files.toLocaleString('en')} files`;
  const worktree = '`git fetch` and `git worktree add`';
  return [
    figure(`a new worktree of ${size}, its base fetched`, 'make', worktree),
    figure(
      `saving ${changedFiles.toLocaleString('en')} changed files of ${size}, read back, and removing the workspace`,
      'save',
      '`git add`, `git commit`, `git push` and `git worktree remove`',
    ),
    figure(`removing a workspace of ${size} without work in it`, 'remove', '`git worktree remove`'),
    figure(
      `${atOnce} new worktrees at once`,
      'make many',
      'one fetch and as many `git worktree add` in turn, because concurrent ones fail',
    ),
    figure(`${atOnce} removals at once`, 'remove many', '`git worktree remove`, as many at once'),
  ];
}

interface Side {
  folder(name: string): string;
  /** The check that the runner makes after every run. */
  look(names: readonly string[]): Promise<unknown>;
  make(name: string): Promise<unknown>;
  makeMany(names: readonly string[]): Promise<unknown>;
  remove(name: string): Promise<unknown>;
  saveAndRemove(name: string): Promise<unknown>;
}

function batonSide(scratch: string, source: string): Side {
  const root = path.join(scratch, 'workspaces');
  const workspaces = localWorkspaces(scratch, source, root);
  const make = async (name: string): Promise<void> => void (await workspaces.prepare(visitOf(name)));
  const remove = async (name: string, saved: number): Promise<void> => {
    const place = { path: path.join(root, name), identifier: name };
    const removal: Removal = await workspaces.remove(place, visitOf(name));
    const isRight = removal.outcome === 'removed' && removal.saved.length === saved;
    if (!isRight) throw new Error(`${name} was to be removed with ${saved} saved: ${JSON.stringify(removal)}`);
  };
  return {
    folder: (name) => path.join(root, name),
    look: (names) => Promise.all(names.map((name) => workspaces.examine(path.join(root, name)))),
    make,
    makeMany: (names) => Promise.all(names.map(make)),
    remove: (name) => remove(name, 0),
    saveAndRemove: (name) => remove(name, 1),
  };
}

function localWorkspaces(scratch: string, source: string, root: string): Workspaces {
  const parts = {
    clock: systemClock,
    containment: 'marker_sweep',
    daemonId: systemChance.id(),
    daemonEnv: { PATH: process.env.PATH, HOME: scratch },
  } as const;
  const settings: WorkspaceSettings = {
    root,
    strategy: 'worktree',
    base: null,
    branch: '{{ issue.identifier }}',
    copy: [],
    copyFrom: source,
    setup: null,
    archive: false,
    retentionMs: 0,
    retentionMsByState: {},
    salvageRetentionDays: 0,
    branchRetentionDays: 0,
    cacheRetentionDays: 30,
    minFreeDiskMb: 0,
    repo: { location: source, shown: source, isLocal: true },
  };
  return createLocalWorkspaces({
    ...parts,
    settings,
    hooks: { afterCreate: null, beforeRun: null, afterRun: null, beforeRemove: null, timeoutMs: 60_000 },
    secretEnvironment: [],
    resources: createWorkspaceResources({ ...parts, stateDir: path.join(scratch, 'state') }),
    restoreCommand: (name) => name,
    logger: quietLogger,
    project: 'bench',
  });
}

async function bareSide(scratch: string, source: string): Promise<Side> {
  const cache = path.join(scratch, 'bare-cache.git');
  const folder = (name: string): string => path.join(scratch, 'bare', name);
  await git(scratch, 'clone', '-q', '--bare', source, cache);
  const fetchBase = (): Promise<void> => git(cache, 'fetch', '-q', source, '+refs/heads/main:refs/remotes/origin/main');
  const add = (name: string): Promise<void> =>
    git(cache, 'worktree', 'add', '-q', '-b', `baton/${name}`, folder(name), 'refs/remotes/origin/main');
  return {
    folder,
    look: async () => {},
    make: async (name) => {
      await fetchBase();
      await add(name);
    },
    makeMany: async (names) => {
      await fetchBase();
      // One after another: at once on one repository, git 2.39 fails with "failed to read worktrees/…/commondir".
      for (const name of names) await add(name);
    },
    remove: (name) => git(cache, 'worktree', 'remove', folder(name)),
    saveAndRemove: async (name) => {
      await git(folder(name), 'add', '-A');
      await git(folder(name), 'commit', '-q', '-m', 'saved');
      await git(folder(name), 'push', '-q', source, `HEAD:refs/saved/${name}`);
      await git(cache, 'worktree', 'remove', folder(name));
    },
  };
}

async function makeSource(source: string): Promise<void> {
  mkdirSync(source, { recursive: true });
  await git(source, 'init', '-q', '-b', 'main');
  // The same every time, and about as compressible as code.
  let seed = 1;
  const word = (): string => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed.toString(36);
  };
  for (let at = 0; at < files; at += 1) {
    const file = fileOf(source, at);
    mkdirSync(path.dirname(file), { recursive: true });
    let text = '';
    while (text.length < fileBytes) text += `${word()} ${word()}\n`;
    writeFileSync(file, text);
  }
  await git(source, 'add', '-A');
  await git(source, 'commit', '-q', '-m', 'all of it');
}

function change(folder: string): void {
  for (let at = 0; at < changedFiles; at += 1) appendFileSync(fileOf(folder, at), `changed in ${folder}\n`);
}

function fileOf(folder: string, at: number): string {
  return path.join(folder, `d${at % 40}`, `f${at}`);
}

/** Runs git as a person would, with an identity for commits. */
function git(cwd: string, ...args: readonly string[]): Promise<void> {
  return run(cwd, 'git', ...args);
}

async function run(cwd: string, command: string, ...args: readonly string[]): Promise<void> {
  const who = { GIT_AUTHOR_NAME: 'Bench', GIT_AUTHOR_EMAIL: 'bench@example.invalid' };
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: os.tmpdir(),
    ...who,
    GIT_COMMITTER_NAME: who.GIT_AUTHOR_NAME,
    GIT_COMMITTER_EMAIL: who.GIT_AUTHOR_EMAIL,
  };
  const request = { command, args, cwd, env, runId: 'bench', timeoutMs: 120_000 };
  const deps = { clock: systemClock, containment: 'group_only', daemonId: 'bench' } as const;
  const { code, stderr } = await runToEnd(request, deps);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}

function visitOf(name: string): WorkspaceVisit {
  const issue: Issue = {
    id: name,
    identifier: name,
    title: name,
    description: null,
    state: 'Todo',
    priority: null,
    url: null,
    labels: [],
    blockedBy: [],
    branchName: null,
    createdAt: null,
    updatedAt: null,
    assigneeId: null,
    dispatchable: true,
    nativeRef: null,
  };
  return { issue, runId: systemChance.id(), attempt: null, branch: `baton/${name}` };
}
