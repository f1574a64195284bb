import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import type { Issue } from '../../src/core/issue.ts';
import type { HookSettings } from '../../src/core/settings.ts';
import { createLocalWorkspaces } from '../../src/workspace/local-workspaces.ts';
import type { WorkspaceVisit } from '../../src/workspace/workspace.ts';
import { issue } from '../fake/issues.ts';
import { memoryLogger } from '../fake/memory-logger.ts';

/** A directory of its own for one test, with its real path. */
export function scratchFolder(): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-workspace-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface Changes {
  readonly root?: string;
  readonly hooks?: Partial<HookSettings>;
  readonly env?: Record<string, string>;
  readonly secrets?: readonly string[];
}

/** The real local workspaces below a folder of their own, with a home folder that no profile of the machine reaches. */
export function scratchWorkspaces(changes: Changes = {}) {
  const folder = scratchFolder();
  const root = changes.root ?? path.join(folder, 'workspaces');
  const home = path.join(folder, 'home');
  mkdirSync(home);
  const logger = memoryLogger();
  const workspaces = createLocalWorkspaces({
    clock: systemClock,
    custody: 'marker_sweep',
    daemonId: systemChance.id(),
    root,
    hooks: {
      afterCreate: null,
      beforeRun: null,
      afterRun: null,
      beforeRemove: null,
      timeoutMs: 60_000,
      ...changes.hooks,
    },
    daemonEnv: { PATH: process.env.PATH, HOME: home, ...changes.env },
    secretEnvironment: changes.secrets ?? [],
    logger,
  });
  return { folder, root, home, logger, workspaces };
}

export function visit(changes: Partial<Issue> = {}, more: Partial<WorkspaceVisit> = {}): WorkspaceVisit {
  return { issue: issue({ identifier: 'T-1', ...changes }), runId: systemChance.id(), attempt: null, ...more };
}

/** What a promise was rejected with; anything but a BatonError fails the test. */
export async function rejection(promise: Promise<unknown>): Promise<BatonError> {
  const thrown = await promise.then(
    () => new Error('nothing was refused'),
    (error: unknown) => error,
  );
  if (thrown instanceof BatonError) return thrown;
  throw thrown;
}
