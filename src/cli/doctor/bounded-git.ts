import { systemChance } from '../../clock/system-chance.ts';
import { systemClock } from '../../clock/system-clock.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { createGit, type Git, type GitCall } from '../../workspace/git/git.ts';

/** The longest time that a person waits at the terminal for all calls together. */
const limitMs = 10_000;

/** Git as the daemon calls it, for a short check: all calls share one time limit. */
export function boundedGit(surroundings: Surroundings): Git {
  const git = createGit({
    clock: systemClock,
    containment: 'group_only',
    daemonId: systemChance.id(),
    daemonEnv: surroundings.env,
  });
  const deadline = systemClock.monotonic() + limitMs;
  const bounded = (call: GitCall): GitCall => ({
    ...call,
    timeoutMs: Math.max(1, Math.ceil(deadline - systemClock.monotonic())),
  });
  return { run: (call) => git.run(bounded(call)), ask: (call) => git.ask(bounded(call)) };
}
