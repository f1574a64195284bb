import { askCommand } from '../core/command/retry-command.ts';
import { harmlessLine } from '../core/text/harmless-line.ts';
import { shellArgument } from '../daemon/shell-argument.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import { daemonStatus, openWorkplace, type WorkplaceFlags } from '../daemon/workplace.ts';
import { exitCodes } from './exit-codes.ts';
import { jsonLine } from './json-line.ts';

/** The parts of the daemon's status that are shown to people; programs get all of it with `--json`. */
interface ShownStatus {
  readonly paused: { readonly kind: string; readonly reason: string | null } | null;
  readonly slots: { readonly used: number; readonly limit: number };
  readonly running: readonly (Row & { readonly warnings?: readonly { readonly text: string }[] })[];
  readonly retrying: readonly Row[];
  readonly waiting_quota: readonly Row[];
  readonly held: readonly Row[];
  readonly questions?: readonly (Row & { readonly id: string })[];
  readonly accounts?: readonly { readonly waits_for: string | null; readonly reason?: string | null }[];
  readonly skipped: readonly Row[];
  readonly totals: { readonly runs: number; readonly total_tokens: number | null };
  readonly workflow_problem: { readonly message: string } | null;
  /** Why nothing new starts on this machine. */
  readonly no_room: string | null;
  readonly polling?: ShownPolling;
  readonly jobs?: readonly { readonly name: string; readonly failures: number; readonly error: string | null }[];
  readonly findings?: readonly { readonly issue_identifier: string | null; readonly text: string }[];
  readonly errors: readonly { readonly step: string; readonly error: { readonly message: string } }[];
}

interface ShownPolling {
  readonly mode: string;
  readonly interval_ms: number;
  readonly quiet_until: string | null;
  readonly failures: number;
  readonly next_poll_at: string | null;
  readonly pressure: { readonly step: string; readonly text: string; readonly until: string | null };
}

/** What the store keeps for a daemon, whether one runs or not. */
interface Kept {
  readonly workflowPath: string;
  readonly waiting: number;
  readonly held: number;
}

/** Commands that wait are counted up to this. */
const mostCounted = 100;

type Row = Readonly<Record<string, string | number | null>> & { readonly issue_identifier: string };

/** `baton status`: what the daemon is doing, or that none answers and what waits for it. */
export async function status(flags: WorkplaceFlags & { json?: boolean }, surroundings: Surroundings): Promise<number> {
  const { stdout } = surroundings;
  // Our own daemon of the same version made it; a part that is missing shows as nothing.
  const found = (await daemonStatus(flags, surroundings)) as ShownStatus | null;
  const kept = await readKept(flags, surroundings).catch((thrown: unknown) => {
    // A daemon goes on with a workflow file that became bad, and a status is how one finds out.
    if (found === null) throw thrown;
    return null;
  });
  if (flags.json) {
    const counts = { waiting_commands: kept?.waiting ?? null, held_issues: kept?.held ?? null };
    stdout.write(jsonLine({ daemon: found !== null, ...counts, status: found }));
    return exitCodes.ok;
  }
  const lines =
    found === null
      ? [`No daemon answers for ${kept?.workflowPath}. To start one: ${startCommand(flags)}`]
      : describe(found);
  const waits = kept === null || (found !== null && kept.waiting === 0) ? [] : [`${commands(kept.waiting)}.`];
  const held = found === null && kept !== null ? [`${issues(kept.held)} held.`] : [];
  stdout.write(`${[...lines, ...waits, ...held].join('\n')}\n`);
  return exitCodes.ok;
}

async function readKept(flags: WorkplaceFlags, surroundings: Surroundings): Promise<Kept> {
  await using workplace = await openWorkplace(flags, surroundings);
  const { store, project, workflowPath } = workplace;
  const waiting = await store.commands.waiting(project.id, mostCounted);
  const held = await store.held.list(project.id);
  return { workflowPath, waiting: waiting.length, held: held.length };
}

function describe(status: ShownStatus): string[] {
  const { paused, slots, totals } = status;
  // What is claimed stands above already.
  const waiting = status.skipped.filter(({ code }) => code !== 'claimed');
  const shortened = withoutReasons(status);
  const state =
    paused === null
      ? 'running'
      : `${paused.kind === 'pause' ? 'paused' : 'draining'}${paused.reason === null ? '' : ` (${harmlessLine(paused.reason)})`}`;
  return [
    `Baton is ${state}: ${slots.used} of ${slots.limit} agents, ${totals.runs} runs, ${(totals.total_tokens ?? 0).toLocaleString('en')} tokens since its start`,
    ...polling(status.polling),
    ...parkedAccounts(status),
    ...(status.no_room === null ? [] : [`nothing new starts: ${harmlessLine(status.no_room)}`]),
    ...(status.workflow_problem === null ? [] : [`workflow file: ${harmlessLine(status.workflow_problem.message)}`]),
    ...troubles(status.errors),
    ...section('running', status.running, (row) => `${row.stage} · ${row.last_message ?? 'no event yet'}`),
    ...limitsNear(status),
    ...section('retrying', status.retrying, (row) => `at ${row.due_at} · ${row.wait_reason ?? row.error ?? row.kind}`),
    ...section(
      'waiting for quota',
      status.waiting_quota,
      (row) => `until ${row.due_at} · ${shortened(`${row.error}`)}`,
    ),
    ...section('asks you', status.questions ?? [], (row) => `${row.text} · ${showCommand(row, status)}`),
    ...section('held', status.held, (row) => shortened(`${row.reason}`)),
    ...section('waiting', waiting, (row) => shortened(`${row.reason}`)),
    ...failingJobs(status),
    ...toLookAt(status),
  ];
}

