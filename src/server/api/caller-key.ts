import type { Caller } from './caller.ts';

/** By whom something is counted. All agents are one: there may be many of them, and people come first. */
export function callerKey({ author }: Caller): string {
  return author.kind === 'run' ? 'runs' : JSON.stringify(author);
}
