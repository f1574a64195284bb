import type { Clock } from '../../clock/clock.ts';
import { endOf, type Proof, type ProvenCommand } from '../../core/task/setup-proposal.ts';
import { type CleanRunAbout, type CleanRunParts, notRun, openCleanRun, type WantedCommand } from './clean-run.ts';

/**
 * Runs commands as the checks of a change would run, in a new clean checkout: first the setup, then each check. A setup
 * that does not pass leaves nothing to prove. Rejects when it is stopped, or the commit cannot be checked out.
 */
export async function proveCommands(
  parts: CleanRunParts & { readonly clock: Clock },
  about: CleanRunAbout,
  { setup, checks }: { readonly setup: WantedCommand | null; readonly checks: readonly WantedCommand[] },
): Promise<readonly ProvenCommand[]> {
  const { clock, signal } = parts;
  await using clean = await openCleanRun(parts, about);
  const proven: ProvenCommand[] = [];
  for (const command of [...(setup === null ? [] : [setup]), ...checks]) {
    const { name, run } = command;
    const startedAt = clock.monotonic();
    const isPrepared = setup === null || command === setup || proven[0]?.proof.result === 'passed';
    const end = isPrepared ? await clean.run(command) : notRun('The setup before it did not pass.');
    signal.throwIfAborted();
    const { result, exitCode, output } = end ?? notRun('It was stopped.');
    const durationMs = Math.round(clock.monotonic() - startedAt);
    const proof: Proof = { result, exitCode, durationMs, output: endOf(output) };
    proven.push({ name, run, proof });
  }
  return proven;
}
