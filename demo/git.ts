import { systemChance } from '../src/clock/system-chance.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import { BatonError } from '../src/core/baton-error.ts';
import type { Surroundings } from '../src/daemon/surroundings.ts';
import { childEnvironment, usualVariables } from '../src/process/child-environment.ts';
import { runToEnd } from '../src/process/run-to-end.ts';

export const demoPerson = { 'user.name': 'Baton demo', 'user.email': 'demo@example.invalid' } as const;

/** The demo does not use the user's signing key and hooks: they could ask for a password or refuse its commits. */
export const demoAuthor = [
  ...Object.entries(demoPerson).map((setting) => setting.join('=')),
  'commit.gpgsign=false',
  'core.hooksPath=/dev/null',
].flatMap((setting) => ['-c', setting]);

/** Runs git in the demo's own repository; rejects with `demo_failed` and the message of git. */
export async function git(cwd: string, args: readonly string[], surroundings: Surroundings): Promise<void> {
  const env = childEnvironment({ from: surroundings.env, allow: usualVariables, deny: [] });
  const request = { command: 'git', args, cwd, env, runId: systemChance.id(), timeoutMs: 30_000 };
  const { code, stderr } = await runToEnd(request, {
    clock: systemClock,
    containment: 'group_only',
    daemonId: systemChance.id(),
  });
  if (code !== 0) throw new BatonError('demo_failed', `git ${args.join(' ')} failed: ${stderr.trim()}`);
}
