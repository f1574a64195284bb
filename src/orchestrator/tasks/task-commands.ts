import { BatonError, toBatonError } from '../../core/baton-error.ts';
import type { CommandKind } from '../../core/command/command.ts';
import { type CommandAnswer, done, refused } from '../../core/command/command-answers.ts';
import { normalizeLabels } from '../../core/issue/issue.ts';
import { steersBaton } from '../../core/issue/steering-labels.ts';
import {
  decisionOf,
  descriptionOf,
  type IssuesProposal,
  issuesIn,
  learningsIn,
  type ProposedIssue,
  partsOf,
  withRefused,
} from '../../core/task/proposal.ts';
import { proposedLabel, proposedState } from '../../core/task/scan.ts';
import { newTaskId, type Task } from '../../core/task/task.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { TrackerChanges } from '../../tracker/tracker.ts';
import type { BaseParts } from '../parts.ts';
import { askAsBaton } from '../status/ask-as-baton.ts';
import { askTracker } from '../status/move-issue.ts';
import { beginLearning } from './learner.ts';
import { acceptLearnings } from './learning-commands.ts';
import { offerTask } from './offer-task.ts';
import type { OpenProposals } from './open-proposals.ts';
import { beginScan, type ScanParts } from './scanner.ts';

export type TaskCommandParts = ScanParts &
  Pick<BaseParts, 'requestTick' | 'stopping'> & { readonly proposals: OpenProposals };

const taskCommandKinds = [
  'intake_begin',
  'scan_begin',
  'setup_begin',
  'learn_begin',
  'task_accept',
  'task_refuse',
  'task_retry',
] as const;

export type TaskCommandKind = (typeof taskCommandKinds)[number];

export function isTaskCommandKind(kind: CommandKind): kind is TaskCommandKind {
  return (taskCommandKinds as readonly CommandKind[]).includes(kind);
}

/** A person asks for a task, or decides about what its agent proposed. */
export async function changeTask(
  parts: TaskCommandParts,
  command: Command,
  kind: TaskCommandKind,
): Promise<CommandAnswer> {
  if (kind === 'intake_begin') return beginIntake(parts, command);
  if (kind === 'scan_begin') return beginScan(parts, command);
  if (kind === 'setup_begin') return beginSetup(parts, command);
  if (kind === 'learn_begin') return beginLearning(parts, command);
  const { project, store } = parts;
  const taskId = String(command.payload.task ?? '').trim();
  const task = await store.tasks.read({ project, taskId });
  if (task === null) throw new BatonError('task_not_found', `There is no task "${harmlessLine(taskId)}".`);
  const answer = await acts[kind](parts, task, command);
  if (answer.status === 'done') {
    parts.reads.forget(task.id);
    await parts.proposals.read();
    parts.notify();
  }
  return answer;
}

/** The title of an intake: its first line that says something. */
const longestTitle = 80;

async function beginIntake(parts: TaskCommandParts, { id, author, payload }: Command): Promise<CommandAnswer> {
  const { clock, project, store } = parts;
  const text = String(payload.text ?? '').trim();
  if (text === '') return refused('nothing_to_say', 'The text of the intake is empty.');
  const first = harmlessLine(text.split('\n').find((line) => line.trim() !== '') ?? '').trim();
  const title = first.length > longestTitle ? `${first.slice(0, longestTitle - 1).toWellFormed()}…` : first;
  // The same command, carried out again after a crash, makes the same task.
  const taskId = newTaskId('intake', id);
  const draft = {
    id: taskId,
    kind: 'intake',
    title: `Intake: ${title}`,
    text,
    author,
    createdAt: clock.now(),
  } as const;
  await store.tasks.add(project, draft);
  await offerTask(parts, taskId);
  return done('task_waits', `An agent will read the text. To see what it proposes: baton intake show ${taskId}`, {
    task: taskId,
  });
}

