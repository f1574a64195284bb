import * as z from 'zod';
import { sleep } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { LiveProcess } from '../../process/containment/live-process.ts';
import type { Agent, AgentEventName, AgentSession, SessionRequest, TurnResult } from '../agent.ts';
import { eventLine } from '../event-line.ts';
import { type AgentParts, endAgent, launchAgent } from '../launch-agent.ts';
import { SilenceTimer } from '../silence-timer.ts';
import { endEvent } from '../wire/event-sink.ts';
import { ReportFile } from './report-file.ts';

export interface CommandAgentOptions {
  /** Shell text from the workflow file, run by `sh -c`. */
  readonly command: string;
  readonly turnTimeoutMs: number;
}

/**
 * Any program as an agent: the prompt goes to its standard input, each line of its output is an event, the last line is
 * its last message, and its exit code is the outcome unless it reports another one. One turn is one process; the program remembers nothing of the
 * turn before, so a run has one turn.
 *
 * It can call Baton's tools over MCP (streamable HTTP): `BATON_TOOLS_URL` is the address, and `BATON_TOOLS_TOKEN` is
 * the bearer token, which is valid while the run lasts. Both are absent where there is no MCP endpoint. It can also
 * report in the file `BATON_REPORT_FILE`, which Baton reads every second and once more when the program has ended: what it
 * uses, how it ended, and a question to a person, whose answer comes with the next prompt. In a session that only reads
 * its workspace it gets `BATON_READ_ONLY`; the isolation enforces it, where there is one.
 */
export function createCommandAgent(options: CommandAgentOptions, parts: AgentParts): Agent {
  return {
    backend: 'command',
    usageByTool: true,
    startSession: async (request) => {
      request.signal?.throwIfAborted();
      const reports = await createReportFile(parts);
      emit(request, parts, 'session_started', 'ready to start the command', null);
      return new CommandSession(withWays(request, reports), options, parts, reports);
    },
  };
}

/** Without the file its usage could not be counted, so nothing is started. */
async function createReportFile({ daemonEnv }: AgentParts): Promise<ReportFile> {
  try {
    return await ReportFile.create(daemonEnv.TMPDIR ?? '/tmp');
  } catch (cause) {
    throw new BatonError('agent_launch_failed', 'Failed to make the folder for the reports of agent.command.', {
      cause,
    });
  }
}

/** The request with the ways in which the program reaches Baton. */
function withWays(request: SessionRequest, reports: ReportFile): SessionRequest {
  const { toolAddress } = request;
  const tools = toolAddress === null ? {} : { BATON_TOOLS_URL: toolAddress.url, BATON_TOOLS_TOKEN: toolAddress.token };
  return { ...request, env: { ...request.env, ...tools, BATON_REPORT_FILE: reports.path } };
}

/** The tool that a line of the report file calls, by the `type` of the line. */
const toolOfReport: ReadonlyMap<unknown, string> = new Map([['usage', 'report_usage']]);
const reportIntervalMs = 1_000;

/** What a program says in the report file about its turn; the last line of each type counts. */
const saying = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('question'), question: z.string().trim().min(1) }),
  z.strictObject({
    type: z.literal('outcome'),
    status: z.enum(['succeeded', 'failed']),
    message: z.string().trim().optional(),
  }),
]);
type Saying = z.output<typeof saying>;

/** The program already has its whole input, so closing the input will not make it end. */
const inputHasEnded = { closeStdinMs: 0 };

const linesPerBatch = 500;

/** The last message is cut to this length. */
const longestMessage = 4_096;

/** How much of the error output of a failed program is stored. */
const shownTail = 2_048;

class CommandSession implements AgentSession {
  readonly threadId = null;
  readonly isResumed = false;
  readonly remembersTurns = false;
  readonly #request: SessionRequest;
  readonly #options: CommandAgentOptions;
  readonly #parts: AgentParts;
  readonly #reports: ReportFile;
  #process: LiveProcess | null = null;
  #launching: Promise<LiveProcess> | null = null;
  #turn: Promise<TurnResult> | null = null;
  #stopped = false;
  #silence: SilenceTimer | null = null;
  #said: { readonly [type in Saying['type']]?: Extract<Saying, { type: type }> } = {};

