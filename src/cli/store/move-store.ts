import path from 'node:path';
import { systemClock } from '../../clock/system-clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import { workflowContext } from '../../daemon/adapters.ts';
import { askDaemon } from '../../daemon/ask-daemon.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { type StatePlace, statePlace, type WorkplaceFlags } from '../../daemon/workplace.ts';
import { backupStore } from '../../store/backup/backup-store.ts';
import { copyStore } from '../../store/backup/copy-store.ts';
import { restoreLive } from '../../store/backup/restore-live.ts';
import { restoreStore } from '../../store/backup/restore-store.ts';
import { loadWorkflow } from '../../workflow/load-workflow.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';

// These commands work on the files of the store, or on two stores, and must work when no daemon can open the store.

interface StoreFlags extends WorkplaceFlags {
  readonly json?: boolean;
}

/** `baton backup`: a consistent copy of the store, also while a daemon runs. */
export function backup(file: string, flags: StoreFlags, surroundings: Surroundings): number {
  const target = path.resolve(surroundings.cwd, file);
  backupStore(placeOf(flags, surroundings).storeUrl, target);
  return tell({ backup: target }, `${target} is written and checked`, flags, surroundings);
}

/**
 * `baton restore`: replaces the store by a backup; the old store is kept next to it. A running daemon continues with
 * the content of the backup; its runs in progress are not in it and continue all the same.
 */
export async function restore(
  file: string,
  flags: StoreFlags & { readonly replace?: boolean },
  surroundings: Surroundings,
): Promise<number> {
  const source = path.resolve(surroundings.cwd, file);
  const { storeUrl: url, socket, workflowPath } = placeOf(flags, surroundings);
  const replace = flags.replace === true;
  let kept: string | null;
  try {
    kept = restoreStore({ file: source, url, clock: systemClock, replace }).kept;
  } catch (thrown) {
    const isInUse = thrown instanceof BatonError && thrown.code === 'store_in_use';
    if (!isInUse) throw thrown;
    if (!replace) {
      const nextStep = 'Add --replace: Baton replaces the content while the daemon runs, and keeps the old store.';
      throw new BatonError(thrown, thrown.message, { cause: thrown, details: thrown.details, nextStep });
    }
    kept = await restoreLive({ file: source, url, clock: systemClock });
    await askDaemon(workflowPath, socket, (daemon) => daemon.storeChanged('restored'));
  }
  const text = kept === null ? 'the backup is restored' : `the backup is restored; the previous store is now ${kept}`;
  return tell({ restored: true, kept }, text, flags, surroundings);
}

/** `baton store copy`: copies everything into an empty store of the same or the other engine. */
export async function copy(flags: StoreFlags & { readonly to: string }, surroundings: Surroundings): Promise<number> {
  const fromUrl = placeOf(flags, surroundings).storeUrl;
  const rows = await copyStore({ fromUrl, toUrl: flags.to, clock: systemClock });
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  const text = `${total} rows are copied and counted; set store.url (or BATON_DATABASE_URL) to use the new store`;
  return tell({ rows }, text, flags, surroundings);
}

function placeOf(flags: StoreFlags, surroundings: Surroundings): StatePlace & { readonly workflowPath: string } {
  const workflowPath = path.resolve(surroundings.cwd, flags.workflow ?? 'WORKFLOW.md');
  const { settings } = loadWorkflow(workflowPath, workflowContext(surroundings, flags.stateDir));
  return { ...statePlace(workflowPath, settings, flags.stateDir, surroundings), workflowPath };
}

function tell(result: unknown, text: string, flags: StoreFlags, { stdout }: Surroundings): number {
  stdout.write(flags.json ? jsonLine(result) : `${text}\n`);
  return exitCodes.ok;
}
