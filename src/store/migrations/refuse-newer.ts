import { BatonError } from '../../core/baton-error.ts';
import { migrations } from './migrations.ts';

/** A newer Baton may have given columns another meaning: its store is not touched. */
export function refuseNewer(foundVersion: number, place: string): void {
  const known = migrations.length;
  if (foundVersion <= known) return;
  throw new BatonError(
    'store_newer',
    `the store ${place} has version ${foundVersion}; this Baton knows up to ${known}`,
    {
      details: { found: foundVersion, known },
    },
  );
}
