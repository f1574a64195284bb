import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { type StateFolder, takeStateFolder } from '../../src/daemon/daemon-identity.ts';
import { launch } from '../../src/process/launch.ts';
import { anyCharacter } from '../any-character.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { runs } from '../property-runs.ts';

function scratch(): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-identity-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const logger = memoryLogger();

function take(stateDir: string, hostName = 'here', log = logger): StateFolder {
  const taken = takeStateFolder(stateDir, { hostName, chance: systemChance, logger: log });
  onTestFinished(() => taken.release());
  return taken;
}

/** One life of a daemon: takes the folder and lets go of it again. */
function live(stateDir: string, hostName = 'here', log = logger): { ownerId: string; markerId: string } {
  const { ownerId, markerId, release } = take(stateDir, hostName, log);
  release();
  return { ownerId, markerId };
}

describe('the identity of a daemon', () => {
  it('stays the same across restarts, in a folder that only its user can read', () => {
    const stateDir = path.join(scratch(), 'some', 'state');
    const first = live(stateDir);
    expect(first.ownerId).toMatch(/^[A-Za-z0-9-]{8,64}$/);
    expect(first.markerId).toMatch(/^[0-9a-f]{24}$/);
    expect(live(stateDir)).toEqual(first);
    expect(statSync(stateDir).mode & 0o777).toBe(0o700);
    expect(statSync(path.join(stateDir, 'daemon-id')).mode & 0o777).toBe(0o600);
    expect(readdirSync(stateDir).toSorted()).toEqual(['daemon-id', 'daemon.lock', 'git']);
  });

  // @conforms claims.27
  it('has the same marker and another owner after the folder was lost', () => {
    const stateDir = path.join(scratch(), 'state');
    const first = live(stateDir);
    rmSync(stateDir, { recursive: true });
    const second = live(stateDir);
    expect(second.markerId).toBe(first.markerId);
    expect(second.ownerId).not.toBe(first.ownerId);
  });

  it('does not depend on how the path is written', () => {
    const folder = scratch();
    const stateDir = path.join(folder, 'state');
    const first = live(stateDir);
    symlinkSync(folder, path.join(folder, 'link'));
    expect(live(path.join(folder, 'link', 'state'))).toEqual(first);
    expect(live(`${stateDir}/../state/`)).toEqual(first);
  });

  it('differs on another machine and in another folder, including a copy of the folder', () => {
    const folder = scratch();
    const stateDir = path.join(folder, 'state');
    const first = live(stateDir);
    cpSync(stateDir, path.join(folder, 'copy'), { recursive: true });
    const log = memoryLogger();
    const others = [live(path.join(folder, 'copy'), 'here', log), live(stateDir, 'there', log)];
    expect(new Set([first, ...others].map(({ markerId }) => markerId)).size).toBe(3);
    expect(new Set([first, ...others].map(({ ownerId }) => ownerId)).size).toBe(3);
    expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'warn']);
  });

  // @conforms claims.28
  it('is replaced with a warning when its file is torn or foreign', () => {
    const stateDir = path.join(scratch(), 'state');
    const file = path.join(stateDir, 'daemon-id');
    live(stateDir);
    const whole = readFileSync(file, 'utf8');
    const torn = fc.integer({ min: 0, max: whole.length - 1 }).map((length) => whole.slice(0, length));
    const foreign = fc.oneof(
      fc.string(),
      fc.string({ unit: anyCharacter, maxLength: 300 }),
      fc.constant('x'.repeat(1e6)),
    );
    const used = new Set<string>();
    fc.assert(
      fc.property(fc.oneof(torn, foreign), (content) => {
        writeFileSync(file, content);
        const log = memoryLogger();
        const { ownerId } = live(stateDir, 'here', log);
        expect(log.lines).toMatchObject([{ level: 'warn', fields: { file } }]);
        expect(used.has(ownerId)).toBe(false);
        used.add(ownerId);
        expect(live(stateDir, 'here', log).ownerId).toBe(ownerId);
        expect(log.lines).toHaveLength(1);
      }),
      { numRuns: runs(30) },
    );
  });

  it('is not read through a link, and leaves the target of the link unchanged', () => {
    const folder = scratch();
    const stateDir = path.join(folder, 'state');
    const first = live(stateDir);
    const elsewhere = path.join(folder, 'elsewhere');
    const whole = readFileSync(path.join(stateDir, 'daemon-id'), 'utf8');
    writeFileSync(elsewhere, whole);
    rmSync(path.join(stateDir, 'daemon-id'));
    symlinkSync(elsewhere, path.join(stateDir, 'daemon-id'));
    expect(live(stateDir).ownerId).not.toBe(first.ownerId);
    expect(readFileSync(elsewhere, 'utf8')).toBe(whole);
  });

  it('survives the draft of a daemon that was killed while writing', () => {
    const stateDir = path.join(scratch(), 'state');
    const first = live(stateDir);
    writeFileSync(path.join(stateDir, 'daemon-id.new'), 'half');
    expect(live(stateDir)).toEqual(first);
    rmSync(path.join(stateDir, 'daemon-id'));
    const second = live(stateDir);
    expect(second.ownerId).not.toBe(first.ownerId);
    expect(existsSync(path.join(stateDir, 'daemon-id.new'))).toBe(false);
  });
});

