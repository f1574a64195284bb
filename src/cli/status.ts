import { harmlessLine } from '../core/harmless-line.ts';
import { exitCodes } from './exit-codes.ts';
import type { Surroundings } from './surroundings.ts';
import { openWorkplace, type WorkplaceFlags } from './workplace.ts';

/** The parts of the daemon's status that are shown to people; programs get all of it with `--json`. */
interface ShownStatus {
  readonly paused: { readonly kind: string; readonly reason: string | null } | null;
  readonly slots: { readonly used: number; readonly limit: number };
  readonly running: readonly Row[];
  readonly retrying: readonly Row[];
  readonly held: readonly Row[];
  readonly skipped: readonly Row[];
  readonly totals: { readonly runs: number; readonly total_tokens: number };
  readonly workflow_problem: { readonly message: string } | null;
  readonly errors: readonly { readonly step: string; readonly error: { readonly message: string } }[];
}

type Row = Readonly<Record<string, string | number | null>> & { readonly issue_identifier: string };

/** `baton status`: what the daemon is doing, or that none runs and what waits for it. */
export async function status(flags: WorkplaceFlags & { json?: boolean }, surroundings: Surroundings): Promise<number> {
  await using workplace = await openWorkplace(flags, surroundings);
  const { stdout } = surroundings;
  // Our own daemon of the same version made it; a part that is missing shows as nothing.
  const found = (await workplace.status()) as ShownStatus | null;
  const waiting = await workplace.store.commands.waiting(workplace.project.id, 100);
  if (flags.json) {
    stdout.write(`${JSON.stringify({ daemon: found !== null, waiting_commands: waiting.length, status: found })}\n`);
    return exitCodes.ok;
  }
  if (found === null) {
    const held = await workplace.store.held.list(workplace.project.id);
    stdout.write(`No daemon runs for ${workplace.workflowPath}.\n`);
    stdout.write(`${waiting.length} commands wait, ${held.length} issues are held.\n`);
    return exitCodes.ok;
  }
  stdout.write(`${describe(found).join('\n')}\n`);
  return exitCodes.ok;
}

function describe(status: ShownStatus): string[] {
  const { paused, slots, totals } = status;
  const state =
    paused === null
      ? 'running'
      : `${paused.kind === 'pause' ? 'paused' : 'draining'}${paused.reason === null ? '' : ` (${paused.reason})`}`;
  return [
    `Baton is ${state}: ${slots.used} of ${slots.limit} agents, ${totals.runs} runs, ${totals.total_tokens.toLocaleString('en')} tokens since its start`,
    ...(status.workflow_problem === null ? [] : [`workflow file: ${status.workflow_problem.message}`]),
    ...status.errors.map(({ step, error }) => `${step}: ${error.message}`),
    ...section('running', status.running, (row) => `${row.stage} · ${row.last_message ?? 'no event yet'}`),
    ...section('retrying', status.retrying, (row) => `at ${row.due_at} · ${row.error ?? row.kind}`),
    ...section('held', status.held, (row) => `${row.reason}`),
    ...section('waiting', status.skipped, (row) => `${row.reason}`),
  ];
}

function section(title: string, rows: readonly Row[], detail: (row: Row) => string): string[] {
  if (rows.length === 0) return [];
  return [
    '',
    title,
    ...rows.map((row) => `  ${harmlessLine(row.issue_identifier).padEnd(12)} ${harmlessLine(detail(row))}`),
  ];
}
