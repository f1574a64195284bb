import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { connectAs, sendChange } from '../control/submit-command.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import type { WorkspaceFlags } from './list.ts';

interface PinFlags extends WorkspaceFlags {
  readonly as?: string;
}

/** `baton workspace pin`: the workspace of an issue stays, however long ago its issue finished. */
export function pin(name: string, flags: PinFlags, surroundings: Surroundings): Promise<number> {
  return change('workspace_pin', name, flags, surroundings);
}

/** `baton workspace unpin`. */
export function unpin(name: string, flags: PinFlags, surroundings: Surroundings): Promise<number> {
  return change('workspace_unpin', name, flags, surroundings);
}

async function change(
  kind: 'workspace_pin' | 'workspace_unpin',
  issue: string,
  flags: PinFlags,
  surroundings: Surroundings,
): Promise<number> {
  await using connection = await connectAs(flags, surroundings);
  const { data, text } = await sendChange(connection, { kind, issue }, {}, surroundings);
  surroundings.stdout.write(flags.json ? jsonLine(data) : `${harmlessLine(text)}\n`);
  return exitCodes.ok;
}
