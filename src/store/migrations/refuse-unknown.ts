import { BatonError } from '../../core/baton-error.ts';
import { migrations } from './migrations.ts';

/** A migration that a store has run, as it wrote that down. */
export interface AppliedMigration {
  readonly number: number;
  readonly name: string;
}

/**
 * The version of a store, 0 for an empty one. Refuses one of a newer Baton, which may have given columns another meaning,
 * and one of a build that was never released: neither is touched.
 */
export function knownVersion(applied: readonly AppliedMigration[], place: string): number {
  const isOther = ({ number, name }: AppliedMigration): boolean => (migrations[number - 1]?.name ?? name) !== name;
  if (applied.some(isOther))
    throw new BatonError('store_unreleased', `An unreleased build of Baton made the store ${place}.`);
  const found = Math.max(0, ...applied.map(({ number }) => number));
  const known = migrations.length;
  if (found <= known) return found;
  throw new BatonError(
    'store_newer',
    `The store ${place} has version ${found}; this Baton supports versions up to ${known}.`,
    {
      details: { found, known },
    },
  );
}
