import type { Run } from '../../client/schema/run.ts';
import { BatonError } from '../../core/baton-error.ts';
import { errorCatalogue } from '../../core/error-catalogue.ts';
import { outcomeWords } from '../../core/run/outcome-words.ts';
import { countText, durationText, hasNoPrice, noPriceText, usdText } from '../../core/text/amount-text.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { shellArgument } from '../../core/text/shell-argument.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { exitCodes } from '../exit-codes.ts';
import { timeWords } from '../issue/history-words.ts';
import { jsonLine } from '../json-line.ts';
import { commandsHere } from '../place-flags.ts';

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
  const here = commandsHere(flags, surroundings);
  const text = describe(run, now).map(([name, value]) => {
    const line = harmlessLine(value);
    return `${name.padEnd(13)} ${name === 'last message' ? line : here(line)}\n`;
  });
  surroundings.stdout.write(text.join(''));
  return exitCodes.ok;
}

type Named = readonly [name: string, value: string];

/** In the order in which people ask: what, how it ended, when, why, by whom, at what cost, which work, what next. */
function describe(run: Run, now: number): readonly Named[] {
  const { run_id: id, issue_identifier: issue, usage, ended_at: endedAt, turns } = run;
  const took = (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(run.started_at);
  return [
    ['run', id],
    ['issue', issue],
    ['result', resultWords(run)],
    ...nextStep(run),
    ['started', timeWords(run.started_at)],
    [
      'took',
      `${durationText(took)}${endedAt === null ? ' until now' : ''}, ${turns} ${turns === 1 ? 'turn' : 'turns'}`,
    ],
    [
      'why',
      `${startWords[run.retry_kind ?? 'none'] ?? run.retry_kind}${run.attempt === null ? '' : ` (attempt ${run.attempt})`}`,
    ],
    ['agent', agentWords(run)],
    ['cost', costWords(usage)],
    [
      'tokens',
      `${countText(usage.input_tokens)} in (${countText(usage.cached_input_tokens)} cached), ${countText(usage.output_tokens)} out`,
    ],
    ...(run.last_message === null ? [] : [['last message', run.last_message] as const]),
    ...workspaceWords(run),
    ['events', `baton runs log ${id.slice(0, 8)}`],
    ['what is next', `baton explain ${shellArgument(issue)}`],
  ];
}

function resultWords({ outcome, error_code: errorCode, error_message: errorMessage }: Run): string {
  return outcome === null ? 'in progress' : outcomeWords({ outcome, errorCode, errorMessage });
}

function nextStep({ error_code: code, run_id: id, issue_identifier: issue }: Run): readonly Named[] {
  const known: Readonly<Record<string, { readonly nextStep: string } | undefined>> = errorCatalogue;
  const step = known[code ?? '']?.nextStep;
  if (step === undefined) return [];
  return [['what to do', step.replace(/\bRUN\b/, id.slice(0, 8)).replace(/\bISSUE\b/, shellArgument(issue))]];
}

/** Why this run started, by `retry_kind`. */
const startWords: Readonly<Record<string, string>> = {
  none: 'a new start of the issue',
  continuation: 'continues after a run that ended well',
  failure: 'repeats a run that failed',
  interrupted: 'continues a run that was interrupted',
  quota: 'continues a run whose account had used up its quota',
  answered: 'continues after a person answered a question',
  handed_back: 'continues after a person worked on the issue by hand',
};

const choiceWords: Readonly<Record<Run['agent_reason'], string>> = {
  person: ', chosen by a person',
  label: ', chosen by a label',
  state: ', chosen by the state of the issue',
  default: '',
  role: ', the agent of its role',
  stand_in: ', in place of another agent',
};

function agentWords({ agent, agent_reason: reason, backend, account, pid, host, session_id: session }: Run): string {
  const name = agent === backend || agent === 'default' ? backend : `${agent} (${backend})`;
  return [
    `${name}${choiceWords[reason]}`,
    ...(account === null || account === backend ? [] : [`account ${account}`]),
    pid === null ? `on ${host}` : `process ${pid} on ${host}`,
    ...(session === null ? [] : [`session ${session}`]),
  ].join(', ');
}

function workspaceWords({ workspace_path: folder, evidence, publication, removal }: Run): readonly Named[] {
  const found: Named[] = folder === null ? [] : [['workspace', folder]];
  if (evidence !== null) {
    found.push(['work', evidence.text]);
    found.push(['changed', changedWords[String(evidence.changed)] ?? 'unknown']);
  }
  if (publication !== null) found.push(['branch', publication]);
  if (removal === null) return found;
  const { at, kept_because: why } = removal;
  found.push(why === null ? ['removed', timeWords(at)] : ['kept', `${timeWords(at)}: ${why}`]);
  for (const { name, restore } of removal.saved) found.push(['saved work', `${name}; ${restore}`]);
  return found;
}

/** No cost is not $0.00: the agent may report nothing at all, or its tokens have no price. */
function costWords({ cost_usd, total_tokens }: Run['usage']): string {
  if (cost_usd > 0) return usdText(cost_usd);
  return hasNoPrice(total_tokens, cost_usd) ? noPriceText : 'none reported';
}

const changedWords: Readonly<Record<string, string>> = { true: 'yes', false: 'no', null: 'unknown' };

/** The run for programs, with its usage among the facts. */
function facts(run: Run, now: number): Record<string, string | number | null> {
  const end = run.ended_at === null ? now : Date.parse(run.ended_at);
  return {
    run_id: run.run_id,
    issue_id: run.issue_id,
    issue_identifier: run.issue_identifier,
    role: run.role,
    phase: run.phase,
    backend: run.backend,
    agent: run.agent,
    agent_reason: run.agent_reason,
    prompt_version: run.prompt?.version ?? null,
    prompt_source: run.prompt?.source ?? null,
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
  const end = run.ended_at === null ? now : Date.parse(run.ended_at);
  const seconds = Math.round((end - Date.parse(run.started_at)) / 1000);
  const started = run.started_at.slice(0, 19).replace('T', ' ');
  return `${run.run_id.slice(0, 8)}  ${started}  ${harmlessLine(run.issue_identifier).padEnd(12)} ${`${seconds} s`.padStart(7)}  ${harmlessLine(resultWords(run))}\n`;
}
