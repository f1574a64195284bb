import { evidenceText } from '../../core/run/run-evidence.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { openWorkplace, type WorkplaceFlags } from '../../daemon/workplace.ts';
import { columns } from '../columns.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { readWorkspaces, type WorkspaceRow } from './read-workspaces.ts';
import { sizeText, sumText } from './size-text.ts';

export interface WorkspaceFlags extends WorkplaceFlags {
  readonly json?: boolean;
}

/** `baton workspace list`: the workspaces, their sizes, their content, and why they are still there. */
export async function listAll(flags: WorkspaceFlags, surroundings: Surroundings): Promise<number> {
  await using workplace = await openWorkplace(flags, surroundings);
  const { rows, problem } = await readWorkspaces(workplace, { ignoresRetention: false });
  const { stdout } = surroundings;
  if (flags.json) {
    stdout.write(jsonLine({ root: workplace.settings.workspace.root, workspaces: rows.map(presentRow), problem }));
    return exitCodes.ok;
  }
  const lines = rows.length === 0 ? [] : table(rows);
  if (problem !== null)
    lines.push(`The states of the issues are not known: ${harmlessLine(problem.message)} [${problem.code}]`);
  lines.push(sumText(rows.map(({ entry }) => entry.bytes)));
  stdout.write(`${lines.join('\n')}\n`);
  return exitCodes.ok;
}

/** A workspace for other programs. */
export function presentRow(row: WorkspaceRow): Record<string, unknown> {
  const { entry, run, issue, isPinned, stay } = row;
  return {
    issue_id: run?.issueId ?? null,
    issue_identifier: run?.identifier ?? null,
    state: issue?.state ?? null,
    key: entry.key,
    path: entry.path,
    step: entry.state,
    bytes: entry.bytes,
    changed_at: new Date(entry.changedAt).toISOString(),
    pinned: isPinned,
    last_run: run === null ? null : { run_id: run.runId, ended_at: iso(run.finish?.endedAt), evidence: run.evidence },
    may_go: stay === null,
    code: stay?.code ?? null,
    reason: whyThere(row),
  };
}

/** Why it is still there, as the end of a sentence. */
export function whyThere({ stay, run, issue }: WorkspaceRow): string {
  if (stay === null) {
    const given = run?.removal?.keptBecause ?? null;
    return given === null ? 'it goes with the next sweep' : `it could not be removed: ${given}`;
  }
  // The tracker was asked about every issue that has a known run.
  if (stay.code === 'issue_unknown' && run !== null && issue === undefined)
    return 'the state of its issue is not known';
  return stay.text;
}

function iso(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}

function table(rows: readonly WorkspaceRow[]): string[] {
  const cells = rows.map((row) => {
    const { entry, run, issue } = row;
    const ended = run === null ? '-' : run.finish === null ? 'goes on' : minute(run.finish.endedAt);
    const work = run?.evidence == null ? '-' : evidenceText(run.evidence);
    const name = run?.identifier ?? entry.key;
    return [name, issue?.state ?? '-', sizeText(entry.bytes), ended, work, whyThere(row)].map(harmlessLine);
  });
  return columns(['ISSUE', 'STATE', 'SIZE', 'LAST RUN', 'WHAT IS IN IT', 'WHY IT IS THERE'], cells);
}

function minute(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}