describe('a state folder', () => {
  it('admits one daemon: a second is refused with the name of the first, and gets the folder after its release', () => {
    const stateDir = path.join(scratch(), 'state');
    const first = take(stateDir, 'here');
    expect(() => take(stateDir)).toThrow(
      expect.objectContaining({
        code: 'store_in_use',
        nextStep: expect.stringContaining('--state-dir'),
        details: expect.objectContaining({ pid: process.pid, folder: stateDir }),
      }),
    );
    first.release();
    first.release();
    expect(take(stateDir).ownerId).toBe(first.ownerId);
  });

  it('is free at once when its daemon is killed', async () => {
    const stateDir = path.join(scratch(), 'state');
    const other = await startOther(stateDir);
    const { value } = await other.lines.next();
    expect(() => take(stateDir)).toThrow(
      expect.objectContaining({ code: 'store_in_use', details: expect.objectContaining({ pid: other.pid }) }),
    );
    process.kill(other.pid, 'SIGKILL');
    await other.exited;
    expect(take(stateDir).ownerId).toBe(value?.text);
    await other.stop();
  });

  // @conforms claims.26
  it('goes to exactly one of several daemons that start at the same time without a folder', async () => {
    const stateDir = path.join(scratch(), 'state');
    const others = await Promise.all([1, 2, 3, 4].map(() => startOther(stateDir)));
    const said = await Promise.all(others.map(async (other) => (await other.lines.next()).value?.text));
    expect(said.filter((text) => text === 'store_in_use')).toHaveLength(3);
    const winner = said.find((text) => text !== 'store_in_use');
    await Promise.all(others.map((other) => other.stop({ closeStdinMs: 20_000 })));
    expect(take(stateDir).ownerId).toBe(winner);
  });

  it('counts as lost once it was deleted, also when another daemon created it again', () => {
    const stateDir = path.join(scratch(), 'state');
    const first = take(stateDir);
    expect(first.isStillOurs()).toBe(true);
    rmSync(stateDir, { recursive: true });
    expect(first.isStillOurs()).toBe(false);
    const second = take(stateDir);
    expect([first.isStillOurs(), second.isStillOurs()]).toEqual([false, true]);
  });

  it('reports an error with its name when it cannot be created or written, and stays unlocked', () => {
    const folder = scratch();
    const file = path.join(folder, 'file');
    writeFileSync(file, '');
    const refused = { code: 'store_not_writable', message: expect.stringContaining(file) };
    expect(() => take(file)).toThrow(expect.objectContaining(refused));
    expect(() => take(path.join(file, 'state'))).toThrow(expect.objectContaining(refused));

    // A folder in the place of the id can be neither read nor replaced.
    const stateDir = path.join(folder, 'state');
    const inTheWay = path.join(stateDir, 'daemon-id');
    mkdirSync(path.join(inTheWay, 'inside'), { recursive: true });
    expect(() => take(stateDir)).toThrow(expect.objectContaining({ code: 'store_not_writable' }));
    expect(readdirSync(stateDir).toSorted()).toEqual(['daemon-id', 'daemon.lock']);
    rmSync(inTheWay, { recursive: true });
    expect(take(stateDir).isStillOurs()).toBe(true);
  });
});

/** Another process that takes the folder, says its owner id or why not, and keeps it until its input ends. */
function startOther(stateDir: string) {
  const file = path.resolve(import.meta.dirname, '../../src/daemon/daemon-identity.ts');
  const script = `
    import { takeStateFolder } from ${JSON.stringify(file)};
    const logger = { warn: () => {} };
    const chance = { id: () => crypto.randomUUID() };
    try {
      const { ownerId } = takeStateFolder(${JSON.stringify(stateDir)}, { hostName: 'here', chance, logger });
      console.log(ownerId);
    } catch (error) {
      console.log(error.code);
    }
    // Nobody keeps what was taken; a lock that ends with its garbage would not hold.
    globalThis.gc();
    process.stdin.resume();`;
  return launch(
    {
      command: process.execPath,
      args: ['--expose-gc', '--no-warnings', '--input-type=module', '--eval', script],
      cwd: '/',
      env: { PATH: process.env.PATH ?? '' },
      runId: systemChance.id(),
      stdin: 'open',
    },
    { clock: systemClock, containment: 'marker_sweep', daemonId: systemChance.id() },
  );
}
