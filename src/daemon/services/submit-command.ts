import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { CommandRequest } from '../../client/schema/command.ts';
import type { Chance } from '../../clock/chance.ts';
import { type Clock, timedOut, within } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { Author } from '../../core/issue/author.ts';
import { settingsOfAgent } from '../../core/run/choose-agent.ts';
import { threadToResume } from '../../core/run/thread-to-resume.ts';
import type { Settings } from '../../core/settings.ts';
import { whyNotForRun } from '../../orchestrator/commands/why-not-for-run.ts';
import type { SubmittedCommand } from '../../server/api/api-project.ts';
import type { Store } from '../../store/store.ts';
import type { Command, CommandResult } from '../../store/tables/commands.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import { lstatOrNull } from '../../workspace/file-system.ts';
import { checkoutFolders, readRecord } from '../../workspace/git/checkout/checkout-record.ts';
import { gitPlaces } from '../../workspace/git/git-places.ts';
import { adaptersIn } from '../adapters.ts';
import type { Surroundings } from '../surroundings.ts';

export interface SubmitParts extends ResumeParts {
  readonly clock: Clock;
  readonly chance: Chance;
  /** Carries out a stored command; null when the daemon stops first, or when none runs. */
  carryOut(command: Command): Promise<CommandResult | null>;
  /** How long to wait for an answer; 15 seconds if not set. */
  readonly answerMs?: number;
}

/** The daemon may be in the middle of a slow read of the tracker. */
const usualAnswerMs = 15_000;

/**
 * Stores a command, waits for its answer, and adds the facts that a person needs with it. A refused command rejects
 * with `command_refused`; one without a result waits in the store.
 */
export async function submitCommand(
  parts: SubmitParts,
  { key, reason, ...request }: CommandRequest,
  author: Author,
): Promise<SubmittedCommand> {
  const { store, project, clock, chance } = parts;
  const { kind, ...asked } = request;
  // Before it is stored: commands that are always refused must not fill the store.
  const notForRun = await whyNotForRun(store, { project, kind, payload: asked, author });
  if (notForRun !== null) throw commandRefused(notForRun, { kind, code: 'not_for_agents' });
  const payload = { ...asked, ...(await issueOfQuestion(parts, request)), ...hostOf(parts, kind) };
  const { command, created } = await store.commands.submit({
    id: chance.id(),
    project,
    kind,
    payload: { ...payload, ...(reason === undefined ? {} : { reason }) },
    author,
    at: clock.now(),
    key: key ?? null,
  });
  if (!created) refuseOther(command, kind, payload);
  const result = command.result ?? (await within(clock, parts.answerMs ?? usualAnswerMs, parts.carryOut(command)));
  const answered = result === timedOut || result === null ? command : { ...command, result };
  if (answered.result?.status === 'refused') {
    const { text, code, data } = answered.result;
    throw commandRefused(text, { id: command.id, kind, code, data });
  }
  return { command: answered, facts: await factsOf(parts, answered) };
}

/** Adds the issue of the question to an answer, because commands about one issue keep their order. */
async function issueOfQuestion(
  { store, project }: SubmitParts,
  request: Pick<CommandRequest, 'kind'> & { readonly question?: string },
): Promise<{ readonly issue?: string }> {
  if (request.kind !== 'question_answer' || request.question === undefined) return {};
  const stored = await store.questions.read(request.question);
  return stored === null || stored.project !== project ? {} : { issue: stored.issueId };
}

/** Workspaces and files are on this machine, and another daemon on the same store must leave them alone. */
function hostOf({ surroundings }: SubmitParts, kind: string): { readonly host?: string } {
  return kind === 'workspaces_prune' || kind === 'prune' ? { host: surroundings.hostName } : {};
}

/** The reason as one sentence. It need not say "refused": the error code does. */
function commandRefused(why: string, details: Readonly<Record<string, unknown>>): BatonError {
  const sentence = `${why.charAt(0).toUpperCase()}${why.slice(1)}`;
  return new BatonError('command_refused', /[.!?]$/.test(sentence) ? sentence : `${sentence}.`, { details });
}

