import { statSync } from 'node:fs';
import { dirname, normalize } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { type Clock, type Timer, within } from '../clock/clock.ts';
import { BatonError, toBatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import type { WorkflowReading, WorkflowSource } from '../core/workflow.ts';
import { type LoadedWorkflow, parseWorkflow, revisionOf } from './load-workflow.ts';
import { readWorkflowBytes } from './read-workflow-bytes.ts';
import type { WorkflowContext } from './workflow-context.ts';

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
  #watcher: FSWatcher | null = null;
  #nextCheck: Timer | null = null;

  private constructor(options: WorkflowFileOptions) {
    this.#options = options;
    const bytes = readWorkflowBytes(options.path);
    this.#workflow = parseWorkflow(bytes, options.path, options.context);
    this.#seen = revisionOf(bytes);
    this.#logWarnings([]);
  }

  /** Checks the file and returns the newest good reading. */
  read(): WorkflowReading & { readonly workflow: LoadedWorkflow } {
    const { path } = this.#options;
    // Taken before the content is read: the next check finds a change between the two.
    const stamp = this.#readStamp();
    if (stamp !== null && stamp === this.#stamp) return { workflow: this.#workflow, problem: this.#problem };
    this.#stamp = stamp;
    let content: Buffer | BatonError;
    try {
      content = readWorkflowBytes(path);
    } catch (thrown) {
      content = toBatonError(thrown);
    }
    const seen = content instanceof BatonError ? content.message : revisionOf(content);
    if (seen !== this.#seen) {
      this.#seen = seen;
      this.#take(content);
    }
    return { workflow: this.#workflow, problem: this.#problem };
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
    const found = statSync(this.#options.path, { bigint: true, throwIfNoEntry: false });
    if (found === undefined || !found.isFile()) return null;
    const ageMs = this.#options.clock.now() - Number(found.ctimeMs);
    if (!(ageMs > settledAfterMs)) return null;
    return [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ');
  }

  #take(content: Buffer | BatonError): void {
    const { path, context, logger } = this.#options;
    try {
      if (content instanceof BatonError) throw content;
      const before = this.#workflow;
      // Content that returns to the last good one is the same reading, not a new one.
      if (before.revision !== this.#seen) this.#workflow = parseWorkflow(content, path, context);
      const isFixed = this.#problem !== null;
      this.#problem = null;
      logger.info(isFixed ? 'workflow_recovered' : 'workflow_reloaded', {
        path,
        revision: this.#workflow.revision,
      });
      this.#logWarnings(before.warnings);
    } catch (thrown) {
      this.#problem = toBatonError(thrown);
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

  /** Logs only warnings that the previous reading did not have. */
  #logWarnings(before: LoadedWorkflow['warnings']): void {
    const known = new Set(before.map((warning) => warning.message));
    for (const { code, key, message } of this.#workflow.warnings) {
      if (known.has(message)) continue;
      this.#options.logger.warn('workflow_warning', { path: this.#options.path, code, key, reason: message });
    }
  }

  #publish(): void {
    const reading = { workflow: this.#workflow, problem: this.#problem };
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
