import { answersText } from '../core/command/answer-text.ts';
import {
  changeText,
  commentsText,
  type ExistingChange,
  messageText,
  type NewComments,
} from '../core/command/message-text.ts';
import { type Learning, learningLine } from '../core/learning/learning.ts';
import { earlierWorkText } from '../core/run/earlier-work.ts';
import { fenceRule, fenceState, unfencedLine } from '../core/text/fence.ts';
import type { RetryKind } from '../core/workflow.ts';
import type { RunRequest } from './runner.ts';

export interface FirstPrompt {
  readonly request: Pick<
    RunRequest,
    'threadId' | 'retryKind' | 'recovery' | 'answers' | 'answersBefore' | 'messages' | 'earlier'
  >;
  readonly whole: string;
  /** Why its phase goes on, for an agent that remembers the rest; null: it has none. */
  readonly phaseNews?: string | null;
  /** Whether the agent remembers the thread that it should resume. */
  readonly isResumed: boolean;
  /** What people said to the run before its agent existed. */
  readonly said: readonly string[];
  /** Encloses text of untrusted authors, here and in `whole`. */
  readonly fenceMark: string;
  /** Null: they could not be read. */
  readonly comments: NewComments | null;
  /** The commits so far, for a prompt with words of people; null without such words, or without commits. */
  readonly change: ExistingChange | null;
}

/**
 * The first prompt. An agent that remembers its thread learns why the work continues, and nothing that it already
 * knows. Any other agent gets the whole prompt. If it should have resumed a thread, or needs context for a person's
 * answer, it also gets a summary of the previous run. A thread without a turn does not contain the prompt either. Every
 * agent that cannot remember earlier answers gets them again, so that no person answers twice. Words come before the
 * facts about the change.
 */
export function firstPrompt(prompt: FirstPrompt): string {
  const { request, whole, phaseNews = null, isResumed, said, fenceMark, comments, change } = prompt;
  const { messages, earlier } = request;
  const knowsIssue = isResumed && earlier?.turns !== 0;
  const answers = knowsIssue ? request.answers : [...request.answersBefore, ...request.answers];
  const begins = knowsIssue ? continuesText(request, phaseNews) : whole;
  const words = [
    ...messages.map((message) => messageText(message, fenceMark)),
    ...commentsText(comments, fenceMark),
  ].join('\n\n');
  const hasFence = words !== '' && fenceState(words, fenceMark) !== 'none';
  const needsRule = hasFence && fenceState(begins, fenceMark) === 'none';
  return [
    ...(needsRule ? [fenceRule(fenceMark)] : []),
    begins,
    ...(!knowsIssue && earlier !== null && needsSummary(prompt) ? [earlierWorkText(earlier)] : []),
    ...(answers.length === 0 ? [] : [answersText(answers)]),
    ...(words === '' ? [] : [words]),
    ...saidText(said),
    ...(change === null ? [] : [changeText(change)]),
  ].join('\n\n');
}

function needsSummary({ request, comments }: FirstPrompt): boolean {
  const { threadId, retryKind, recovery, answers, messages } = request;
  const isAddressed = answers.length + messages.length + (comments?.comments.length ?? 0) > 0;
  // The same attempt with a smaller budget: it begins as it did before.
  if (recovery === 'reduced_budget') return isAddressed;
  const isNews = retryKind === 'handed_back' || retryKind === 'revision';
  return threadId !== null || recovery !== null || isAddressed || isNews;
}

function continuesText({ retryKind, recovery, messages }: FirstPrompt['request'], phaseNews: string | null): string {
  const isOrdinary = retryKind === null || retryKind === 'continuation';
  const why = isOrdinary && (messages.length > 0 || phaseNews !== null) ? 'revision' : (retryKind ?? 'continuation');
  const text = guidance(
    `The work on this issue continues in this thread. ${recovery === 'compact' ? compacted : reasons[why]}`,
  );
  return phaseNews === null ? text : `${text}\n\n${phaseNews}`;
}

const compacted =
  'The thread had become too long and was shortened. Check the workspace for the work that is already done.';

const reasons: Readonly<Record<RetryKind | 'revision', string>> = {
  interrupted: 'You were stopped in the middle of your work: a command that was running may be half done.',
  quota: 'Your account had used up its quota and has quota again.',
  answered: 'You were stopped because you needed an answer from a person.',
  handed_back: 'A person worked on it by hand and handed it back: files may have changed, so check them first.',
  continuation: 'Your last run ended, but the issue is still in an active state.',
  failure: 'Your last run failed.',
  revision: 'Your work came back to you, for the reasons below. The issue may have changed, so read it again.',
  review: 'Your change is in review.',
};

/** The whole prompt with what earlier work taught. People accepted each learning, so it is trusted as their words are. */
export function withLearnings(whole: string, learnings: readonly Learning[], mark: string): string {
  if (learnings.length === 0) return whole;
  const lines = learnings.map((learning) => unfencedLine(learningLine(learning), mark));
  return [whole, ['Earlier work in this project taught the following:', ...lines].join('\n')].join('\n\n');
}

/** The prompt of each turn after the first, for an agent that remembers its thread (specification 12; row 1.5). */
export function continuationPrompt(turn: number, maxTurns: number): string {
  return [
    guidance(
      'Your last turn ended normally, but the issue is still in an active state.',
      `This is continuation turn #${turn} of ${maxTurns} for the current agent run.`,
    ),
    '- Finish the remaining work on the issue. Do not end the turn while the issue is active unless you are really blocked.',
  ].join('\n');
}

/** The turn after one that left work without a commit, with `agent.after_success: review`. */
export function commitPrompt(): string {
  return [
    'Your last turn ended with work that is not committed.',
    '- Commit everything that belongs to the issue on the current branch, then end the turn. Only commits reach review.',
    '- If the work is not ready, finish it first. Remove files that do not belong to it.',
  ].join('\n');
}

function guidance(...why: readonly string[]): string {
  return [
    'Continuation guidance:',
    '',
    ...why.map((line) => `- ${line}`),
    '- Continue from the current workspace; do not start from the beginning.',
    '- The instructions and the issue are already in this thread; do not repeat them.',
  ].join('\n');
}

/** What people said to the agent, as the last part of a prompt. It is trusted and not changed. */
export function saidText(said: readonly string[]): string[] {
  return said.length === 0 ? [] : [['A person says to you:', ...said].join('\n\n')];
}
