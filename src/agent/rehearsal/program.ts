import { createInterface } from 'node:readline';
import { sleep } from '../../clock/clock.ts';
import { systemChance } from '../../clock/system-chance.ts';
import { systemClock } from '../../clock/system-clock.ts';
import { performStep, type Stage } from './perform-step.ts';
import { decode, encode, type FromProgram, fromBaton } from './protocol.ts';
import { parseScript, type Step } from './script.ts';

// The stand-in agent as a program: reads turns on standard input, acts out the script it finds in the prompt, and
// tells what it does on standard output. It ends when its input does.

const waiting = new Map<number, (answer: { success: boolean; output: string }) => void>();
let lastCall = 0;
/** What is left of the script, by turn. */
let turns: Step[][] = [];

const stage: Stage = {
  cwd: process.cwd(),
  env: process.env,
  isFirstRun: process.env.BATON_ATTEMPT === undefined,
  say: (message) => say(message),
  callTool: (name, input) => {
    lastCall += 1;
    const { promise, resolve } = Promise.withResolvers<{ success: boolean; output: string }>();
    waiting.set(lastCall, resolve);
    say({ type: 'tool_call', id: lastCall, name, input });
    return promise;
  },
  sleep: (ms) => sleep(systemClock, ms),
};

say({ type: 'ready', thread_id: systemChance.id() });
for await (const line of createInterface({ input: process.stdin })) {
  const message = decode(fromBaton, line);
  if (message?.type === 'turn') void playTurn(message.prompt);
  if (message?.type === 'tool_answer') waiting.get(message.id)?.(message);
}
process.exit(0);

/** Acts out one turn. The first step that cannot be done fails it; a script at its end asks for the next one. */
async function playTurn(prompt: string): Promise<void> {
  try {
    turns = parseScript(prompt) ?? turns;
    const steps = turns.shift();
    if (steps === undefined) {
      say({ type: 'input_required', question: 'The rehearsal script is at its end. What shall the stand-in act out?' });
      return;
    }
    for (const step of steps.filter((each) => stage.isFirstRun || !each.firstRunOnly)) {
      if (step.verb === 'ask') {
        say({ type: 'input_required', question: step.text });
        return;
      }
      await performStep(step, stage);
    }
    say({ type: 'turn_completed' });
  } catch (error) {
    say({ type: 'turn_failed', message: error instanceof Error ? error.message : String(error) });
  }
}

function say(message: FromProgram): void {
  process.stdout.write(encode(message));
}
