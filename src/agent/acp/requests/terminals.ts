import type { LiveProcess, ProcessExit } from '../../../process/containment/live-process.ts';
import type { SessionRequest } from '../../agent.ts';
import { type AgentCommand, type AgentParts, launchBeside } from '../../launch-agent.ts';
import { type Fields, fieldsOf, listOf, numberOf, textOf } from '../../wire/fields.ts';
import { notFound, Refused } from '../wire/connection.ts';
import { folderInside } from './files.ts';

/** Terminals of one session, until the agent releases them. */
const mostTerminals = 32;
/** The most output of one terminal that is kept; the oldest part goes first. */
const mostOutputBytes = 1_024 * 1_024;
/** A longer line is cut. */
const longestLineBytes = 256 * 1024;
/** A command that is killed has had its time. */
const stopQuickly = { closeStdinMs: 0, terminateMs: 2_000, keepsOthers: true } as const;

interface Terminal {
  readonly process: LiveProcess;
  readonly limit: number;
  output: string;
  isTruncated: boolean;
  exit: ProcessExit | null;
  /** All output is read, and the command has ended. */
  readonly over: Promise<void>;
}

export interface TerminalParts {
  readonly request: SessionRequest;
  readonly parts: AgentParts;
  readonly roots: readonly string[];
  /** A command wrote something. */
  readonly onOutput: () => void;
}

/**
 * The terminals of a session: commands that the agent lets its client run. They have the containment, the isolation and
 * the environment of the agent itself. What must hold: no command outlives the session; their number and output are
 * bounded.
 */
export class Terminals {
  readonly #parts: TerminalParts;
  readonly #open = new Map<string, Terminal>();
  #starting = 0;
  #lastId = 0;
  #isClosed = false;

  constructor(parts: TerminalParts) {
    this.#parts = parts;
  }

  async create(params: Fields): Promise<object> {
    if (this.#open.size + this.#starting >= mostTerminals)
      throw new Refused(`More than ${mostTerminals} terminals are open: release some.`);
    const command = textOf(params.command) ?? '';
    if (command === '') throw new Refused('The request has no command.');
    const { request, parts, roots } = this.#parts;
    this.#starting += 1;
    try {
      const cwd = await folderInside(roots, textOf(params.cwd) ?? request.workspace);
      const asked = {
        ...textOfCommand(command, params),
        variables: variablesOf(params),
        maxLineBytes: longestLineBytes,
      };
      const process = await launchBeside(asked, cwd, request, parts);
      return this.#add(process, params);
    } finally {
      this.#starting -= 1;
    }
  }

  async output(params: Fields): Promise<object> {
    const terminal = this.#find(params);
    trim(terminal, terminal.limit);
    const { output, isTruncated, exit } = terminal;
    return { output, truncated: isTruncated, ...(exit === null ? {} : { exitStatus: statusOf(exit) }) };
  }

  async waitForExit(params: Fields): Promise<object> {
    const terminal = this.#find(params);
    await terminal.over;
    return terminal.exit === null ? {} : statusOf(terminal.exit);
  }

  async kill(params: Fields): Promise<object> {
    await this.#find(params).process.stop(stopQuickly);
    return {};
  }

  async release(params: Fields): Promise<object> {
    const { process } = this.#find(params);
    this.#open.delete(idOf(params));
    await process.stop(stopQuickly);
    return {};
  }

  /** The output of a terminal that a tool call shows; null when there is none. */
  shownIn(terminalId: string): { readonly output: string; readonly exitCode: number | null } | null {
    const terminal = this.#open.get(terminalId);
    return terminal === undefined ? null : { output: terminal.output, exitCode: terminal.exit?.code ?? null };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#open.values()].map(({ process }) => process.stop(stopQuickly)));
  }

  async #add(process: LiveProcess, params: Fields): Promise<object> {
    this.#lastId += 1;
    const id = `baton-terminal-${this.#lastId}`;
    const limit = Math.max(0, Math.min(numberOf(params.outputByteLimit) ?? mostOutputBytes, mostOutputBytes));
    const terminal: Terminal = {
      process,
      limit,
      output: '',
      isTruncated: false,
      exit: null,
      over: this.#read(process, () => terminal),
    };
    this.#open.set(id, terminal);
    // The session has ended while the command was starting.
    if (this.#isClosed) await process.stop(stopQuickly);
    return { terminalId: id };
  }

  async #read(process: LiveProcess, terminal: () => Terminal): Promise<void> {
    for await (const { text, truncated } of process.lines) {
      const it = terminal();
      it.output += `${text}\n`;
      it.isTruncated ||= truncated;
      // Twice the limit, so that a long output is not copied for each of its lines.
      if (it.output.length > 2 * it.limit) trim(it, it.limit);
      this.#parts.onOutput();
    }
    terminal().exit = await process.exited;
  }

  #find(params: Fields): Terminal {
    const terminal = this.#open.get(idOf(params));
    if (terminal === undefined) throw new Refused(`There is no terminal ${idOf(params)}.`, notFound);
    return terminal;
  }
}

const idOf = ({ terminalId }: Fields): string => textOf(terminalId) ?? '';

/** A command without arguments is shell text, as other clients read it. Error output goes where the output goes. */
function textOfCommand(command: string, { args }: Fields): Pick<AgentCommand, 'text' | 'args'> {
  const words = listOf(args).flatMap((each) => textOf(each) ?? []);
  return words.length === 0
    ? { text: `exec 2>&1; ${command}`, args: [] }
    : { text: 'exec "$@" 2>&1', args: [command, ...words] };
}

function variablesOf({ env }: Fields): Readonly<Record<string, string>> {
  return Object.fromEntries(
    listOf(env)
      .map(fieldsOf)
      .flatMap(({ name, value }) => (typeof name === 'string' && typeof value === 'string' ? [[name, value]] : [])),
  );
}

/** Removes the oldest output, by whole characters. */
function trim(terminal: Terminal, limit: number): void {
  const bytes = Buffer.from(terminal.output);
  if (bytes.length <= limit) return;
  let start = bytes.length - limit;
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  terminal.output = bytes.subarray(start).toString('utf8');
  terminal.isTruncated = true;
}

function statusOf({ code, signal }: ProcessExit): object {
  return { exitCode: code, signal };
}
