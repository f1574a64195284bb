// @module-tag full
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { sleep } from '../../../src/clock/clock.ts';
import { systemChance } from '../../../src/clock/system-chance.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { sweepDaemon } from '../../../src/process/containment/sweep.ts';
import type { Git } from '../../../src/workspace/git/git.ts';
import { rejection, scratchFolder } from '../scratch-folder.ts';
import { commit, git, scratchCheckouts, scratchRepository } from './scratch-repository.ts';

const strategies = ['worktree', 'clone'] as const;

/** What the next daemon does with a workspace whose marker says that it was being created. */
function emptied(workspace: string): void {
  rmSync(workspace, { recursive: true, force: true });
  mkdirSync(workspace, { recursive: true });
}

describe.each(strategies)('a daemon that is killed while it creates a %s', (strategy) => {
  // @conforms git.4
  it('leaves nothing that the next one cannot finish, whenever it is killed', { timeout: 120_000 }, async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const files = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`f/${index}.txt`, `${index}\n`]));
    commit(source, files);
    writeFileSync(path.join(source, '.env'), 'A=1');
    const daemonId = systemChance.id();
    let killedOnes = 0;
    for (const [round, isThere] of moments.entries()) {
      commit(source, { 'round.txt': `${round}\n` });
      const name = `T-${round}`;
      const child = daemonThatMakes(daemonId, folder, source, name, strategy);
      if (await killed(child, () => isThere(folder, name))) killedOnes += 1;
      // Like every daemon at its start, because calls of git outlive a daemon.
      await sweepDaemon(daemonId, { clock: systemClock }, { graceMs: 0 });
      const { checkouts, workspace } = scratchCheckouts(folder, source, { strategy, copy: ['.env'] });
      const place = workspace(name);
      emptied(place);
      await checkouts.make({ workspace: place, branch: `baton/${name}` });
      expect(git(place, 'status', '--porcelain')).toBe('');
      expect(git(place, 'rev-parse', 'HEAD')).toBe(git(source, 'rev-parse', 'main'));
      expect(readFileSync(path.join(place, '.env'), 'utf8')).toBe('A=1');
      expect(git(place, 'fsck', '--connectivity-only', '--no-dangling')).toBe('');
      commit(place, { 'work.txt': `${round}\n` });
      expect(await checkouts.publish(place)).toMatchObject({ outcome: 'published' });
    }
    expect(killedOnes).toBeGreaterThan(2);
  });

  it('leaves nothing that the next one cannot finish, whichever call of git was its last', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    git(source, 'checkout', '-q', '-b', 'baton/x');
    commit(source, { 'theirs.txt': 'x\n' });
    git(source, 'checkout', '-q', 'main');
    writeFileSync(path.join(source, '.env'), 'A=1');
    mkdirSync(path.join(source, 'cfg'));
    writeFileSync(path.join(source, 'cfg', 'a.json'), '{}');
    for (let last = 0; last < 8; last += 1) {
      commit(source, { 'round.txt': `${last}\n` });
      const copy = ['.env', 'cfg'];
      const broken = scratchCheckouts(folder, source, { strategy, copy, git: (real) => breaksAfter(real, last) });
      const place = broken.workspace(`T-${last}`);
      const broke = await broken.checkouts.make({ workspace: place, branch: 'baton/x' }).then(
        () => false,
        () => true,
      );
      const { checkouts } = scratchCheckouts(folder, source, { strategy, copy });
      expect((await checkouts.find(place)) === null).toBe(broke);
      if (!broke) continue;
      emptied(place);
      const made = await checkouts.make({ workspace: place, branch: 'baton/x' });
      expect(git(place, 'status', '--porcelain')).toBe('');
      expect(git(place, 'rev-parse', 'HEAD')).toBe(git(source, 'rev-parse', 'baton/x'));
      expect(await checkouts.find(place)).toEqual(made);
    }
  });
});

describe('a daemon that is killed while it publishes', () => {
  it('has either moved the branch or not, and the next one does the rest', async () => {
    for (let last = 0; last < 8; last += 1) {
      const folder = scratchFolder();
      const source = scratchRepository(path.join(folder, 'source'));
      const { checkouts, workspace, places } = scratchCheckouts(folder, source);
      const place = workspace('T-1');
      await checkouts.make({ workspace: place, branch: 'baton/x' });
      const work = commit(place, { 'work.txt': 'x\n' });
      const broken = scratchCheckouts(folder, source, { git: (real) => breaksAfter(real, last) });
      await broken.checkouts.publish(place).catch(() => {});
      const delivery = await checkouts.publish(place);
      expect(['published', 'nothing']).toContain(delivery?.outcome);
      expect(git(source, 'rev-parse', 'baton/x')).toBe(work);
      expect((await checkouts.find(place))?.published).toBe(work);
      expect(readdirSync(places.scratch)).toEqual([]);
    }
  });
});