/** Refuses a key that another command used: the caller would take that command's answer for its own. */
function refuseOther({ id, key, ...earlier }: Command, kind: string, payload: object): void {
  // A different reason is still the same command.
  const { reason: _reason, ...asked } = earlier.payload;
  if (earlier.kind === kind && isDeepStrictEqual(asked, payload)) return;
  throw new BatonError('command_refused', `The key "${key}" was used for another command (${earlier.kind}).`, {
    nextStep: 'Choose another key.',
    details: { id, kind: earlier.kind, code: 'key_in_use' },
  });
}

async function factsOf(parts: SubmitParts, command: Command): Promise<Readonly<Record<string, unknown>>> {
  if (command.result?.status !== 'done') return {};
  if (command.kind === 'issue_file') return { identifier: command.result.data.issue ?? null };
  if (command.kind !== 'issue_takeover' || typeof command.payload.issue !== 'string') return {};
  const run = await parts.store.runs.latestNamed(parts.project, command.payload.issue);
  if (run === null) return { workspace_path: null, resume_command: null, run_ended: null };
  return {
    run_id: run.runId,
    workspace_path: run.workspace,
    resume_command: await resumeLine(parts, run),
    // An agent gets time to end by itself; the stream reports when it has.
    run_ended: run.finish !== null,
  };
}

export interface ResumeParts {
  readonly store: Store;
  /** The project's id in the store. */
  readonly project: string;
  readonly stateDir: string;
  readonly settings: () => Settings;
  readonly surroundings: Pick<Surroundings, 'adapters' | 'hostName'>;
}

/** The program of an agent chose the id, and a person types it: it must be neither an option nor have characters that a terminal obeys. */
const plainId = /^\w[\w.:-]{0,199}$/;

/** How many runs of an issue are searched for a conversation to resume. */
const mostEarlier = 20;

/**
 * The shell command that opens the conversation of a run by hand. For a run that never had one, it opens that of the
 * previous run, which the next agent would resume. Null when there is none.
 */
export async function resumeLine(
  { store, project, stateDir, settings: settingsNow, surroundings }: ResumeParts,
  run: RunRecord,
): Promise<string | null> {
  const { issueId, backend, workspace } = run;
  // A run of an earlier version may have used a backend that no longer exists.
  const resume = adaptersIn(surroundings).backends.find(({ name }) => name === backend)?.resume;
  if (resume === undefined || workspace === null) return null;
  const all = run.threadId === null ? await store.runs.list(project, { issueId, limit: mostEarlier }) : [run];
  const runs = all.filter(({ seq }) => seq <= run.seq);
  const threadId = threadToResume({ backend, retryKind: 'handed_back' }, runs);
  const spoken = threadId === null ? undefined : runs.find((each) => each.threadId === threadId);
  if (spoken === undefined || threadId === null || !plainId.test(threadId)) return null;
  // An agent that the file no longer has: those of the file are the best guess.
  const settings = settingsOfAgent(settingsNow(), spoken.agent) ?? settingsNow();
  const account = settings.agent.accounts.find((each) => each.backend === backend && each.name === spoken.account);
  const plain = Object.entries(account?.env ?? {}).filter(
    (each): each is [string, string] => typeof each[1] === 'string',
  );
  const gitDir = await gitDirectoryOf(workspace, stateDir);
  const session = { workspace, threadId, home: account?.home ?? null, env: Object.fromEntries(plain), gitDir };
  return resume(session, settings);
}

/**
 * The git directory of a workspace, from Baton's own record of the checkout, or the one inside the workspace; null when
 * there is none. A `.git` that is a file or a link is not followed: an agent can write it, and the caller opens the
 * result for writing.
 */
async function gitDirectoryOf(workspace: string, stateDir: string): Promise<string | null> {
  try {
    const record = await readRecord(checkoutFolders(gitPlaces(stateDir), workspace).record);
    if (typeof record === 'object' && record.workspace === workspace) return record.gitDir;
    const inside = path.join(workspace, '.git');
    return (await lstatOrNull(inside))?.isDirectory() === true ? inside : null;
  } catch {
    // Without it the conversation still opens; only commits in it fail.
    return null;
  }
}
