import type { AgentSession, SessionRequest, TurnResult } from '../agent/agent.ts';
import { BatonError } from '../core/baton-error.ts';
import { answersText } from '../core/command/answer-text.ts';
import type { AgentQuestion } from '../core/command/question.ts';
import { countIdleTurn, isStalemate, noIdleTurns, stalemateError } from '../core/run/stalemate.ts';
import { harmlessLine, harmlessLines } from '../core/text/harmless-line.ts';
import { judgeTurns, verdictPrompt } from './judge-run.ts';
import { plannerTurns, planReminder } from './planner-run.ts';
import { commitPrompt, continuationPrompt, saidText } from './prompts.ts';
import type { RunRequest } from './runner.ts';
import type { Steering } from './steering.ts';
import { taskReminder } from './task-run.ts';
import type { TurnLimit } from './turn-limit.ts';

export interface TurnLoop {
  readonly request: RunRequest;
  readonly session: AgentSession;
  /** The first prompt; also the prompt of every turn for an agent that remembers none. */
  readonly prompt: string;
  readonly steering: Steering;
  readonly limit: TurnLimit;
  readonly ask: SessionRequest['ask'];
  /** The fingerprint of the workspace before the first turn, and the function that takes it again. */
  readonly fingerprint: string | null;
  readonly readFingerprint: () => Promise<string | null>;
  /** What the workspace has that neither the base nor an earlier review had; only asked with `agent.after_success: review`. */
  readonly readWork: () => Promise<WorkSoFar>;
  readonly isStillToBeDone: () => Promise<boolean>;
  /** The agent has said by a tool what it had to say. */
  readonly isDone: () => boolean;
  /** The prompt of a further turn, for an agent that has not said it. */
  readonly continues: () => string;
  /** Records the prompt of a turn before the agent gets it. */
  readonly onPrompt: (turn: number, text: string) => void;
  readonly signal: AbortSignal;
}

/** `committed`: commits and nothing else; `uncommitted`: changed files, with or without commits. */
export type WorkSoFar = 'none' | 'committed' | 'uncommitted';

/**
 * Runs turns until the issue needs no more work, the agent has no memory of earlier turns, the turns make no progress,
 * or the limit is reached. With `agent.after_success: review` a run ends as soon as all its work is committed, and an
 * agent that left some uncommitted gets one more turn for it, whether it remembers turns or not. What a person answers
 * or says always reaches the agent: it gets a turn even beyond the limit. Returns whether the agent was asked to commit.
 */
export async function runTurns(loop: TurnLoop): Promise<boolean> {
  const { request, steering } = loop;
  const { maxIdleTurns } = request.workflow.settings.agent;
  const { maxTurns, continues } = turnsOf(request, loop.continues);
  let isReminded = false;
  let idle = noIdleTurns(loop.fingerprint);
  let text = loop.prompt;
  for (let turn = 1; ; turn += 1) {
    request.report({ kind: 'stage', stage: 'streaming_turn' });
    request.report({ kind: 'turn', turn });
    loop.onPrompt(turn, text);
    const result = await runTurn(loop, text);
    if (result.status === 'input_required') {
      text = again(loop, await answerTo(result.question, loop.ask));
      continue;
    }
    const message = messageOf(result);
    if (message !== '') request.report({ kind: 'message', text: message });
    const next = await afterWork(loop, isReminded);
    if (next === 'end') return isReminded;
    if (next === 'remind') {
      isReminded = true;
      text = again(loop, commitPrompt());
      continue;
    }
    if (maxIdleTurns > 0) {
      const heardPerson = steering.takeHeard();
      idle = countIdleTurn(idle, { message, heardPerson, fingerprint: await loop.readFingerprint() });
    }
    const isIdle = isStalemate(idle, maxIdleTurns);
    if (turn >= maxTurns && !isIdle && steering.closeIfNothingIsKept()) return isReminded;
    if (!(await loop.isStillToBeDone())) return isReminded;
    if (isIdle && steering.closeIfNothingIsKept()) throw stalemateError(idle);
    text = [continues(turn + 1), ...saidText(steering.take())].join('\n\n');
  }
}

