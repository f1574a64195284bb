import * as z from 'zod';
import type { Command } from '../client/schema/command.ts';
import { type PruneReport, pruneRow } from '../client/schema/prune.ts';
import { sleep } from '../clock/clock.ts';
import { BatonError } from '../core/baton-error.ts';
import { countText } from '../core/text/amount-text.ts';
import { harmlessLine } from '../core/text/harmless-line.ts';
import type { Connection } from '../daemon/connect.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import { columns } from './columns.ts';
import { type CommandFlags, connectAs, sendCommand } from './control/submit-command.ts';
import { exitCodes } from './exit-codes.ts';
import { jsonLine } from './json-line.ts';
import { sizeText } from './workspace/size-text.ts';

interface PruneFlags extends CommandFlags {
  readonly dryRun?: boolean;
}

type Row = PruneReport['rows'][number];

/** Work is saved before a removal, which takes long for large workspaces. */
const longestWaitMs = 1_800_000;
const askEveryMs = 250;

/** `baton prune`: removes everything that is past its retention, as the jobs of the daemon do, but now. */
export async function prune(flags: PruneFlags, surroundings: Surroundings): Promise<number> {
  const dryRun = flags.dryRun === true;
  await using connection = await connectAs(flags, surroundings);
  const { rows: plan } = await connection.project.prunable();
  const rows = dryRun ? plan : withResults(plan, await pruneNow(connection, flags, surroundings));
  const { stdout } = surroundings;
  stdout.write(flags.json ? jsonLine({ dry_run: dryRun, rows }) : `${lines(rows, dryRun).join('\n')}\n`);
  return rows.every(({ problem }) => problem === null) ? exitCodes.ok : exitCodes.error;
}

/** Sends the command, and waits for its answer: other commands are not delayed by it. */
async function pruneNow(connection: Connection, flags: PruneFlags, surroundings: Surroundings): Promise<Command> {
  const { clock } = surroundings;
  let command = await sendCommand(connection, { kind: 'prune' }, flags, surroundings);
  const deadline = clock.monotonic() + longestWaitMs;
  while (command.status === 'waiting' && connection.isDaemon() && clock.monotonic() < deadline) {
    await sleep(clock, askEveryMs);
    command = (await connection.project.command(command.id)) ?? command;
  }
  if (command.status === 'done') return command;
  const why = command.status === 'waiting' ? 'The daemon has not finished the prune yet.' : command.text;
  throw new BatonError('command_refused', why, {
    nextStep: 'Run `baton prune --dry-run` to see what is left.',
    details: { id: command.id, code: command.code },
  });
}

function withResults(plan: readonly Row[], { data }: Command): readonly Row[] {
  const removed = z.object({ rows: z.array(pruneRow) }).parse(data).rows;
  return plan.map((row) => ({ ...row, count: 0, bytes: 0, ...removed.find(({ kind }) => kind === row.kind) }));
}

function lines(rows: readonly Row[], dryRun: boolean): string[] {
  const cells = rows.map(({ kind, count, bytes, setting, value }) => [
    kind.replaceAll('_', ' '),
    countText(count),
    count === 0 || bytes === null ? '-' : sizeText(bytes),
    `${setting}: ${value}${value > 0 ? '' : setting.endsWith('_days') ? ' (forever)' : ' (not kept)'}`,
  ]);
  const known = rows.flatMap(({ bytes }) => bytes ?? []).reduce((sum, bytes) => sum + bytes, 0);
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  return [
    ...columns(['WHAT', dryRun ? 'WOULD GO>' : 'REMOVED>', 'SIZE>', 'KEPT BY'], cells),
    ...rows.flatMap(({ kind, problem }) =>
      problem === null ? [] : [`${kind.replaceAll('_', ' ')}: ${harmlessLine(problem)}`],
    ),
    `${countText(total)} in all, ${sizeText(known)}${dryRun ? '; nothing changed' : ''}`,
  ];
}