/** One at a time: a second one would find out the same. */
async function beginSetup(parts: TaskCommandParts, { id, author }: Command): Promise<CommandAnswer> {
  const { clock, project, source, store } = parts;
  if (source.read().workflow.settings.workspace.repo === null)
    return refused('no_repository', 'A setup needs a repository. Set workspace.repo in the workflow file.');
  const [waiting] = await store.tasks.list(project, { kind: 'setup', statuses: ['waiting'], limit: 1 });
  const taskId = waiting?.id ?? newTaskId('setup', id);
  const draft = { id: taskId, kind: 'setup', title: 'Setup: build, test and lint', text: '' } as const;
  if (waiting === undefined) await store.tasks.add(project, { ...draft, author, createdAt: clock.now() });
  await offerTask(parts, taskId);
  const text = `An agent will find out how the repository is built and tested. To see what it proposes: baton setup show ${taskId}`;
  return done('task_waits', text, { task: taskId });
}

type Act = (parts: TaskCommandParts, task: Task, command: Command) => Promise<CommandAnswer>;

const acts: Readonly<Record<Exclude<TaskCommandKind, `${string}_begin`>, Act>> = {
  task_accept: (parts, task, command) => {
    if (task.kind === 'setup') return acceptSetup(parts, task, command);
    return task.kind === 'learn' ? acceptLearned(parts, task, command) : acceptIssues(parts, task, command);
  },

  async task_refuse(parts, task, { payload }) {
    const { clock, project, store, requestTick } = parts;
    const chosen = numbersIn(payload.numbers);
    if (chosen !== null && task.status === 'proposed') return refuseSome(parts, task, chosen);
    const proposal = withRefused(task.proposal, () => true);
    if (!(await store.tasks.decide({ project, taskId: task.id }, decisionOf(proposal), proposal, clock.now())))
      return decidedBefore(task);
    // Its agent, if it has one, is stopped by the next look at its task.
    requestTick();
    return done('task_refused', `${task.id} is refused.`, { task: task.id });
  },

  async task_retry(parts, task) {
    const { clock, project, store } = parts;
    if (!(await store.tasks.tryAgain({ project, taskId: task.id }, clock.now())))
      return refused('not_failed', `${task.id} has not failed: it is ${task.status}.`, { status: task.status });
    parts.reads.forget(task.id);
    await offerTask(parts, task.id);
    return done('task_waits', `${task.id} is tried again.`, { task: task.id });
  },
};

/** The person's own program has written the file: Baton never edits it. */
async function acceptSetup({ clock, project, store }: TaskCommandParts, task: Task, { payload }: Command) {
  if (typeof payload.revision !== 'string')
    return refused('written_by_person', `To write it into the workflow file: baton setup accept ${task.id}`);
  if (task.status !== 'accepted') {
    if (task.status !== 'proposed') return decidedBefore(task);
    await store.tasks.decide({ project, taskId: task.id }, 'accepted', task.proposal, clock.now());
  }
  return done('setup_accepted', `${task.id} is accepted.`, { task: task.id, revision: payload.revision });
}

async function acceptIssues(parts: TaskCommandParts, task: Task, command: Command): Promise<CommandAnswer> {
  const { clock, project, source, store, trackerFor } = parts;
  const { proposal } = task;
  if (task.status === 'accepted') return nothingOpen(task);
  if (task.status !== 'proposed' || proposal?.kind !== 'issues') return decidedBefore(task);
  const create = trackerFor(source.read().workflow.settings).changes?.createIssue;
  if (create === undefined)
    return refused('tracker_elsewhere', 'Baton cannot file issues in this tracker. File them there.');
  const { numbers, duplicates } = command.payload;
  const chosen = numbersIn(numbers) ?? openNumbers(proposal.issues, duplicates === true);
  const unknown = chosen.filter((number) => proposal.issues[number - 1] === undefined);
  if (unknown.length > 0) return unknownNumber(unknown, proposal.issues.length);
  const accepted = await fileChosen(parts, { ...task, proposal }, command, chosen, create);
  if ('refusal' in accepted) return accepted.refusal;
  const { issues, filed } = accepted;
  const open = issues.filter(({ decision }) => decision === 'open').length;
  if (open === 0)
    await store.tasks.decide({ project, taskId: task.id }, 'accepted', { ...proposal, issues }, clock.now());
  parts.requestTick();
  const text = filed.length === 0 ? 'Nothing was filed.' : `Filed ${filed.join(', ')}.`;
  const rest = open === 0 ? '' : ` ${open} wait for your decision.`;
  return done('proposals_accepted', `${text}${rest}`, { task: task.id, filed });
}

