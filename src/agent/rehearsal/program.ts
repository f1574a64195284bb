import { createInterface } from 'node:readline';
import { sleep } from '../../clock/clock.ts';
import { systemChance } from '../../clock/system-chance.ts';
import { systemClock } from '../../clock/system-clock.ts';
import { answerInPrompt } from './answer-in-prompt.ts';
import { chosenScript, scriptQuestion } from './choices.ts';
import { beginning, type Memory, openMemory, rehearsalHome } from './memory.ts';
import { createInbox } from './message-inbox.ts';
import { performStep, type StepContext } from './perform-step.ts';
import { decode, encode, type FromBaton, type FromProgram, fromBaton } from './protocol.ts';
import { findScript, partOf, type Step, stepsOf, withoutScript } from './script.ts';
import { rehearsalSpeed, speedIn } from './speed.ts';
import { wordsInPrompt } from './words-in-prompt.ts';

// The scripted agent as a program: reads turns on standard input, acts out the script it finds in the prompt, and
// reports what it does on standard output. It ends when its input ends.

type Answer = Extract<FromBaton, { id: number }>;
const waiting = new Map<number, (answer: Answer) => void>();
let lastId = 0;
/** The last thing it said in this turn. */
let lastMessage: string | undefined;

const speed = speedIn(process.env[rehearsalSpeed]);
const inbox = createInbox(systemClock, (text) => say({ type: 'message', text }));

const context: StepContext = {
  cwd: process.cwd(),
  env: process.env,
  isFirstRun: process.env.BATON_ATTEMPT === undefined,
  say: (message) => say(message),
  callTool: async (name, input) => {
    const answer = await request((id) => ({ type: 'tool_call', id, name, input }));
    return answer.type === 'tool_answer' ? answer : { success: false, output: 'Baton sent no answer to the tool call' };
  },
  sleep: (ms) => sleep(systemClock, ms / speed),
  // With a higher speed it does not listen to people.
  listen: (ms) => inbox.listen(speed === 1 ? ms : 0),
};

let memory: Memory | null = null;
for await (const line of createInterface({ input: process.stdin })) {
  const message = decode(fromBaton, line);
  if (message?.type === 'start') memory = start(message.thread_id);
  if (message?.type === 'turn' && memory !== null) void playTurn(message.prompt, memory);
  if (message?.type === 'steer') {
    say({ type: 'message', text: `received: ${message.text}` });
    inbox.add(message.text);
  }
  if (message?.type === 'tool_answer' || message?.type === 'answer') waiting.get(message.id)?.(message);
}
process.exit(0);

function start(threadId: string | null): Memory {
  const opened = openMemory(process.env[rehearsalHome], threadId, systemChance.id());
  say({ type: 'ready', thread_id: opened.threadId, is_resumed: opened.isResumed });
  return opened;
}

/**
 * Acts out one turn. The turn fails at the first step that cannot be done; at the end of the script it asks for the
 * next one.
 */
async function playTurn(prompt: string, thread: Memory): Promise<void> {
  lastMessage = undefined;
  const found = findScript(prompt, partOf(process.env));
  const chosen = found === null ? chosenScript(prompt, process.env.BATON_ISSUE_IDENTIFIER ?? 'this issue') : null;
  try {
    const script = found ?? chosen;
    if (script !== null) thread.keep({ ...beginning, script });
    const steps = stepsOf(thread.place.script ?? '', thread.place.turn);
    if (thread.place.script === null || steps === undefined) {
      say({ type: 'input_required', question: scriptQuestion });
      return;
    }
    for (let step = steps[thread.place.step]; step !== undefined; step = steps[thread.place.step]) {
      const end = step.firstRunOnly && !context.isFirstRun ? null : await attempt(step, prompt, thread);
      if (end !== null) return say(end);
      thread.keep({ ...thread.place, step: thread.place.step + 1, times: 0 });
    }
    thread.keep({ ...thread.place, turn: thread.place.turn + 1, step: 0, times: 0 });
    say({ type: 'turn_completed', ...(lastMessage === undefined ? {} : { message: lastMessage }) });
  } catch (error) {
    // Later runs ask again instead of repeating the choice.
    if (chosen !== null) thread.keep(beginning);
    say({ type: 'turn_failed', message: error instanceof Error ? error.message : String(error) });
  }
}

/** Does one step; a step marked `try` may fail. */
async function attempt(step: Step, prompt: string, thread: Memory): Promise<FromProgram | null> {
  try {
    return await play(step, prompt, thread);
  } catch (error) {
    if (step.isTried !== true) throw error;
    say({ type: 'message', text: `failed and continued: ${error instanceof Error ? error.message : String(error)}` });
    return null;
  }
}

/** Does one step. Returns the message that ends the turn, or null when the next step follows. */
async function play(step: Step, prompt: string, thread: Memory): Promise<FromProgram | null> {
  const isPast = (): void => thread.keep({ ...thread.place, step: thread.place.step + 1, times: 0 });
  switch (step.verb) {
    case 'say':
      lastMessage = step.text;
      break;
    case 'ask': {
      const answer = answerInPrompt(prompt, step.text) ?? (await ask(step));
      lastMessage = `answered: ${answer}`;
      say({ type: 'message', text: lastMessage });
      return null;
    }
    case 'quote': {
      const content = wordsInPrompt(prompt).map((words) => `${words}\n`);
      const { text: file, firstRunOnly } = step;
      if (content.length > 0)
        await performStep({ verb: 'append', file, content: content.join(''), firstRunOnly }, context);
      return null;
    }
    case 'idle':
      say({ type: 'message', text: step.text });
      return { type: 'turn_completed', message: step.text };
    case 'quota': {
      const times = thread.lasts ? thread.place.times : Number(process.env.BATON_RETRY_KIND === 'quota') * step.times;
      if (times >= step.times) return null;
      thread.keep({ ...thread.place, times: times + 1 });
      return { type: 'out_of_quota', back_after_ms: step.backAfterMs };
    }
    case 'judge':
      await judge(step.text, prompt);
      return null;
    case 'context':
      isPast();
      return { type: 'out_of_context', kind: step.kind };
    case 'auth':
      isPast();
      return { type: 'logged_out', message: step.text };
  }
  await performStep(step, context);
  return null;
}

/** Approves an artifact that has the text. */
async function judge(text: string, prompt: string): Promise<void> {
  const isGood = withoutScript(prompt).includes(text);
  const findings = [{ problem: `The artifact does not mention "${text}".`, wanted: `Say something about "${text}".` }];
  const summary = isGood ? 'The artifact is complete.' : 'Something is missing.';
  const answer = isGood
    ? await context.callTool('approve_phase', { summary })
    : await context.callTool('reject_phase', { summary, findings });
  if (!answer.success) throw new Error(`the verdict was refused: ${answer.output}`);
}

async function ask({ text, options }: Extract<Step, { verb: 'ask' }>): Promise<string> {
  const answer = await request((id) => ({ type: 'ask', id, text, options: [...options] }));
  if (answer.type !== 'answer' || answer.text === null) throw new Error(`no one answered the question: ${text}`);
  return answer.text;
}

/** Sends a message that Baton answers, and waits for the answer. */
function request(message: (id: number) => FromProgram): Promise<Answer> {
  lastId += 1;
  const { promise, resolve } = Promise.withResolvers<Answer>();
  waiting.set(lastId, resolve);
  say(message(lastId));
  return promise;
}

function say(message: FromProgram): void {
  process.stdout.write(encode(message));
}