describe('a record', () => {
  it('that was not finished does not count, and the checkout is created again', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const { checkouts, workspace } = scratchCheckouts(folder, source);
    const place = workspace('T-1');
    const made = await checkouts.make({ workspace: place, branch: 'b' });
    const record = path.join(path.dirname(made.shadow), 'checkout.json');
    writeFileSync(`${record}+making`, readFileSync(record, 'utf8').slice(0, 20));
    rmSync(record);
    writeFileSync(path.join(made.gitDir, 'index.lock'), '');
    expect(await checkouts.find(place)).toBeNull();
    emptied(place);
    await checkouts.make({ workspace: place, branch: 'b' });
    expect(git(place, 'status', '--porcelain')).toBe('');
    expect(existsSync(`${record}+making`)).toBe(false);
  });

  it('that calls the shadow git directory lens is read', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const { checkouts, workspace } = scratchCheckouts(folder, source);
    const place = workspace('T-1');
    const made = await checkouts.make({ workspace: place, branch: 'b' });
    const record = path.join(path.dirname(made.shadow), 'checkout.json');
    writeFileSync(record, readFileSync(record, 'utf8').replace('"shadow":', '"lens":'));
    expect(await checkouts.find(place)).toEqual(made);
  });

  it('that cannot be read does not lead to the loss of the git directory next to it', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const { checkouts, workspace, logger } = scratchCheckouts(folder, source);
    const place = workspace('T-1');
    const made = await checkouts.make({ workspace: place, branch: 'b' });
    const work = commit(place, { 'work.txt': 'x\n' });
    writeFileSync(path.join(path.dirname(made.shadow), 'checkout.json'), '{"version": 1');
    expect((await rejection(checkouts.find(place))).code).toBe('workspace_unavailable');
    emptied(place);
    await checkouts.make({ workspace: place, branch: 'b' });
    const kept = String(logger.lines.find(({ fields }) => fields.kept !== undefined)?.fields.kept);
    expect(git(folder, '--git-dir', path.join(kept, 'git'), 'cat-file', '-t', work)).toBe('commit');
  });
});

const helpers = pathToFileURL(path.join(import.meta.dirname, 'scratch-repository.ts')).href;

/** A short-lived daemon that creates one workspace in its own process. */
function daemonThatMakes(...given: string[]): ChildProcess {
  const program = `
    import { scratchCheckouts } from ${JSON.stringify(helpers)};
    const [daemonId, folder, source, name, strategy] = process.argv.slice(1);
    const { checkouts, workspace } = scratchCheckouts(folder, source, { daemonId, strategy, copy: ['.env'] });
    await checkouts.make({ workspace: workspace(name), branch: 'baton/' + name });`;
  const args = ['--input-type=module', '--eval', program, ...given];
  return spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Points during the creation of a workspace, recognized by existing files. */
const moments: readonly ((folder: string, name: string) => boolean)[] = [
  (folder) => anyName(path.join(folder, 'state/git/caches'), '+making'),
  (folder) =>
    anyName(path.join(folder, 'state/git/caches'), '.lock') || anyName(path.join(folder, 'state'), 'tmp_pack'),
  (folder, name) => anyName(path.join(folder, 'state/git/checkouts'), name),
  (folder, name) => anyName(path.join(folder, 'workspaces', name), 'f'),
  (folder, name) => anyName(path.join(folder, 'workspaces', name), '399'),
  (folder, name) => anyName(path.join(folder, 'workspaces', name), '.env'),
];

function anyName(folder: string, part: string): boolean {
  return existsSync(folder) && readdirSync(folder, { recursive: true }).some((name) => name.includes(part));
}

/** Kills the daemon at that point. False when it was finished first. */
async function killed(child: ChildProcess, isMoment: () => boolean): Promise<boolean> {
  const exited = once(child, 'exit');
  while (child.exitCode === null && !happened(isMoment)) await sleep(systemClock, 1);
  if (child.exitCode === null) child.kill('SIGKILL');
  await exited;
  return child.signalCode === 'SIGKILL';
}

/** A folder may disappear while it is read. */
function happened(isMoment: () => boolean): boolean {
  try {
    return isMoment();
  } catch {
    return false;
  }
}

/** A git that answers this many calls and no more. The last call has done its work, as if the daemon died then. */
function breaksAfter(real: Git, calls: number): Git {
  let left = calls;
  const counted = async <T>(work: Promise<T>): Promise<T> => {
    left -= 1;
    const died = left < 0;
    const result = await work;
    if (died) throw new Error('the daemon is dead');
    return result;
  };
  return { run: (call) => counted(real.run(call)), ask: (call) => counted(real.ask(call)) };
}
