import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { CommandRequest } from '../../client/schema/command.ts';
import type { Chance } from '../../clock/chance.ts';
import { type Clock, timedOut, within } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import { whyNotForRuns } from '../../core/command/command.ts';
import type { Author } from '../../core/issue/author.ts';
import { threadToResume } from '../../core/run/thread-to-resume.ts';
import type { Settings } from '../../core/settings.ts';
import type { SubmittedCommand } from '../../server/api/api-project.ts';
import type { Store } from '../../store/store.ts';
import type { Command, CommandResult } from '../../store/tables/commands.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import { lookAt } from '../../workspace/file-system.ts';
import { checkoutFolders, readRecord } from '../../workspace/git/checkout/checkout-record.ts';
import { gitPlaces } from '../../workspace/git/git-places.ts';
import { adaptersIn } from '../adapters.ts';
import type { Surroundings } from '../surroundings.ts';

export interface SubmitParts extends ResumeParts {
  readonly clock: Clock;
  readonly chance: Chance;
  /** Carries out a command that was written; null when nothing does before the daemon stops, or where none runs. */
  carryOut(command: Command): Promise<CommandResult | null>;
}

/** How long an answer is waited for; the daemon may be in the middle of a slow read of the tracker. */
const answerMs = 15_000;

/**
 * Writes a command and waits for its answer, and tells what a person needs to know besides it. One that is refused
 * rejects with `command_refused`; one without a result waits in the store.
 */
export async function submitCommand(
  parts: SubmitParts,
  { key, reason, ...request }: CommandRequest,
  author: Author,
): Promise<SubmittedCommand> {
  const { store, project, clock, chance } = parts;
  const { kind, ...asked } = request;
  // Before it is written: what is refused anyway must not fill the store.
  const notForRuns = author.kind === 'run' ? whyNotForRuns(kind) : null;
  if (notForRuns !== null) throw commandRefused(notForRuns, { kind, code: 'not_for_agents' });
  const payload = { ...asked, ...(await issueOfQuestion(parts, request)) };
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
  const result = command.result ?? (await within(clock, answerMs, parts.carryOut(command)));
  const answered = result === timedOut || result === null ? command : { ...command, result };
  if (answered.result?.status === 'refused') {
    const { text, code, data } = answered.result;
    throw commandRefused(text, { id: command.id, kind, code, data });
  }
  return { command: answered, facts: await factsOf(parts, answered) };
}

/** Commands about one issue keep their order: an answer is about the issue of its question. */
async function issueOfQuestion(
  { store, project }: SubmitParts,
  request: Pick<CommandRequest, 'kind'> & { readonly question?: string },
): Promise<{ readonly issue?: string }> {
  if (request.kind !== 'question_answer' || request.question === undefined) return {};
  const stored = await store.questions.read(request.question);
  return stored === null || stored.project !== project ? {} : { issue: stored.issueId };
}

/** The reason as one sentence: that it was refused is told by the code, and by the program that shows it. */
function commandRefused(why: string, details: Readonly<Record<string, unknown>>): BatonError {
  const sentence = `${why.charAt(0).toUpperCase()}${why.slice(1)}`;
  return new BatonError('command_refused', /[.!?]$/.test(sentence) ? sentence : `${sentence}.`, { details });
}

/** The answer to another command would be taken for the answer to this one. */
function refuseOther({ id, key, ...earlier }: Command, kind: string, payload: object): void {
  // Why it was asked for changes nothing.
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
    // An agent is given time to end by itself: the stream tells when it has.
    run_ended: run.finish !== null,
  };
}

export interface ResumeParts {
  readonly store: Store;
  /** The project's id in the store. */
  readonly project: string;
  readonly stateDir: string;
  readonly settings: () => Settings;
  readonly surroundings: Pick<Surroundings, 'adapters'>;
}

/** So many runs of an issue are searched for the conversation to go on with. */
const mostEarlier = 20;

/**
 * The line for a shell that opens the conversation of a run by hand; of a run that never had one, that of the run before
 * it, which the next agent would go on with. Null where there is none.
 */
export async function resumeLine(
  { store, project, stateDir, settings: settingsNow, surroundings }: ResumeParts,
  run: RunRecord,
): Promise<string | null> {
  const { issueId, backend, workspace } = run;
  // A run of an earlier version may have had a backend that is not there any more.
  const resume = adaptersIn(surroundings).backends.find(({ name }) => name === backend)?.resume;
  if (resume === undefined || workspace === null) return null;
  const all = run.threadId === null ? await store.runs.list(project, { issueId, limit: mostEarlier }) : [run];
  const runs = all.filter(({ seq }) => seq <= run.seq);
  const threadId = threadToResume({ backend, retryKind: 'handed_back' }, runs);
  const spoken = threadId === null ? undefined : runs.find((each) => each.threadId === threadId);
  if (spoken === undefined || threadId === null) return null;
  const settings = settingsNow();
  const account = settings.agent.accounts.find((each) => each.backend === backend && each.name === spoken.account);
  const gitDir = await gitDirectoryOf(workspace, stateDir);
  return resume({ workspace, threadId, home: account?.home ?? null, gitDir }, settings);
}

/**
 * The git directory of a workspace, by Baton's own record of the checkout, or the one that lies in it; null where there is
 * none. A file or a link `.git` is not followed: an agent can write it, and what it names is opened for writing by whoever
 * asks here.
 */
async function gitDirectoryOf(workspace: string, stateDir: string): Promise<string | null> {
  try {
    const record = await readRecord(checkoutFolders(gitPlaces(stateDir), workspace).record);
    if (typeof record === 'object' && record.workspace === workspace) return record.gitDir;
    const inside = path.join(workspace, '.git');
    return (await lookAt(inside))?.isDirectory() === true ? inside : null;
  } catch {
    // Without it the conversation opens all the same; only a commit in it does not work.
    return null;
  }
}
