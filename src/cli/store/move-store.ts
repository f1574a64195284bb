import path from 'node:path';
import { systemClock } from '../../clock/system-clock.ts';
import { backupStore } from '../../store/backup-store.ts';
import { copyStore } from '../../store/copy-store.ts';
import { restoreStore } from '../../store/restore-store.ts';
import { loadWorkflow } from '../../workflow/load-workflow.ts';
import { workflowContext } from '../adapters.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Surroundings } from '../surroundings.ts';
import { statePlace, type WorkplaceFlags } from '../workplace.ts';

export interface StoreFlags extends WorkplaceFlags {
  readonly json?: boolean;
}

/** `baton backup`: one moment of the store, while a daemon may go on. */
export function backup(file: string, flags: StoreFlags, surroundings: Surroundings): number {
  const target = path.resolve(surroundings.cwd, file);
  backupStore(storeUrl(flags, surroundings), target);
  return tell({ backup: target }, `${target} is written and checked`, flags, surroundings);
}

/** `baton restore`: a backup in the place of the store; what was there is kept beside it. */
export async function restore(
  file: string,
  flags: StoreFlags & { readonly replace?: boolean },
  surroundings: Surroundings,
): Promise<number> {
  const { kept } = restoreStore({
    file: path.resolve(surroundings.cwd, file),
    url: storeUrl(flags, surroundings),
    clock: systemClock,
    replace: flags.replace === true,
  });
  const text = kept === null ? 'the backup is restored' : `the backup is restored; what was there before is ${kept}`;
  return tell({ restored: true, kept }, text, flags, surroundings);
}

/** `baton store copy`: everything into an empty store of the same or the other engine. */
export async function copy(to: string, flags: StoreFlags, surroundings: Surroundings): Promise<number> {
  const rows = await copyStore({ fromUrl: storeUrl(flags, surroundings), toUrl: to, clock: systemClock });
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  const text = `${total} rows are copied and counted; set store.url (or BATON_DATABASE_URL) to use the new store`;
  return tell({ rows }, text, flags, surroundings);
}

function storeUrl(flags: StoreFlags, surroundings: Surroundings): string {
  const workflowPath = path.resolve(surroundings.cwd, flags.workflow ?? 'WORKFLOW.md');
  const { settings } = loadWorkflow(workflowPath, workflowContext(surroundings));
  return statePlace(workflowPath, settings, flags.stateDir, surroundings).storeUrl;
}

function tell(result: unknown, text: string, flags: StoreFlags, { stdout }: Surroundings): number {
  stdout.write(flags.json ? `${JSON.stringify(result)}\n` : `${text}\n`);
  return exitCodes.ok;
}