const consequences: Readonly<Record<string, string>> = {
  warned: 'nothing changes yet',
  stretched: 'polls are further apart, and nothing is tidied up',
  custody_only: 'nothing new starts; live runs are looked after',
  closed: 'nothing is sent',
};

/** How often the tracker is asked, and what is short. */
function polling(facts: ShownPolling | undefined): string[] {
  if (facts === undefined) return [];
  const { step, text, until } = facts.pressure;
  const mode = facts.mode === 'quiet' ? `quiet hours until ${facts.quiet_until}` : facts.mode;
  const why = facts.mode === 'fixed' ? '' : ` (${mode})`;
  const next = facts.next_poll_at === null ? '' : `, next at ${facts.next_poll_at}`;
  const pace = `every ${facts.interval_ms / 1_000} s${why}`;
  const lines =
    facts.failures === 0
      ? [`the tracker is looked at ${pace}${next}`]
      : [`the tracker did not answer ${facts.failures} times in a row; it is looked at less often than ${pace}${next}`];
  const what = consequences[step];
  if (what !== undefined)
    lines.push(`requests: ${harmlessLine(text)}${until === null ? '' : ` (until ${until})`}: ${what}`);
  return lines;
}

/** A poll that failed is the trouble of two steps; it is told once. */
function troubles(errors: ShownStatus['errors']): string[] {
  const steps = Map.groupBy(errors, ({ error }) => error.message);
  return [...steps].map(([message, each]) => `${each.map(({ step }) => step).join(', ')}: ${harmlessLine(message)}`);
}

/** That the tracker does not answer stands above. */
function failingJobs({ jobs = [] }: ShownStatus): string[] {
  const failing = jobs.filter(({ name, failures }) => failures > 0 && name !== 'tracker_poll');
  if (failing.length === 0) return [];
  const lines = failing.map(
    ({ name, failures, error }) => `  ${name.padEnd(18)} ${failures} × ${harmlessLine(error ?? '')}`,
  );
  return ['', 'jobs that failed', ...lines];
}

/** What the last look at the queue found. */
function toLookAt({ findings = [] }: ShownStatus): string[] {
  if (findings.length === 0) return [];
  const lines = findings.map(
    ({ issue_identifier, text }) => `  ${harmlessLine(issue_identifier ?? '').padEnd(12)} ${harmlessLine(text)}`,
  );
  return ['', 'worth a look', ...lines];
}

/** Why nothing starts on an account. */
/** What an account said when it was refused stands once, in its own line. */
function withoutReasons({ accounts = [] }: ShownStatus): (text: string) => string {
  const reasons = accounts.flatMap(({ waits_for: why, reason }) => (why && reason ? [reason.replace(/\.$/, '')] : []));
  return (text) => reasons.reduce((short, reason) => short.replaceAll(reason, () => 'see the account above'), text);
}

function parkedAccounts({ accounts = [] }: ShownStatus): string[] {
  return accounts.flatMap(({ waits_for: why }) => (why === null ? [] : [harmlessLine(why)]));
}

/** By the name of the issue, where that has no other question. */
function showCommand({ id, issue_identifier: name, waits_until: until }: Row, { questions = [] }: ShownStatus): string {
  const isOnly = questions.filter((each) => each.issue_identifier === name).length === 1;
  return `${askCommand(isOnly ? name : String(id))} (waits until ${until})`;
}

function startCommand({ workflow, stateDir }: WorkplaceFlags): string {
  const file = workflow === undefined || workflow === 'WORKFLOW.md' ? '' : ` ${shellArgument(workflow)}`;
  return `baton start${file}${stateDir === undefined ? '' : ` --state-dir ${shellArgument(stateDir)}`}`;
}

/** What a run is about to use up, or has. */
function limitsNear({ running }: ShownStatus): string[] {
  return running.flatMap(({ issue_identifier, warnings = [] }) =>
    warnings.map(({ text }) => `  ${harmlessLine(issue_identifier).padEnd(12)} near a limit: ${harmlessLine(text)}`),
  );
}

function section(title: string, rows: readonly Row[], detail: (row: Row) => string): string[] {
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
