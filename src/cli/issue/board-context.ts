import type { ProjectClient } from '../../client/api-client.ts';
import type { Command, CommandRequest } from '../../client/schema/command.ts';
import type { Connection } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { escapeInvisible } from '../../telemetry/harmless-text.ts';

/** How the commands reach a board. */
export interface BoardAccess {
  /** Connects to the API of a workflow file, in the name of the caller. */
  connect(flags: BoardFlags): Promise<Pick<Connection, 'project' | 'described'> & AsyncDisposable>;
  readonly surroundings: BoardSurroundings;
}

/** The flags of every command on a board. */
export interface BoardFlags extends WorkplaceFlags {
  readonly json?: boolean;
  readonly as?: string;
}

export type BoardSurroundings = Pick<Surroundings, 'batonPath' | 'env' | 'cwd' | 'stdout' | 'stderr' | 'chance'> & {
  readonly stdin: AsyncIterable<string | Uint8Array>;
};

/** What one command needs. */
export interface BoardContext {
  readonly project: ProjectClient;
  /** Sends a command and returns its answer; rejects when it is not carried out. */
  readonly change: (request: CommandRequest) => Promise<Command>;
  readonly surroundings: BoardSurroundings;
  readonly json: boolean;
  /** Makes the commands in Baton's own words work where the reader is. */
  readonly here: (text: string) => string;
}

/** Writes one answer: JSON for programs; for people text, which is passed without a final line feed. */
export function answer({ json, surroundings }: BoardContext, value: unknown, text: string): void {
  surroundings.stdout.write(json ? `${escapeInvisible(JSON.stringify(value, null, 2))}\n` : `${text}\n`);
}
