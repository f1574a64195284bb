import { BatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/harmless-line.ts';
import type { SavedWork } from './salvage.ts';

/** By the name first: an issue may be called as an entry is. */
export function findWork(works: readonly SavedWork[], wanted: string): SavedWork | undefined {
  const isMeant = ({ issueId, issueIdentifier, name }: SavedWork): boolean =>
    issueId === wanted || issueIdentifier.toLowerCase() === wanted.toLowerCase() || name.startsWith(`${wanted}/`);
  return works.find(({ name }) => name === wanted) ?? works.find(isMeant);
}

/** Tells in which other project there is such a work; null when there is none. */
export function notFound(wanted: string, elsewhere: string | null): BatonError {
  const message = `There is no saved work "${wanted}", and none of an issue of that name`;
  if (elsewhere === null) return new BatonError('salvage_not_found', `${message}.`);
  return new BatonError(
    'salvage_not_found',
    `${message}, in this project; the project "${harmlessLine(elsewhere)}" has it.`,
    {
      details: { project: elsewhere },
      nextStep: 'Use the workflow file of that project, or look at it from here with --all-projects.',
    },
  );
}
