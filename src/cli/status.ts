import { existsSync } from 'node:fs';
import path from 'node:path';
import type { PhaseOfRow } from '../client/schema/pipeline.ts';
import type { Status } from '../client/schema/status.ts';
import { askCommand, reviewCommand } from '../core/command/retry-command.ts';
import { slotsText } from '../core/dispatch/slots.ts';
import { phaseWords, waitWords } from '../core/pipeline/phase-standing.ts';
import { stageWords } from '../core/run/run.ts';
import { waitingSettingText } from '../core/settings/waiting-setting.ts';
import { harmlessLine } from '../core/text/harmless-line.ts';
import { stateFolder } from '../daemon/state-folder.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../daemon/workplace.ts';
import { socketPath } from '../server/socket-path.ts';
import { exitCodes } from './exit-codes.ts';
import { timeWords } from './issue/history-words.ts';
import { jsonLine } from './json-line.ts';
import { commandsHere } from './place-flags.ts';
import type { StoredStatus } from './stored-status.ts';

/** `baton status`: what the daemon is doing, or that no daemon runs, and what waits for one or for a person. */
export async function status(flags: WorkplaceFlags & { json?: boolean }, surroundings: Surroundings): Promise<number> {
  const { stdout, cwd, tmpDir } = surroundings;
  const workflowPath = path.resolve(cwd, flags.workflow ?? 'WORKFLOW.md');
  // Without a socket there is no daemon, and the store alone answers without the API, which takes longer to load.
  const stateDir = stateFolder(workflowPath, flags.stateDir, surroundings);
  const mayRun = existsSync(socketPath(stateDir, tmpDir));
  const { status, waiting, held, pulls } = mayRun
    ? await askApi(flags, surroundings)
    : await (await import('./stored-status.ts')).storedStatus(flags, surroundings, mostPulls);
  // One that the agent revises waits for no person.
  const reviews = pulls.filter((pull) => pull.status !== 'sent_back');
  if (flags.json) {
    const alone = status === null ? { reviews, state_dir: stateDir } : {};
    const all = { daemon: status !== null, waiting_commands: waiting, held_issues: held, ...alone, status };
    stdout.write(jsonLine(all));
    return exitCodes.ok;
  }
  const waits = status !== null && waiting === 0 ? [] : [`${commands(waiting)} for a daemon.`];
  // The demo has its own, for example.
  const other = flags.stateDir === undefined ? ' (to use another one: --state-dir)' : '';
  const lines =
    status !== null
      ? [...describe(status), ...waits]
      : [
          `No daemon is running for ${workflowPath} with the state folder ${stateDir}${other}. To start one: baton start`,
          ...waits,
          `${issues(held)} held.`,
          ...section('for your review', reviews, (row) => reviewCommand(row.issue_identifier)),
        ];
  stdout.write(`${commandsHere(flags, surroundings)(lines.join('\n'))}\n`);
  return exitCodes.ok;
}

/** Asks the daemon, or the API on the store alone if none answers. */
async function askApi(flags: WorkplaceFlags, surroundings: Surroundings): Promise<StoredStatus | DaemonStatus> {
  const { connect } = await import('../daemon/connect.ts');
  await using connection = await connect(flags, surroundings);
  const { project } = connection;
  const status = await project.status();
  const common = { waiting: status.waiting_commands, held: status.counts.held };
  if (connection.isDaemon()) return { ...common, status, pulls: [] };
  return { ...common, status: null, pulls: await project.pulls({ status: 'open', limit: mostPulls }) };
}

interface DaemonStatus extends Omit<StoredStatus, 'status'> {
  readonly status: Status;
}

/** The most changes that a status without a daemon lists. */
const mostPulls = 100;

function describe(status: Status): string[] {
  const { paused, slots, totals } = status;
  // Claimed issues are already listed above.
  const waiting = status.skipped.filter(({ code }) => code !== 'claimed');
  const shortened = withoutReasons(status);
  const state =
    paused === null
      ? 'running'
      : `${paused.kind === 'pause' ? 'paused' : 'draining'}${paused.reason === null ? '' : ` (${harmlessLine(paused.reason)})`}`;
  return [
    `Baton is ${state}: ${slotsText(slots)}${slots.judges === undefined ? ' agents' : ' slots'}, ${totals.runs} ${totals.runs === 1 ? 'run' : 'runs'}, ${totals.total_tokens.toLocaleString('en')} tokens since it started`,
    ...(status.api === null ? [] : [`the dashboard is at ${status.api}`]),
    ...polling(status.polling),
    ...waitingAccounts(status),
    ...(status.no_headroom === null ? [] : [`nothing new starts: ${harmlessLine(status.no_headroom)}`]),
    ...(status.environment === null ? [] : [`no run can begin: ${harmlessLine(status.environment.text)}`]),
    ...(status.workflow_problem === null ? [] : [`workflow file: ${harmlessLine(status.workflow_problem.message)}`]),
    ...waitingChanges(status),
    ...troubles(status.errors),
    ...section(
      'running',
      status.running,
      (row) => `${inPhase(row)}${stageWords(row.stage)} · ${row.last_message ?? 'no message yet'}`,
    ),
    ...limitsNear(status),
    ...section('retrying', status.retrying, (row) =>
      row.wait_reason === null
        ? `${inPhase(row)}${waitsFor(row)}at ${timeWords(row.due_at ?? 0)} · ${row.error ?? row.kind}`
        : `${inPhase(row)}${waitsFor(row)}due, but waits: ${row.wait_reason}`,
    ),
    ...section(
      'waiting for quota',
      status.waiting_quota,
      (row) => `until ${timeWords(row.due_at ?? 0)} · ${shortened(`${row.error}`)}`,
    ),
    ...section('questions for you', status.questions, (row) => `${row.text} · ${showCommand(row, status)}`),
    ...section('for your review', status.reviews, (row) =>
      row.pull === null ? row.reason : `${reviewCommand(row.issue_identifier)} · ${row.reason}`,
    ),
    ...section('held', status.held, (row) => `${inPhase(row)}${shortened(row.reason)}`),
    ...section('waiting', waiting, (row) => `${inPhase(row)}${waitsFor(row)}${shortened(row.reason)}`),
    ...failingJobs(status),
    ...queueFindings(status),
  ];
}

