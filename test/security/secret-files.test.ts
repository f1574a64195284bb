import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { commandBackend } from '../../src/agent/command/command-backend.ts';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { Settings } from '../../src/core/settings.ts';
import { Secret } from '../../src/core/text/secret.ts';
import { runToEnd } from '../../src/process/run-to-end.ts';
import { settings } from '../fake/settings.ts';
import { isolatedAs } from './isolated-as.ts';
import { describeIsolated } from './machine.ts';

const usual = settings();

/** A Baton whose secrets and store are in files outside of its state folder and of any home, next to files for agents. */
async function scene(isolationRead: readonly string[] = []) {
  // Not below /tmp, which every isolated program has for itself.
  const around = path.join(import.meta.dirname, '../../node_modules/.cache');
  mkdirSync(around, { recursive: true });
  const base = realpathSync(mkdtempSync(path.join(around, 'baton-secrets-')));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const at = (name: string): string => path.join(base, name);
  for (const folder of ['etc/linked', 'etc/credentials', 'project', 'workspaces/own'])
    mkdirSync(at(folder), { recursive: true });
  const files = [
    'etc/key',
    'etc/token',
    'etc/linked/real',
    'etc/for-agents',
    'etc/certificate',
    'etc/credentials/NOTIFY_URL',
  ];
  for (const file of [...files, 'project/key', 'project/baton.db', 'project/baton.db-wal', 'project/README'])
    writeFileSync(at(file), `${file}\n`);
  symlinkSync('linked/real', at('etc/link'));
  const daemonEnv = {
    PATH: process.env.PATH,
    HOME: at('user-home'),
    LINEAR_KEY_FILE: at('etc/key'),
    HOOK_ADDRESS_FILE: at('etc/link'),
    OTHER_PROJECT_TOKEN_FILE: at('etc/token'),
    IN_PROJECT_KEY_FILE: at('project/key'),
    MODEL_KEY_FILE: at('etc/for-agents'),
    SSL_CERT_FILE: at('etc/certificate'),
    FROM_PIPE_KEY_FILE: '/proc/self/fd/9',
    CREDENTIALS_DIRECTORY: at('etc/credentials'),
  };
  const changes: Partial<Settings> = {
    secretEnvironment: ['HOOK_ADDRESS'],
    agent: { ...usual.agent, env: ['MODEL_*'], isolationRead: isolationRead.map(at) },
    store: { ...usual.store, url: new Secret(`sqlite:${at('project/baton.db')}`) },
  };
  const parts = { clock: systemClock, daemonId: systemChance.id(), daemonEnv };
  const isolate = await isolatedAs(commandBackend, base, parts, changes);
  const cwd = at('workspaces/own');
  return runToEnd(
    {
      ...{
        command: '/bin/sh',
        args: ['-c', 'find "$0/etc" "$0/project" -type f | xargs cat', base],
        cwd,
        timeoutMs: 60_000,
      },
      env: { PATH: process.env.PATH ?? '' },
      runId: systemChance.id(),
      isolation: await isolate({ workspace: cwd, writes: [], reads: [] }),
    },
    { ...parts, containment: 'user_pid_namespace' },
  );
}

describeIsolated('an isolated agent', { timeout: 120_000 }, () => {
  it.each([[], ['etc', 'project']])(
    'sees no file with a secret of Baton, and no store, wherever they are (shown: %j)',
    async (...shown) => {
      const { stdout } = await scene(shown);
      expect(
        stdout
          .split('\n')
          .filter((line) => line !== '')
          .toSorted(),
      ).toEqual(['etc/certificate', 'etc/for-agents', 'project/README']);
    },
  );

  it.each(['etc/key', 'etc/credentials/NOTIFY_URL', 'project/baton.db'])(
    'gets no setting that shows %s',
    async (file) => {
      await expect(scene([file])).rejects.toMatchObject({
        code: 'isolation_failed',
        details: { reason: 'state_folder' },
      });
    },
  );
});
