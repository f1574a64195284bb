import { statSync } from 'node:fs';
import { dirname, normalize } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { type Clock, type Timer, within } from '../clock/clock.ts';
import { BatonError, toBatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import type { TakenChanges, WaitingChanges, WorkflowReading, WorkflowSource } from '../core/workflow.ts';
import { changedSettings } from './changed-settings.ts';
import { type KeptSettings, type LoadedWorkflow, parseWorkflow, revisionWith } from './load-workflow.ts';
import { decodeText, readWorkflowBytes } from './read-workflow-bytes.ts';
import { type ReadFile, readPromptFile } from './second-prompt.ts';
import { tryTemplates } from './template/try-templates.ts';
import type { WorkflowContext } from './workflow-context.ts';
import { toWorkflowError } from './workflow-problems.ts';

export interface WorkflowFileOptions {
  /** Absolute. */
  readonly path: string;
  readonly context: WorkflowContext;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Editors write in several steps; a short delay avoids errors about a half-written file. */
const settleMs = 100;
/** Some file systems count time in steps of two seconds, so only an older time is sure to show every change. */
const settledAfterMs = 3_000;
/** The watcher is only for speed, so the start does not wait for it longer than this. */
const longestWaitForWatcherMs = 5000;

type Listener = (reading: WorkflowReading) => void;

/**
 * The workflow file while the daemon runs (specification 6.2).
 *
 * Two things notice a change. `read` checks the file before each use, which is correct whatever happened to the file or
 * its directory: it compares the content, unless file and times equal those of the last check and the times are old
 * enough to show every change. A watcher on the directory calls `read` soon after an edit, so that the edit counts
 * before the next tick. The watcher may fail or miss events; that costs only time.
 *
 * When the file is invalid or gone, the last good reading stays in force. The problem is reported once when it appears
 * and once when it is fixed, and the same invalid content is not parsed twice.
 *
 * A change of a guarded key waits: its value from before stays in force until `takeWaiting`, while all other changes of
 * the file count. The caller knows whether an agent could have made it, and who may let it count.
 */
export class WorkflowFile implements WorkflowSource, AsyncDisposable {
  /** Reads the file, which has to be valid, and starts to watch it. */
  static async start(options: WorkflowFileOptions): Promise<WorkflowFile> {
    const file = new WorkflowFile(options);
    await file.#startWatching();
    return file;
  }

  readonly #options: WorkflowFileOptions;
  readonly #listeners = new Set<Listener>();
  /** The file and times of the last check; null when they could hide a change. */
  #stamp: string | null = null;
  /** The result of the last check: the revision of the content, or why there is none. */
  #seen: string;
  #workflow: LoadedWorkflow;
  #problem: BatonError | null = null;
  /** What the file wants, while some of it waits. */
  #wanted: { readonly workflow: LoadedWorkflow; readonly changes: WaitingChanges } | null = null;
  /** The files of prompts that the content names, absolute. */
  readonly #prompts = new Set<string>();
  #watcher: FSWatcher | null = null;
  #nextCheck: Timer | null = null;

  private constructor(options: WorkflowFileOptions) {
    this.#options = options;
    const bytes = readWorkflowBytes(options.path);
    this.#workflow = usableWorkflow(bytes, options, this.#readPrompt);
    this.#seen = this.#seenNow(bytes);
    this.#logWarnings([]);
  }

  /** Checks the file and returns the newest good reading. */
  read(): WorkflowReading & { readonly workflow: LoadedWorkflow } {
    const { path } = this.#options;
    // Taken before the content is read: the next check finds a change between the two.
    const stamp = this.#readStamp();
    if (stamp !== null && stamp === this.#stamp) return this.#reading();
    this.#stamp = stamp;
    let content: Buffer | BatonError;
    try {
      content = readWorkflowBytes(path);
    } catch (thrown) {
      content = toBatonError(thrown);
    }
    const seen = content instanceof BatonError ? content.message : this.#seenNow(content);
    if (seen !== this.#seen) {
      this.#seen = seen;
      this.#take(content);
    }
    return this.#reading();
  }

  takeWaiting(revision: string | null): TakenChanges {
    this.read();
    if (this.#wanted === null) return 'none_wait';
    const { workflow, changes } = this.#wanted;
    if (revision !== null && revision !== changes.revision) return 'others_wait';
    const before = this.#workflow;
    this.#workflow = workflow;
    this.#wanted = null;
    const keys = changes.settings.map(({ key }) => key);
    this.#options.logger.info('workflow_changes_taken', { path: workflow.path, revision: changes.revision, keys });
    this.#logWarnings(before.warnings);
    this.#publish();
    return { keys };
  }

  #reading(): WorkflowReading & { readonly workflow: LoadedWorkflow } {
    const waiting = this.#wanted === null ? {} : { waiting: this.#wanted.changes };
    return { workflow: this.#workflow, problem: this.#problem, ...waiting };
  }

  /**
   * Calls `listener` for each new reading, and when a problem appears, changes or is fixed. Returns the unsubscribe
   * function.
   */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Ends the watch. `read` still works. */
  async stop(): Promise<void> {
    this.#nextCheck?.cancel();
    this.#listeners.clear();
    const watcher = this.#watcher;
    this.#watcher = null;
    await watcher?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** File times are as coarse as the file system: a change right after another may not show in them. */
  #readStamp(): string | null {
    const stamps: string[] = [];
    for (const file of [this.#options.path, ...this.#prompts]) {
      const found = statSync(file, { bigint: true, throwIfNoEntry: false });
      if (found === undefined || !found.isFile()) return null;
      const ageMs = this.#options.clock.now() - Number(found.ctimeMs);
      if (!(ageMs > settledAfterMs)) return null;
      stamps.push([found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' '));
    }
    return stamps.join(';');
  }

  /** Notes the files of prompts that the content names: their changes are changes of the workflow. */
  readonly #readPrompt: ReadFile = (file) => {
    this.#prompts.add(file);
    return readPromptFile(file);
  };

  /** The revision of the content with the prompts that the last reading named; a prompt that cannot be read is a content too. */
  #seenNow(bytes: Uint8Array): string {
    const texts = [...this.#prompts].map((file) => {
      try {
        return decodeText(readPromptFile(file), file).trim();
      } catch (thrown) {
        return toBatonError(thrown).message;
      }
    });
    return revisionWith(bytes, texts.length === 0 ? null : texts.join('\0'));
  }

  #take(content: Buffer | BatonError): void {
    const { path, logger } = this.#options;
    try {
      if (content instanceof BatonError) throw content;
      const before = this.#workflow;
      // Content that returns to the last good one is the same reading, not a new one.
      const wanted = before.revision === this.#seen ? before : this.#parse(content);
      const { changed, guarded } = changesOf(before, wanted);
      const mixed = guarded.length === 0 ? wanted : this.#withoutGuarded(content, guarded);
      // Where the other changes mean nothing without them, all of them wait.
      const waiting = mixed === null ? changed : guarded;
      this.#wanted = waiting.length === 0 ? null : { workflow: wanted, changes: this.#waitingIn(wanted, waiting) };
      this.#workflow = mixed ?? before;
      const isFixed = this.#problem !== null;
      this.#problem = null;
      logger.info(isFixed ? 'workflow_recovered' : 'workflow_reloaded', {
        path,
        revision: this.#workflow.revision,
        keys: changed.filter((key) => !waiting.includes(key)),
      });
      if (waiting.length > 0) logger.warn('workflow_changes_wait', { path, revision: wanted.revision, keys: waiting });
      this.#logWarnings(before.warnings);
    } catch (thrown) {
      this.#problem = toBatonError(thrown);
      this.#wanted = null;
      const { code, message, nextStep } = this.#problem;
      logger.error('workflow_invalid', {
        path,
        code,
        reason: message,
        next_step: nextStep,
        revision: this.#workflow.revision,
      });
    }
    this.#publish();
  }

  /** The content may name another prompt than the one before, also where it is no valid file. */
  #parse(content: Buffer): LoadedWorkflow {
    this.#prompts.clear();
    try {
      return usableWorkflow(content, this.#options, this.#readPrompt);
    } finally {
      this.#seen = this.#seenNow(content);
    }
  }

  /** The file with the values from before for these keys; null when that is no valid file. */
  #withoutGuarded(content: Buffer, keys: readonly string[]): LoadedWorkflow | null {
    try {
      const kept = { from: this.#workflow, keys };
      const mixed = usableWorkflow(content, this.#options, this.#readPrompt, kept);
      return changesOf(this.#workflow, mixed).guarded.length === 0 ? mixed : null;
    } catch {
      return null;
    }
  }

  #waitingIn(wanted: LoadedWorkflow, keys: readonly string[]): WaitingChanges {
    const [before, after] = [this.#workflow, wanted].map(({ described }) => new Map(described.map((s) => [s.key, s])));
    const settings = keys.map((key) => ({
      key,
      before: before?.get(key)?.value ?? null,
      after: after?.get(key)?.value ?? null,
    }));
    return { revision: wanted.revision, since: this.#options.clock.now(), settings };
  }

  /** Logs only warnings that the previous reading did not have. */
  #logWarnings(before: LoadedWorkflow['warnings']): void {
    const known = new Set(before.map((warning) => warning.message));
    for (const { code, key, message } of this.#workflow.warnings) {
      if (known.has(message)) continue;
      this.#options.logger.warn('workflow_warning', { path: this.#options.path, code, key, reason: message });
    }
  }

  #publish(): void {
    const reading = this.#reading();
    for (const listener of this.#listeners) {
      try {
        listener(reading);
      } catch (thrown) {
        this.#options.logger.error('workflow_listener_failed', { reason: toBatonError(thrown).message });
      }
    }
  }

  async #startWatching(): Promise<void> {
    const { path, clock, logger } = this.#options;
    const file = normalize(path);
    const directory = dirname(file);
    // Watches the directory, because a watch on the file misses events once an editor replaces the file.
    const watcher = watch(directory, {
      depth: 0,
      ignoreInitial: true,
      ignored: (candidate) => candidate !== directory && candidate !== file,
    });
    this.#watcher = watcher;
    watcher.on('all', () => this.#checkSoon());
    watcher.on('error', (error) => {
      logger.warn('workflow_not_watched', {
        path,
        reason: toBatonError(error).message,
      });
    });
    await within(clock, longestWaitForWatcherMs, new Promise<void>((ready) => watcher.once('ready', ready)));
  }

  #checkSoon(): void {
    this.#nextCheck?.cancel();
    this.#nextCheck = this.#options.clock.schedule(settleMs, () => void this.read());
  }
}

function changesOf(before: LoadedWorkflow, after: LoadedWorkflow): ReturnType<typeof changedSettings> {
  return changedSettings(before.inTheClear().compared, after.inTheClear().compared);
}

/** A template that cannot render is a problem of the file: each run would fail on it. */
function usableWorkflow(
  bytes: Uint8Array,
  { path, context }: Pick<WorkflowFileOptions, 'path' | 'context'>,
  readFile: ReadFile,
  kept: KeptSettings | null = null,
): LoadedWorkflow {
  const workflow = parseWorkflow(bytes, path, context, kept, readFile);
  const problems = tryTemplates(workflow);
  if (problems.length > 0) throw toWorkflowError(path, problems, context);
  return workflow;
}
