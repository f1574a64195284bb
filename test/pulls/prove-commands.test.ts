import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { createRedactor } from '../../src/core/text/redact.ts';
import type { CleanRunParts, WantedCommand } from '../../src/pulls/checks/clean-run.ts';
import { proveCommands } from '../../src/pulls/checks/prove-commands.ts';
import { gitPlaces } from '../../src/workspace/git/git-places.ts';
import { pidsOfDaemon } from '../process/real-children.ts';
import { branch, pullScene } from './pull-scene.ts';

const command = (name: string, run: string, timeoutMs = 60_000): WantedCommand => ({ name, run, timeoutMs });

function stage() {
  const ground = pullScene();
  const { folder, source } = ground;
  const commit = ground.push(branch, { 'run.sh': 'echo from the commit\n' });
  const stop = new AbortController();
  const places = gitPlaces(path.join(folder, 'state'));
  const parts: CleanRunParts = {
    ...{ clock: systemClock, containment: 'marker_sweep', daemonId: systemChance.id() },
    daemonEnv: { PATH: process.env.PATH, HOME: folder, TRACKER_KEY: 'secret' },
    secretEnvironment: ['TRACKER_KEY'],
    redactor: createRedactor(['planted-secret-of-the-settings']),
    repo: { location: source, shown: source, isLocal: true },
    ...{ git: ground.git, places, signal: stop.signal },
  };
  const about = { issue: { id: 'setup:1', identifier: 'setup:1', title: 'Setup' }, commit, baseCommit: commit };
  const prove = (setup: WantedCommand | null, ...checks: WantedCommand[]) =>
    proveCommands(parts, about, { setup, checks });
  return { prove, stop, places, parts };
}

describe('the proof of commands', () => {
  it('runs the setup and then each check in one clean checkout of the commit, without secrets', async () => {
    const { prove, places } = stage();
    const proven = await prove(
      command('workspace.setup', 'touch made; test ! -e other'),
      command(
        'test',
        'test -e made && sh run.sh && echo "key:$TRACKER_KEY planted-secret-of-the-settings"; touch other',
      ),
      command('lint', 'echo broken >&2; exit 3'),
    );
    expect(proven.map(({ name, proof: { result, exitCode } }) => [name, result, exitCode])).toEqual([
      ['workspace.setup', 'passed', 0],
      ['test', 'passed', 0],
      ['lint', 'failed', 3],
    ]);
    expect(proven[1]?.proof.output).toBe('from the commit\nkey: [secret]');
    expect(proven[2]?.proof.output).toBe('broken');
    expect(readdirSync(places.scratch)).toEqual([]);
  });

  it('ends a command at its time limit, with everything it started', async () => {
    const { prove, parts } = stage();
    const [slow] = await prove(null, command('test', 'sleep 600 & sleep 600', 300));
    expect(slow?.proof).toMatchObject({ result: 'timed_out' });
    expect(await pidsOfDaemon(parts.daemonId)).toEqual([]);
  });

  it('proves no check after a setup that did not pass', async () => {
    const { prove } = stage();
    const proven = await prove(command('workspace.setup', 'exit 1'), command('test', 'true'));
    expect(proven.map(({ proof }) => proof.result)).toEqual(['failed', 'skipped']);
  });

  it('rejects when it is stopped, and leaves nothing', async () => {
    const { prove, stop, places, parts } = stage();
    const proving = prove(null, command('test', 'sleep 600'));
    stop.abort();
    await expect(proving).rejects.toBeDefined();
    expect([readdirSync(places.scratch), await pidsOfDaemon(parts.daemonId)]).toEqual([[], []]);
  });
});