  constructor(request: SessionRequest, options: CommandAgentOptions, parts: AgentParts, reports: ReportFile) {
    this.#reports = reports;
    this.#request = request;
    this.#options = options;
    this.#parts = parts;
  }

  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  async runTurn(prompt: string, signal?: AbortSignal): Promise<TurnResult> {
    if (this.#stopped || signal?.aborted) return { status: 'cancelled' };
    this.#turn = this.#run(prompt, signal);
    return this.#turn;
  }

  pauseSilence(): () => void {
    return this.#silence?.pause() ?? (() => {});
  }

  async #run(prompt: string, signal: AbortSignal | undefined): Promise<TurnResult> {
    const args = ['-c', this.#options.command];
    const program = { command: 'sh', args, stdin: { text: prompt }, writes: [this.#reports.folder] };
    let process: LiveProcess;
    try {
      this.#launching = launchAgent(program, this.#request, this.#parts);
      process = await this.#launching;
    } catch (cause) {
      // Errors of Baton, such as a lost claim or a path that isolation hides, say more than that.
      const isKnown = cause instanceof BatonError && cause.code !== 'process_spawn_failed';
      const failed = new BatonError('agent_launch_failed', 'Failed to start agent.command.', { cause });
      const error = isKnown ? cause : failed;
      return this.#end({ status: 'failed', error });
    }
    this.#process = process;
    this.#said = {};
    this.#emit('turn_started', 'the command is running');
    const result = await this.#follow(process, signal);
    this.#process = null;
    return result;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    // A program that is just starting has to be ended too. Its turn reports why it could not start.
    const process = this.#process ?? (await this.#launching?.catch(() => null)) ?? null;
    if (process !== null) await endAgent(process, inputHasEnded);
    // Ensures that no event comes after this. The caller of `runTurn` gets the result of the turn.
    await this.#turn?.catch(() => {});
    await this.#reports.remove();
  }

  /** Reads the program's output to its end, then judges its exit. Silence and the signal end the program first. */
  async #follow(process: LiveProcess, signal: AbortSignal | undefined): Promise<TurnResult> {
    let silent = false;
    const end = (): void => void process.stop(inputHasEnded);
    const silence = new SilenceTimer(this.#parts.clock, this.#options.turnTimeoutMs, () => {
      silent = true;
      end();
    });
    this.#silence = silence;
    signal?.addEventListener('abort', end, { once: true });
    const ended = new AbortController();
    const reported = this.#followReports(ended.signal);
    // The abort or the stop may have come while the program was starting.
    if (signal?.aborted || this.#stopped) end();
    try {
      let lines = 0;
      let lastMessage = '';
      for await (const line of process.lines) {
        silence.touch();
        this.#emit('notification', line.text);
        lastMessage = line.text.slice(0, longestMessage).trim() || lastMessage;
        lines += 1;
        // One piece of output may hold thousands of lines, and other sessions need the event loop.
        if (lines % linesPerBatch === 0) await sleep(this.#parts.clock, 0);
      }
      const exit = await process.exited;
      await endAgent(process, inputHasEnded);
      ended.abort();
      await reported;
      if (signal?.aborted || this.#stopped) return this.#end({ status: 'cancelled' });
      if (silent) return this.#end({ status: 'failed', error: this.#silenceError() });
      return this.#judge(process, exit, lastMessage);
    } finally {
      ended.abort();
      this.#silence = null;
      silence.cancel();
      signal?.removeEventListener('abort', end);
    }
  }

  /** The end of a program that ended by itself: by what it reported, and its exit. */
  #judge(process: LiveProcess, exit: Awaited<LiveProcess['exited']>, lastMessage: string): TurnResult {
    const { question, outcome } = this.#said;
    if (question !== undefined) return this.#end({ status: 'input_required', question: question.question });
    const message = outcome?.message?.slice(0, longestMessage) || lastMessage;
    if (exit.code === 0 && outcome?.status === 'failed') {
      const why = message === '' ? 'The program reports that it failed.' : `The program reports: ${eventLine(message)}`;
      return this.#end({ status: 'failed', error: new BatonError('agent_turn_failed', why) });
    }
    if (exit.code === 0) return this.#end({ status: 'completed', ...(message === '' ? {} : { message }) });
    const how = exit.code === null ? `was ended by ${exit.signal}` : `exited with code ${exit.code}`;
    const kept = process.stderrTail().trim();
    const stderr = kept.slice(-shownTail);
    // Only whole lines: the first line of a cut text may be the end of a secret, which no one could recognize.
    const errorLines = stderr
      .split('\n')
      .slice(stderr === kept ? 0 : 1)
      .filter((line) => line.trim() !== '');
    for (const line of errorLines) this.#emit('notification', line);
    // Some programs say why on their ordinary output.
    const lastLine = eventLine(outcome?.message || errorLines.at(-1) || lastMessage);
    const why = `The command of the agent ${how}${lastLine === '' ? '.' : `: ${lastLine}`}`;
    const error = new BatonError('agent_exited', why, {
      details: { exit_code: exit.code, signal: exit.signal, stderr },
    });
    return this.#end({ status: 'failed', error });
  }

  /** Passes reports on until the program has ended and its last ones are read. Never rejects. */
  async #followReports(ended: AbortSignal): Promise<void> {
    for (let isLast = false; !isLast; ) {
      await sleep(this.#parts.clock, reportIntervalMs, ended).catch(() => {});
      isLast = ended.aborted;
      for (const report of await this.#reports.read()) {
        const said = saying.safeParse(report);
        if (said.success) {
          this.#said = { ...this.#said, [said.data.type]: said.data };
          continue;
        }
        const { type, ...input } = report ?? {};
        const tool = toolOfReport.get(type);
        const answer = tool === undefined ? null : await this.#request.tools.call(tool, input);
        if (answer?.success !== true)
          this.#emit('malformed', answer?.output ?? 'a line of the report file is no report');
      }
    }
  }

  #silenceError(): BatonError {
    const { turnTimeoutMs } = this.#options;
    return new BatonError('agent_turn_timeout', `The command of the agent printed nothing for ${turnTimeoutMs} ms.`);
  }

  #end(result: TurnResult): TurnResult {
    this.#emit(...endEvent(result, true));
    return result;
  }

  #emit(name: AgentEventName, summary: string): void {
    emit(this.#request, this.#parts, name, summary, this.pid);
  }
}

function emit(
  request: SessionRequest,
  parts: AgentParts,
  name: AgentEventName,
  summary: string,
  pid: number | null,
): void {
  const shown = eventLine(summary);
  const event = { name, at: parts.clock.now(), pid, summary: shown };
  request.onEvent(shown === summary ? event : { ...event, payload: { text: summary } });
}
