import { BatonError } from '../../core/baton-error.ts';
import { type CommandAnswer, done, refused } from '../../core/command/command-answers.ts';
import {
  isOffered,
  type Learning,
  type LearningStatus,
  learningStatuses,
  longestLearning,
} from '../../core/learning/learning.ts';
import type { LearningsProposal } from '../../core/task/proposal.ts';
import type { Task } from '../../core/task/task.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { BaseParts } from '../parts.ts';

type Parts = Pick<BaseParts, 'clock' | 'notify' | 'project' | 'source' | 'store'>;

const learningCommandKinds = ['learning_add', 'learning_edit', 'learning_veto', 'learning_restore'] as const;

export type LearningCommandKind = (typeof learningCommandKinds)[number];

export function isLearningCommandKind(kind: string): kind is LearningCommandKind {
  return (learningCommandKinds as readonly string[]).includes(kind);
}

/** A person writes, edits, vetoes or restores a learning. Only people do: a run has no such command. */
export async function changeLearning(
  parts: Parts,
  { id, author, payload }: Command,
  kind: LearningCommandKind,
): Promise<CommandAnswer> {
  const { clock, project, store } = parts;
  const at = clock.now();
  const text = oneLine(payload.text);
  const needsText = kind === 'learning_add' || kind === 'learning_edit';
  const problem = needsText ? whyNotText(text) : null;
  if (problem !== null) return problem;
  if (kind === 'learning_add') {
    const learning = await store.learnings.add(project, {
      text,
      origins: [],
      author,
      status: firstStatus(parts),
      at,
      key: id,
    });
    return answered(parts, 'learning_added', `${learning} is noted. The next agents get it.`, learning);
  }
  const learning = await find(parts, String(payload.learning ?? ''));
  if (kind === 'learning_edit') {
    // Another text needs another trial.
    if (learning.text !== text)
      await store.learnings.change(project, learning.id, { status: firstStatus(parts), text, at }, learningStatuses);
    return answered(parts, 'learning_edited', `${learning.id} is changed.`, learning.id);
  }
  if (kind === 'learning_veto') {
    await store.learnings.change(project, learning.id, { status: 'vetoed', at }, others('vetoed'));
    return answered(parts, 'learning_vetoed', `${learning.id} is vetoed. No agent gets it any more.`, learning.id);
  }
  if (!isOffered(learning))
    await store.learnings.change(project, learning.id, { status: firstStatus(parts), at }, [
      'faded',
      'vetoed',
      'replaced',
    ]);
  return answered(parts, 'learning_restored', `${learning.id} is restored. The next agents get it.`, learning.id);
}

function others(status: LearningStatus): readonly LearningStatus[] {
  return learningStatuses.filter((each) => each !== status);
}

function firstStatus({ source }: Parts): LearningStatus {
  return source.read().workflow.settings.learner.trialIssues === 0 ? 'kept' : 'trial';
}

function answered({ notify }: Parts, code: Parameters<typeof done>[0], text: string, learning: string): CommandAnswer {
  notify();
  return done(code, text, { learning });
}

/** A learning is one line of a prompt. */
function oneLine(text: unknown): string {
  return harmlessLine(String(text ?? '').replace(/\s+/g, ' ')).trim();
}

function whyNotText(text: string): CommandAnswer | null {
  if (text === '') return refused('nothing_to_say', 'The text of the learning is empty.');
  if (text.length <= longestLearning) return null;
  const message = `The text has ${text.length} characters, and at most ${longestLearning} are allowed.`;
  return refused('learning_too_long', message, { most: longestLearning });
}

async function find({ project, store }: Parts, name: string): Promise<Learning> {
  const wanted = name.trim().toUpperCase();
  const found = (await store.learnings.list(project)).find(({ id }) => id === wanted);
  if (found !== undefined) return found;
  throw new BatonError('learning_not_found', `There is no learning "${harmlessLine(name)}".`);
}

/** A person accepts learnings that an agent proposed, as they are or with another text. */
export async function acceptLearnings(
  parts: Parts,
  { id, proposal }: Task & { readonly proposal: LearningsProposal },
  { author }: Pick<Command, 'author'>,
  chosen: readonly number[],
  edits: ReadonlyMap<number, { readonly text?: string }>,
): Promise<
  { readonly proposal: LearningsProposal; readonly made: readonly string[] } | { readonly refusal: CommandAnswer }
> {
  const { clock, project, store } = parts;
  const learnings = [...proposal.learnings];
  const made: string[] = [];
  for (const number of chosen) {
    const before = learnings[number - 1];
    if (before === undefined || before.decision === 'accepted') continue;
    const text = oneLine(edits.get(number)?.text ?? before.text);
    const refusal = whyNotText(text);
    if (refusal !== null) return { refusal };
    const { origins, replaces } = before;
    // Under its key: the same command after a crash makes it once.
    const key = `${id}#${number}`;
    const draft = { text, origins, author, status: firstStatus(parts), at: clock.now(), key };
    const learning = await store.transaction(async (tables) => {
      for (const old of replaces)
        await tables.learnings.change(project, old, { status: 'replaced', at: clock.now() }, [
          'trial',
          'kept',
          'faded',
        ]);
      return tables.learnings.add(project, draft);
    });
    learnings[number - 1] = { ...before, text, decision: 'accepted', learning };
    made.push(learning);
    await store.tasks.note({ project, taskId: id }, { ...proposal, learnings }, clock.now());
  }
  return { proposal: { ...proposal, learnings }, made };
}