/** What a person accepts becomes a learning; the rest of the proposal stays open. */
async function acceptLearned(parts: TaskCommandParts, task: Task, command: Command): Promise<CommandAnswer> {
  const { clock, project, store } = parts;
  const { proposal } = task;
  const known = (made: readonly string[], rest = ''): CommandAnswer =>
    done('learnings_accepted', `${made.length === 0 ? 'Nothing was noted.' : `Noted ${made.join(', ')}.`}${rest}`, {
      task: task.id,
      learnings: made,
    });
  if (task.status === 'accepted') return known(learningsIn(proposal).flatMap(({ learning }) => learning ?? []));
  if (task.status !== 'proposed' || proposal?.kind !== 'learnings') return decidedBefore(task);
  const open = proposal.learnings.flatMap(({ decision }, at) => (decision === 'open' ? [at + 1] : []));
  const chosen = numbersIn(command.payload.numbers) ?? open;
  const unknown = chosen.filter((number) => proposal.learnings[number - 1] === undefined);
  if (unknown.length > 0) return unknownNumber(unknown, proposal.learnings.length);
  const texts = editsIn(command.payload.edits);
  const accepted = await acceptLearnings(parts, { ...task, proposal }, command, chosen, texts);
  if ('refusal' in accepted) return accepted.refusal;
  const left = accepted.proposal.learnings.filter(({ decision }) => decision === 'open').length;
  if (left === 0) await store.tasks.decide({ project, taskId: task.id }, 'accepted', accepted.proposal, clock.now());
  return known(accepted.made, left === 0 ? '' : ` ${left} wait for your decision.`);
}

/** Each is noted at once: after a crash the command files only what is missing, under the same keys. */
async function fileChosen(
  parts: TaskCommandParts,
  { id, kind, proposal }: Task & { readonly proposal: IssuesProposal },
  { author, payload }: Command,
  chosen: readonly number[],
  create: NonNullable<TrackerChanges['createIssue']>,
): Promise<
  { readonly issues: readonly ProposedIssue[]; readonly filed: readonly string[] } | { readonly refusal: CommandAnswer }
> {
  const { clock, project, source, store } = parts;
  const edits = editsIn(payload.edits);
  const steers = steersBaton(source.read().workflow.settings);
  const issues = [...proposal.issues];
  const filed: string[] = [];
  for (const number of chosen) {
    const before = issues[number - 1];
    if (before === undefined || before.decision === 'accepted') continue;
    const wanted = { ...before, ...edits.get(number) };
    const { title, priority } = wanted;
    // An agent chose them; a person who wants Baton to merge this one says so at the issue.
    const labels = wanted.labels.filter((label) => !steers(label));
    const place =
      kind === 'scan' ? { state: proposedState, labels: [...new Set([...labels, proposedLabel])] } : { labels };
    const draft = { title, priority, ...place, description: descriptionOf(wanted), key: `${id}#${number}` };
    try {
      // A tracker that never answers must not keep the next commands waiting.
      const made = await askTracker(parts, (signal) =>
        // The words are an agent's, whose own text may be a stranger's: no one has to read them all to accept them.
        create(draft, author, askAsBaton(parts, id, { signal, caller: { job: 'commands', cause: 'person' } })),
      );
      issues[number - 1] = { ...wanted, decision: 'accepted', issue: made.identifier };
      filed.push(made.identifier);
    } catch (thrown) {
      const error = toBatonError(thrown);
      if (error.retryable) throw error;
      const others = filed.length === 0 ? '' : ` Filed before it: ${filed.join(', ')}.`;
      const text = `Number ${number} was not filed: ${error.message}${others}`;
      return { refusal: refused(error.code, text, { ...error.details, filed }) };
    }
    await store.tasks.note({ project, taskId: id }, { ...proposal, issues }, clock.now());
  }
  return { issues, filed };
}

