import type { Learning, LearningList } from '../../../src/client/schema/learning.ts';

/** Each status as people say it, and what it means for agents. */
export const statusWords: Readonly<Record<Learning['status'], { readonly word: string; readonly means: string }>> = {
  trial: { word: 'on trial', means: 'Half of the issues get it, until Baton can tell whether it helps' },
  kept: { word: 'kept', means: 'Agents get it for every issue' },
  faded: { word: 'faded', means: 'No agent gets it: the work came back as often with it as without it' },
  vetoed: { word: 'vetoed', means: 'No agent gets it: a person does not want it' },
  replaced: { word: 'replaced', means: 'No agent gets it: a person accepted a better one' },
};

/** What happened that taught a learning. */
export const lessonWords: Readonly<Record<Learning['origins'][number]['kind'], string>> = {
  failed_run: 'a run failed',
  rejected: 'work was sent back',
  check: 'a check was red',
  note: 'a person left a note',
};

/** The state of a trial, as sentences. */
export function trialWords(trial: NonNullable<Learning['trial']>, needed: LearningList['trial_issues']): string {
  const { sent_back_with: tried, sent_back_without: others } = trial;
  const so = `Sent back: ${tried.count} of ${tried.of} with it, ${others.count} of ${others.of} without it.`;
  const isEnough = tried.of >= needed && others.of >= needed;
  if (!isEnough) return `${so} ${needed} each are needed.`;
  return tried.count + others.count === 0 ? `${so} It ends when work is sent back.` : `${so} Baton decides soon.`;
}