/** How many turns a run has, and the prompt of each after the first. */
function turnsOf(
  { role, phase, task, workflow }: RunRequest,
  reminder: () => string,
): {
  readonly maxTurns: number;
  readonly continues: (turn: number) => string;
} {
  if (role === 'judge') return { maxTurns: judgeTurns, continues: () => verdictPrompt };
  if (role === 'phase_judge') return { maxTurns: judgeTurns, continues: reminder };
  if (role === 'planner') return { maxTurns: plannerTurns, continues: () => planReminder };
  if (role === 'phase') return { maxTurns: phase?.contract?.maxTurns ?? judgeTurns, continues: reminder };
  if (task !== null) return { maxTurns: judgeTurns, continues: () => taskReminder(task) };
  const { maxTurns } = workflow.settings.agent;
  return { maxTurns, continues: (turn) => continuationPrompt(turn, maxTurns) };
}

/** The prompt of a further turn, also for an agent that remembers none. */
function again({ session, prompt, steering }: TurnLoop, text: string): string {
  return [...(session.remembersTurns ? [] : [prompt]), text, ...saidText(steering.take())].join('\n\n');
}

/** What the work so far means for a run that leads to review. Without any work it continues like every run. */
async function afterWork(loop: TurnLoop, isReminded: boolean): Promise<'end' | 'remind' | 'go_on'> {
  const { request, session, steering } = loop;
  if (loop.isDone() && steering.closeIfNothingIsKept()) return 'end';
  const goesOn = session.remembersTurns ? 'go_on' : 'end';
  // Its parts did the work, and the agent found nothing left to do.
  if (request.parts.length > 0 && (await loop.readWork()) === 'none' && steering.closeIfNothingIsKept()) return 'end';
  if (request.role !== 'worker' || request.workflow.settings.agent.afterSuccess !== 'review') return goesOn;
  const work = await loop.readWork();
  if (work === 'uncommitted' && !isReminded) return (await loop.isStillToBeDone()) ? 'remind' : 'end';
  return work !== 'none' && steering.closeIfNothingIsKept() ? 'end' : goesOn;
}

async function runTurn({ request, session, limit, signal }: TurnLoop, text: string): Promise<TurnResult> {
  const tooLong = limit.begin();
  try {
    const result = await session.runTurn(text, AbortSignal.any([signal, tooLong]));
    if (result.status === 'completed' || !tooLong.aborted || signal.aborted) return result;
  } finally {
    limit.end();
  }
  const { turnWallTimeMs } = request.workflow.settings.agent;
  const message = `The turn took longer than ${turnWallTimeMs} ms (agent.turn_wall_time_ms).`;
  const nextStep = 'Make the issue smaller, or raise `agent.turn_wall_time_ms`.';
  throw new BatonError('agent_turn_timeout', message, { nextStep });
}

/** The last message of a turn that ended well; throws the error of any other turn. */
function messageOf(result: Exclude<TurnResult, { status: 'input_required' }>): string {
  switch (result.status) {
    case 'completed':
      return result.message?.trim() ?? '';
    case 'failed':
      throw result.error;
    case 'cancelled':
      throw new BatonError('run_cancelled', 'The turn was cancelled.');
  }
}

const longestQuestion = 500;

/** Asks a person for what the agent needs to continue; returns the answer in words. */
async function answerTo(asked: string, ask: SessionRequest['ask']): Promise<string> {
  const text = harmlessLine(asked);
  const isWhole = text.length <= longestQuestion && !asked.trim().includes('\n');
  const question: AgentQuestion = {
    kind: 'input',
    text: isWhole ? text : `${text.slice(0, longestQuestion).toWellFormed()}…`,
    detail: isWhole ? '' : harmlessLines(asked),
    fields: [{ name: 'answer', label: 'Answer', options: [], allowsOther: true, isSecret: false }],
  };
  const answer = await ask(question);
  if (answer === null) throw new BatonError('agent_input_required', `The agent asks: ${question.text}`);
  return answersText([{ question, answer }]);
}
