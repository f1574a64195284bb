import { systemClock } from '../../clock/system-clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { counted } from '../../workspace/salvage/plural.ts';
import { pruneSalvage } from '../../workspace/salvage/prune-salvage.ts';
import { authorOf } from '../author-of.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { openSalvage, type SalvageFlags } from './open-salvage.ts';
import { line, presentSaved } from './show-salvage.ts';

const dayMs = 24 * 3_600_000;

/** `baton salvage prune`: deletes the saved work of this project that is older than wanted, and lists it. */
export async function pruneSaved(
  flags: SalvageFlags & { readonly olderThan?: number; readonly dryRun?: boolean },
  surroundings: Surroundings,
): Promise<number> {
  const dryRun = flags.dryRun === true;
  if (!dryRun && (await authorOf(undefined, surroundings)).kind === 'run')
    throw new BatonError('command_refused', 'Only a person may delete saved work.', {
      details: { code: 'not_for_agents' },
    });
  const { salvage, settings } = openSalvage(flags, surroundings);
  const { stdout } = surroundings;
  const days = flags.olderThan ?? settings.workspace.salvageRetentionDays;
  if (days === 0) {
    const text =
      'Baton keeps saved work forever: workspace.salvage_retention_days is 0. Name an age with --older-than.\n';
    stdout.write(flags.json ? jsonLine({ dropped: [], dry_run: dryRun, days: null }) : text);
    return exitCodes.ok;
  }
  const dropped = await pruneSalvage(salvage, { olderThanMs: days * dayMs, now: systemClock.now(), dryRun });
  if (flags.json) stdout.write(jsonLine({ dropped: dropped.map(presentSaved), dry_run: dryRun, days }));
  else {
    const lines = dropped.map((work) => `${line(work)}\n`).join('');
    const what = `${dropped.length} ${dryRun ? 'would be deleted' : 'deleted'}`;
    stdout.write(`${lines}${what}; older than ${counted(days, 'day')}\n`);
  }
  return exitCodes.ok;
}
