import type { WorkspaceRow } from '../../client/schema/workspace.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { columns } from '../columns.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { sizeText, sumText } from './size-text.ts';

export interface WorkspaceFlags extends WorkplaceFlags {
  readonly json?: boolean;
}

/** `baton workspace list`: the workspaces, their sizes, their content, and why they are still there. */
export async function listAll(flags: WorkspaceFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const report = await connection.project.workspaces({ ignoresRetention: false });
  const { workspaces, problem } = report;
  const lines = workspaces.length === 0 ? [] : table(workspaces);
  if (problem !== null)
    lines.push(`The states of the issues are not known: ${harmlessLine(problem.message)} [${problem.code}]`);
  lines.push(sumText(workspaces.map(({ bytes }) => bytes)));
  surroundings.stdout.write(flags.json ? jsonLine(report) : `${lines.join('\n')}\n`);
  return exitCodes.ok;
}

function table(rows: readonly WorkspaceRow[]): string[] {
  const cells = rows.map(({ issue_identifier: identifier, key, state, bytes, last_run: run, reason }) => {
    const ended = run === null ? '-' : run.ended_at === null ? 'in progress' : minute(run.ended_at);
    const work = run?.evidence?.text ?? '-';
    return [identifier ?? key, state ?? '-', sizeText(bytes), ended, work, reason].map(harmlessLine);
  });
  return columns(['ISSUE', 'STATE', 'SIZE', 'LAST RUN', 'CONTENT', 'WHY IT IS THERE'], cells);
}

function minute(at: string): string {
  return at.slice(0, 16).replace('T', ' ');
}
