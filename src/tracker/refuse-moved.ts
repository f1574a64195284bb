import { BatonError } from '../core/baton-error.ts';
import { normalizeState } from '../core/issue/issue.ts';

/** Throws `board_move_refused` when an issue is neither in the state that it should leave nor in the one it should reach. */
export function refuseMoved(
  { name, state }: { readonly name: string; readonly state: string },
  from: string | undefined,
  to: string,
): void {
  const now = normalizeState(state);
  if (from === undefined || now === normalizeState(from) || now === normalizeState(to)) return;
  throw new BatonError(
    'board_move_refused',
    `${name} was not moved to ${to}: it is no longer in ${from}, but in ${state}.`,
    {
      details: { identifier: name, from: state, expected: from, to },
    },
  );
}
