import { harmlessLine } from './harmless-line.ts';

/** The one command by which a person lets a held issue go on, to be copied from a message as it stands. */
export function retryCommand(identifier: string): string {
  return `baton issue retry ${copyable(identifier)}`;
}

/** Why an issue is held whose agent may be alive, in words that end with a full stop, and what lets it go on. */
export function survivesReason(why: string, identifier: string): string {
  return `${why} End what is left of it; then, and not before: ${retryCommand(identifier)}`;
}

/** The command by which a person gives an issue back that he took over. */
export function handbackCommand(identifier: string): string {
  return `baton handback ${copyable(identifier)}`;
}

/** An identifier is somebody's text: unless it is a plain word, it is quoted so that no shell reads anything into it. */
function copyable(identifier: string): string {
  if (/^[\w][\w.:/#-]*$/.test(identifier)) return identifier;
  return `'${harmlessLine(identifier).replaceAll("'", `'"'"'`)}'`;
}
