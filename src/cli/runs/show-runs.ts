import type { Run } from '../../client/schema/run.ts';
import { BatonError } from '../../core/baton-error.ts';
import { outcomeWords } from '../../core/run/outcome-words.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';

export interface RunsFlags extends WorkplaceFlags {
  readonly json?: boolean;
  readonly issue?: string;
  readonly limit?: number;
}

/** `baton runs list`: the newest runs first. */
export async function listRuns(flags: RunsFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const { issue, limit = 20 } = flags;
  const wanted = { limit, ...(issue === undefined ? {} : { issue }) };
  const runs = await connection.project.runs(wanted).catch((thrown: unknown) => {
    if (thrown instanceof BatonError && thrown.code === 'tracker_issue_not_found') return [];
    throw thrown;
  });
  const now = surroundings.clock.now();
  const report = { runs: runs.map((run) => facts(run, now)) };
  surroundings.stdout.write(flags.json ? jsonLine(report) : runs.map((run) => line(run, now)).join(''));
  return exitCodes.ok;
}

/** `baton runs show`: everything that Baton knows about one run. */
export async function showRun(id: string, flags: RunsFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const run = await connection.project.run(id);
  const now = surroundings.clock.now();
  const { evidence, removal } = run;
  if (flags.json) {
    const report = { ...facts(run, now), workspace_evidence: evidence, workspace_removal: removal };
    surroundings.stdout.write(jsonLine({ run: report }));
    return exitCodes.ok;
  }
  // The agent reports no cost and its model has no price: then the cost is unknown.
  const known = run.usage.cost_usd > 0 ? {} : { cost_usd: null };
  const text = [...Object.entries({ ...facts(run, now), ...known }), ...workspaceWords(run)].map(
    ([key, value]) => `${key.padEnd(20)} ${value === null ? '-' : harmlessLine(String(value))}\n`,
  );
  surroundings.stdout.write(text.join(''));
  return exitCodes.ok;
}

/** What happened to its workspace, as text. */
function workspaceWords({ evidence, publication, removal }: Run): [string, string | null][] {
  const found: [string, string | null][] = [['workspace_work', evidence?.text ?? null]];
  if (evidence !== null) found.push(['workspace_changed', changedWords[String(evidence.changed)] ?? null]);
  if (publication !== null) found.push(['workspace_branch', publication]);
  if (removal === null) return found;
  const { at, kept_because: why } = removal;
  found.push(['workspace_fate', why === null ? `removed ${at}` : `kept ${at}: ${why}`]);
  for (const { name, restore } of removal.saved) found.push(['saved_work', `${name}; ${restore}`]);
  return found;
}

const changedWords: Readonly<Record<string, string>> = { true: 'yes', false: 'no', null: 'unknown' };

/** One line per fact, with the usage among them. */
function facts(run: Run, now: number): Record<string, string | number | null> {
  const end = run.ended_at === null ? now : Date.parse(run.ended_at);
  return {
    run_id: run.run_id,
    issue_id: run.issue_id,
    issue_identifier: run.issue_identifier,
    role: run.role,
    backend: run.backend,
    agent: run.agent,
    agent_reason: run.agent_reason,
    account: run.account,
    attempt: run.attempt,
    retry_kind: run.retry_kind,
    outcome: run.outcome,
    error_code: run.error_code,
    error_message: run.error_message,
    started_at: run.started_at,
    ended_at: run.ended_at,
    duration_ms: end - Date.parse(run.started_at),
    turns: run.turns,
    host: run.host,
    pid: run.pid,
    session_id: run.session_id,
    workspace_path: run.workspace_path,
    ...run.usage,
    last_message: run.last_message,
  };
}

function line(run: Run, now: number): string {
  const { outcome, error_code: errorCode, error_message: errorMessage } = run;
  const how = outcome === null ? 'in progress' : harmlessLine(outcomeWords({ outcome, errorCode, errorMessage }));
  const end = run.ended_at === null ? now : Date.parse(run.ended_at);
  const seconds = Math.round((end - Date.parse(run.started_at)) / 1000);
  const started = run.started_at.slice(0, 19).replace('T', ' ');
  return `${run.run_id.slice(0, 8)}  ${started}  ${harmlessLine(run.issue_identifier).padEnd(12)} ${`${seconds} s`.padStart(7)}  ${how}\n`;
}
