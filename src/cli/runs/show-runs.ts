import { systemClock } from '../../clock/system-clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import { outcomeWords } from '../../core/run/outcome-words.ts';
import { deliveryText, evidenceText } from '../../core/run/run-evidence.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { openWorkplace, type Workplace, type WorkplaceFlags } from '../../daemon/workplace.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';

export interface RunsFlags extends WorkplaceFlags {
  readonly json?: boolean;
  readonly issue?: string;
  readonly limit?: number;
}

/** `baton runs list`: the newest runs first. */
export async function listRuns(flags: RunsFlags, surroundings: Surroundings): Promise<number> {
  await using workplace = await openWorkplace(flags, surroundings);
  const { store, project } = workplace;
  const limit = flags.limit ?? 20;
  const latest = flags.issue === undefined ? null : await latestRunOf(workplace, flags.issue);
  const isUnknown = flags.issue !== undefined && latest === null;
  const ofIssue = latest === null ? {} : { issueId: latest.issueId };
  const runs = isUnknown ? [] : await store.runs.list(project.id, { ...ofIssue, limit });
  surroundings.stdout.write(flags.json ? jsonLine({ runs: runs.map(presentRun) }) : runs.map(line).join(''));
  return exitCodes.ok;
}

/** `baton runs show`: everything that is known of one run. */
export async function showRun(id: string, flags: RunsFlags, surroundings: Surroundings): Promise<number> {
  await using workplace = await openWorkplace(flags, surroundings);
  const run = await findRun(workplace, id);
  // An agent that tells no cost, and no price for its model: nobody knows what it was.
  const known = run.costMicroUsd > 0 ? {} : { cost_usd: null };
  const text = [...Object.entries({ ...presentRun(run), ...known }), ...workspaceWords(run)].map(
    ([key, value]) => `${key.padEnd(20)} ${value === null ? '-' : harmlessLine(String(value))}\n`,
  );
  const told = { ...presentRun(run), workspace_evidence: run.evidence, workspace_removal: presentRemoval(run) };
  surroundings.stdout.write(flags.json ? jsonLine({ run: told }) : text.join(''));
  return exitCodes.ok;
}

/** What became of its workspace, in words. */
function workspaceWords({ evidence, removal }: RunRecord): [string, string | null][] {
  const found: [string, string | null][] = [['workspace_work', evidence === null ? null : evidenceText(evidence)]];
  if (evidence !== null) found.push(['workspace_changed', changedWords[String(evidence.changed)] ?? null]);
  if (evidence?.delivery !== undefined)
    found.push(['workspace_branch', deliveryText(evidence.delivery, removal !== null && removal.keptBecause === null)]);
  if (removal === null) return found;
  const at = new Date(removal.at).toISOString();
  found.push(['workspace_fate', removal.keptBecause === null ? `removed ${at}` : `kept ${at}: ${removal.keptBecause}`]);
  for (const { name, restore } of removal.saved) found.push(['saved_work', `${name}; ${restore}`]);
  return found;
}

const changedWords: Readonly<Record<string, string>> = { true: 'yes', false: 'no', null: 'unknown' };

function presentRemoval({ removal }: RunRecord): Record<string, unknown> | null {
  if (removal === null) return null;
  const { at, keptBecause, saved } = removal;
  return { at: new Date(at).toISOString(), kept_because: keptBecause, saved };
}

/** A run by its id, the newest of an issue by the issue's identifier, or the one run whose id begins like this. */
export async function findRun({ store, project }: Workplace, reference: string): Promise<RunRecord> {
  const exact = await store.runs.read(reference);
  if (exact !== null && exact.project === project.id) return exact;
  const ofIssue = await store.runs.latestNamed(project.id, reference);
  if (ofIssue !== null) return ofIssue;
  const recent = await store.runs.list(project.id, { limit: 1_000 });
  const begun = reference === '' ? [] : recent.filter(({ runId }) => runId.startsWith(reference.toLowerCase()));
  const [found] = begun;
  if (begun.length > 1) {
    throw new BatonError('run_not_found', `${begun.length} runs begin with "${reference}".`, {
      nextStep: 'Write more of the id.',
      details: { runs: begun.map(({ runId }) => runId) },
    });
  }
  if (found !== undefined) return found;
  throw new BatonError('run_not_found', `There is no run "${reference}", and no run of an issue of that name.`);
}

/** The newest run of an issue, by its id or identifier; null when it had none. */
export function latestRunOf({ store, project }: Workplace, issue: string): Promise<RunRecord | null> {
  return store.runs.latestNamed(project.id, issue);
}

/** A run as other programs get it. */
function presentRun(run: RunRecord): Record<string, string | number | null> {
  const end = run.finish;
  const endedAt = end?.endedAt ?? systemClock.now();
  return {
    run_id: run.runId,
    issue_id: run.issueId,
    issue_identifier: run.identifier,
    role: run.role,
    backend: run.backend,
    account: run.account,
    attempt: run.attempt,
    retry_kind: run.retryKind,
    outcome: end?.outcome ?? null,
    error_code: end?.errorCode ?? null,
    error_message: end?.errorMessage ?? null,
    started_at: new Date(run.startedAt).toISOString(),
    ended_at: end === null ? null : new Date(end.endedAt).toISOString(),
    duration_ms: endedAt - run.startedAt,
    turns: run.turns,
    host: run.host,
    pid: run.pid,
    session_id: run.threadId,
    workspace_path: run.workspace,
    input_tokens: run.inputTokens,
    cached_input_tokens: run.cachedInputTokens,
    output_tokens: run.outputTokens,
    reasoning_tokens: run.reasoningTokens,
    total_tokens: run.totalTokens,
    cost_usd: run.costMicroUsd / 1_000_000,
    last_message: run.lastMessage,
  };
}

function line(run: RunRecord): string {
  const outcome = run.finish === null ? 'in progress' : harmlessLine(outcomeWords(run.finish));
  const seconds = Math.round(((run.finish?.endedAt ?? systemClock.now()) - run.startedAt) / 1000);
  const started = new Date(run.startedAt).toISOString().slice(0, 19).replace('T', ' ');
  return `${run.runId.slice(0, 8)}  ${started}  ${harmlessLine(run.identifier).padEnd(12)} ${`${seconds} s`.padStart(7)}  ${outcome}\n`;
}