interface InPhase {
  readonly phase?: PhaseOfRow | undefined;
}

function inPhase({ phase }: InPhase): string {
  return phase === undefined ? '' : `${phaseWords(phase)} · `;
}

function waitsFor({ phase }: InPhase): string {
  return phase === undefined ? '' : `${waitWords[phase.waits_for]} · `;
}

/** Changes of the workflow file that an agent could have made. */
function waitingChanges({ workflow_waiting: waiting }: Status): string[] {
  if (waiting === null) return [];
  const lines = waiting.settings.map((setting) => `  ${harmlessLine(waitingSettingText(setting))}`);
  return [
    'workflow file: these changes wait for you, because an agent could have made them. To apply them: baton reload',
    ...lines,
  ];
}

const consequences: Readonly<Record<string, string>> = {
  warned: 'nothing changes yet',
  stretched: 'polls are further apart, and cleanup waits',
  essential_only: 'nothing new starts; only live runs make requests',
  closed: 'no request is sent',
};

/** How often the tracker is polled, and which limits are short. */
function polling(facts: Status['polling']): string[] {
  const { step, text, until } = facts.pressure;
  const mode =
    facts.mode === 'quiet' ? `quiet hours until ${timeWords(facts.quiet_until ?? 0)}` : `the project is ${facts.mode}`;
  const why = facts.mode === 'fixed' ? '' : ` (${mode})`;
  const next = facts.next_poll_at === null ? '' : `, next at ${timeWords(facts.next_poll_at)}`;
  const pace = `every ${facts.interval_ms / 1_000} s${why}`;
  const lines =
    facts.failures === 0
      ? [`polls the tracker ${pace}${next}`]
      : [`the tracker failed ${facts.failures} times in a row; Baton polls it less often than ${pace}${next}`];
  const what = consequences[step];
  if (what !== undefined)
    lines.push(`requests: ${harmlessLine(text)}${until === null ? '' : ` (until ${timeWords(until)})`}: ${what}`);
  return lines;
}

/** A failed poll appears as an error of two steps; it is printed once. */
function troubles(errors: Status['errors']): string[] {
  const steps = Map.groupBy(errors, ({ error }) => error.message);
  return [...steps].map(([message, each]) => `${each.map(({ step }) => step).join(', ')}: ${harmlessLine(message)}`);
}

/** A failing tracker poll is already printed above. */
function failingJobs({ jobs }: Status): string[] {
  const failing = jobs.filter(({ name, failures }) => failures > 0 && name !== 'tracker_poll');
  if (failing.length === 0) return [];
  const lines = failing.map(
    ({ name, failures, error }) => `  ${name.padEnd(18)} ${failures} × ${harmlessLine(error ?? '')}`,
  );
  return ['', 'jobs that failed', ...lines];
}

/** The findings of the last check of the queue. */
function queueFindings({ findings }: Status): string[] {
  if (findings.length === 0) return [];
  const lines = findings.map(
    ({ issue_identifier, text }) => `  ${harmlessLine(issue_identifier ?? '').padEnd(12)} ${harmlessLine(text)}`,
  );
  return ['', 'worth checking', ...lines];
}

/** The refusal of an account is printed once, in its own line. */
function withoutReasons({ accounts }: Status): (text: string) => string {
  const reasons = accounts.flatMap(({ waits_for: why, reason }) => (why && reason ? [reason.replace(/\.$/, '')] : []));
  return (text) => reasons.reduce((short, reason) => short.replaceAll(reason, () => 'see the account above'), text);
}

/** Why nothing starts on an account, and the one that runs use meanwhile. */
function waitingAccounts({ accounts }: Status): string[] {
  return accounts.flatMap(({ backend, waits_for: why }) => {
    if (why === null) return [];
    const ready = accounts.find((other) => other.backend === backend && other.waits_for === null);
    return [harmlessLine(ready === undefined ? why : `${why}; account "${ready.name}" is ready`)];
  });
}

/** By the name of the issue, if it has no other question. */
function showCommand(
  { id, issue_identifier: name, waits_until: until }: Status['questions'][number],
  all: Status,
): string {
  const isOnly = all.questions.filter((each) => each.issue_identifier === name).length === 1;
  return `${askCommand(isOnly ? name : id)} (waits until ${until === null ? 'you answer' : timeWords(until)})`;
}

/** The limits that a run has nearly or completely used up. */
function limitsNear({ running }: Status): string[] {
  return running.flatMap(({ issue_identifier, warnings }) =>
    warnings.map(({ text }) => `  ${harmlessLine(issue_identifier).padEnd(12)} near a limit: ${harmlessLine(text)}`),
  );
}

function section<R extends { readonly issue_identifier: string }>(
  title: string,
  rows: readonly R[],
  detail: (row: R) => string,
): string[] {
  if (rows.length === 0) return [];
  return [
    '',
    title,
    ...rows.map((row) => `  ${harmlessLine(row.issue_identifier).padEnd(12)} ${harmlessLine(detail(row))}`),
  ];
}

function commands(count: number): string {
  return count === 1 ? '1 command waits' : `${count} commands wait`;
}

function issues(count: number): string {
  return count === 1 ? '1 issue is' : `${count} issues are`;
}