/** Without numbers all that are open, but a duplicate only where the person asks for those too. */
function openNumbers(issues: readonly ProposedIssue[], withDuplicates: boolean): readonly number[] {
  return issues.flatMap(({ decision, duplicateOf }, at) =>
    decision === 'open' && (withDuplicates || duplicateOf === null) ? [at + 1] : [],
  );
}

async function refuseSome(
  { clock, project, store }: TaskCommandParts,
  task: Task,
  numbers: readonly number[],
): Promise<CommandAnswer> {
  const parts = partsOf(task.proposal);
  if (parts.length === 0) return decidedBefore(task);
  const unknown = numbers.filter((number) => parts[number - 1]?.decision !== 'open');
  if (unknown.length > 0) return unknownNumber(unknown, parts.length);
  const next = withRefused(task.proposal, (number) => numbers.includes(number));
  const [key, status] = [{ project, taskId: task.id }, decisionOf(next)];
  const isOpen = partsOf(next).some(({ decision }) => decision === 'open');
  await (isOpen ? store.tasks.note(key, next, clock.now()) : store.tasks.decide(key, status, next, clock.now()));
  return done('task_refused', `Refused number ${numbers.join(', ')} of ${task.id}.`, { task: task.id, numbers });
}

function unknownNumber(unknown: readonly number[], most: number): CommandAnswer {
  const text = `There is no open proposal with the number ${unknown.join(', ')}; the numbers go from 1 to ${most}.`;
  return refused('unknown_proposal', text, { numbers: unknown });
}

function decidedBefore({ id, status }: Task): CommandAnswer {
  const text = status === 'waiting' ? `${id} has no proposal yet.` : `${id} is ${status} already.`;
  return refused('task_not_open', text, { status });
}

function nothingOpen({ id, proposal }: Task): CommandAnswer {
  const filed = issuesIn(proposal).flatMap(({ issue }) => issue ?? []);
  return done('proposals_accepted', `${id} was accepted before. Filed ${filed.join(', ')}.`, { task: id, filed });
}

function numbersIn(value: unknown): readonly number[] | null {
  const numbers = Array.isArray(value) ? value.filter((each) => typeof each === 'number') : [];
  return numbers.length === 0 ? null : [...new Set(numbers)];
}

/** What a person changed in a proposal before accepting it, by its number. The schema of the command has checked it. */
function editsIn(value: unknown): ReadonlyMap<number, Partial<ProposedIssue> & { readonly text?: string }> {
  const edits = Array.isArray(value) ? (value as readonly Record<string, unknown>[]) : [];
  return new Map(
    edits.map(({ number, text, title, description, priority, labels, acceptance_criteria: criteria }) => [
      Number(number),
      {
        ...(typeof text === 'string' ? { text } : {}),
        ...(typeof title === 'string' ? { title } : {}),
        ...(typeof description === 'string' ? { description } : {}),
        ...(typeof priority === 'number' || priority === null ? { priority } : {}),
        ...(Array.isArray(labels) ? { labels: normalizeLabels(labels.map(String)) } : {}),
        ...(Array.isArray(criteria) ? { criteria: criteria.map(String) } : {}),
      },
    ]),
  );
}
