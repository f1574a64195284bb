import { createHash } from 'node:crypto';

/** A name for the conversations of one workspace, in a folder that has those of others too. */
export function ownFolder(workspace: string): string {
  return `baton/${createHash('sha256').update(workspace).digest('hex').slice(0, 16)}`;
}
