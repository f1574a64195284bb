import { harmlessLine } from '../text/harmless-line.ts';
import { shellArgument } from '../text/shell-argument.ts';

/** The only command with which a person lets a held issue continue, ready to be copied from a message. */
export function retryCommand(identifier: string): string {
  return `baton issue retry ${copyable(identifier)}`;
}

/** Why an issue with a possibly live agent is held, ending with a full stop, and how to let the issue continue. */
export function survivesReason(why: string, identifier: string): string {
  return `${why} End its remaining processes first, then run: ${retryCommand(identifier)}`;
}

/** The command by which a person hands back an issue that they took over. */
export function handbackCommand(identifier: string): string {
  return `baton handback ${copyable(identifier)}`;
}

/** The command by which a person moves an issue of Baton's own board. */
export function moveCommand(identifier: string, to: string): string {
  return `baton issue move ${copyable(identifier)} ${copyable(to)}`;
}

/** The command by which a person says something on an issue of Baton's own board. */
export function commentCommand(identifier: string): string {
  return `baton issue comment ${copyable(identifier)} TEXT`;
}

/** The command that shows a question of an agent, with the ways to answer it. */
export function askCommand(nameOrId: string): string {
  return `baton ask show ${copyable(nameOrId)}`;
}

/** The command that shows the change of an issue, and asks what to do with it. */
export function reviewCommand(identifier: string): string {
  return `baton review ${copyable(identifier)}`;
}

/** The command that accepts the artifact of an issue as it is. */
export function approveCommand(identifier: string): string {
  return `baton pipeline approve ${copyable(identifier)}`;
}

/** The command that shows the events of the last run of an issue. */
export function runLogCommand(identifier: string): string {
  return `baton runs log ${copyable(identifier)}`;
}

/** An identifier is foreign text: unless it is a plain word, it is quoted so that a shell does not interpret it. */
export function copyable(identifier: string): string {
  return shellArgument(harmlessLine(identifier));
}
