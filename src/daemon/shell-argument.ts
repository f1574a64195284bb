import { shellWord } from './shell-word.ts';

/** One word of a command that is shown to be copied: quoted only where it has to be. */
export function shellArgument(text: string): string {
  return /^[A-Za-z0-9_./+:@%][A-Za-z0-9_./+:@%-]*$/.test(text) ? text : shellWord(text);
}
