import type { StreamEventName } from '../../../client/schema/event.ts';
import type { RunEvent } from '../../../client/schema/run.ts';
import type { Chance } from '../../../clock/chance.ts';
import type { Clock, Timer } from '../../../clock/clock.ts';
import type { Logger } from '../../../core/logger.ts';
import { timeText } from '../../../core/text/time-text.ts';
import type { ApiProject, ApiProjects } from '../api-project.ts';
import { presentNow } from '../present/present-now.ts';
import { FanOut } from './fan-out.ts';
import { FrameRing } from './frame-ring.ts';
import { type PublishedProject, patchText, publishedOf, snapshotText } from './published-rows.ts';

/**
 * Publishes the state of all projects to any number of listeners as it changes. What must hold:
 *
 * - A snapshot and the patches after it result, at every number, in the snapshot at that number. A listener that
 *   reconnects with its last number receives everything it missed, or a new snapshot.
 * - The scheduler never waits for a listener. Changes are collected and published a moment later, as the same text to all. A
 *   listener costs one write, and hundreds are served a few at a time (`fan-out.ts`). A listener that does not read is
 *   disconnected, and reconnects by itself.
 * - Memory does not grow with time, with the number of events or with slow listeners.
 */
export interface Listening {
  /** Takes text to send; returns false when the listener does not keep up and must be disconnected. */
  send(text: string): boolean;
  end(): void;
}

export interface Subscription {
  /** The value of `Last-Event-ID`; null on the first connection. */
  readonly lastId: string | null;
  /** `PROJECT/RUN` of the runs whose events the listener wants. */
  readonly runs: ReadonlySet<string>;
}

interface Subscriber extends Listening {
  readonly runs: ReadonlySet<string>;
}

/**
 * At most four frames a second. After a large frame the next one waits, so that no listener gets more than this a
 * second.
 */
const frameMs = 250;
const charsPerSecond = 128_000;
/** The limit for all listeners together: with hundreds of listeners, the scheduler still comes first. */
const charsPerSecondOfAll = 16_000_000;
/**
 * Proxies close silent connections. A listener that receives nothing for longer than two of these knows that the daemon
 * hangs.
 */
const keepAliveMs = 5_000;
const ringLimits = { mostFrames: 2_000, mostChars: 4_000_000 };
/** For one run and one frame; the transcript has the rest. */
const mostRunEvents = 200;

export class EventStream {
  readonly #parts: { readonly projects: ApiProjects; readonly clock: Clock; readonly logger: Logger };
  readonly #epoch: string;
  readonly #ring = new FrameRing(ringLimits);
  readonly #subscribers = new Set<Subscriber>();
  /** The listeners of each run. */
  readonly #ofRun = new Map<string, Set<Subscriber>>();
  readonly #watching = new Map<ApiProject, () => void>();
  readonly #published = new Map<ApiProject, PublishedProject>();
  readonly #changed = new Set<ApiProject>();
  readonly #runEvents = new Map<string, { readonly project: string; readonly runId: string; events: RunEvent[] }>();
  readonly #stopWatching: () => void;
  readonly #fanOut: FanOut<Subscriber>;
  /** Built once for all listeners that connect between two frames. */
  #snapshot: { readonly number: number; readonly text: string } | null = null;
  #number = 0;
  #timer: Timer | null = null;
  #runTimer: Timer | null = null;
  #nextAt = Number.NEGATIVE_INFINITY;
  #keepAlive: Timer | null = null;

  constructor(parts: {
    readonly projects: ApiProjects;
    readonly clock: Clock;
    readonly chance: Chance;
    readonly logger: Logger;
  }) {
    this.#parts = parts;
    this.#epoch = parts.chance.id().slice(0, 8);
    this.#fanOut = new FanOut(parts.clock, (subscriber, text) => {
      if (this.#subscribers.has(subscriber)) this.#send(subscriber, text);
    });
    this.#stopWatching = parts.projects.onChange(() => this.#followProjects());
    this.#followProjects();
  }

  get listeners(): number {
    return this.#subscribers.size;
  }

  /**
   * Adds a listener and returns a function that removes it. Sends a snapshot, or the missed events, before it returns.
   */
  listen(listening: Listening, { lastId, runs }: Subscription): () => void {
    const subscriber: Subscriber = { send: (text) => listening.send(text), end: () => listening.end(), runs };
    // A snapshot contains what all listeners have received; pending changes follow. Without listeners nothing was
    // published, so publish the pending changes first.
    if (this.#subscribers.size === 0) this.#publishChanges();
    const missed = this.#ring.after(this.#numberOf(lastId), this.#number);
    this.#subscribers.add(subscriber);
    for (const run of runs) this.#ofRun.set(run, (this.#ofRun.get(run) ?? new Set()).add(subscriber));
    this.#keepAlive ??= this.#parts.clock.schedule(keepAliveMs, () => this.#sendKeepAlive());
    const start = missed === null ? this.#snapshotFrame() : `${retryText}${missed.map(({ text }) => text).join('')}`;
    this.#send(subscriber, `${start}${this.#lastEventNumbers(runs)}`);
    return () => this.#remove(subscriber);
  }

  /** Something about an issue changed that no row shows. */
  issueChanged(project: string, issue: { readonly id: string; readonly identifier: string }): void {
    this.#publish('issue_changed', JSON.stringify({ project, issue_id: issue.id, issue_identifier: issue.identifier }));
  }

  close(): void {
    this.#stopWatching();
    for (const stop of this.#watching.values()) stop();
    this.#watching.clear();
    this.#timer?.cancel();
    this.#runTimer?.cancel();
    this.#keepAlive?.cancel();
    this.#fanOut.close();
    for (const subscriber of this.#subscribers) subscriber.end();
    this.#subscribers.clear();
  }

  /**
   * When projects come or go, the previous snapshot is obsolete, so all listeners get a new one. Not while Baton stops:
   * then every project leaves, and a page keeps what it showed.
   */
  #followProjects(): void {
    const { isStopping } = this.#parts.projects;
    const now = new Set(this.#parts.projects.list());
    for (const [project, stop] of this.#watching) {
      if (now.has(project)) continue;
      stop();
      this.#watching.delete(project);
      this.#published.delete(project);
      this.#changed.delete(project);
    }
    for (const project of now) {
      if (this.#watching.has(project)) continue;
      const stops = [
        project.watch(() => this.#markChanged(project)),
        project.watchIssues((issue) => this.issueChanged(project.name, issue)),
        this.#watchRuns(project),
      ];
      this.#watching.set(project, () => {
        for (const stop of stops) stop();
      });
      this.#published.set(project, publishedOf(presentNow(project.name, project.read())));
    }
    if (!isStopping && now.size > 0) this.#publish('snapshot', this.#snapshotData());
  }

  #watchRuns(project: ApiProject): () => void {
    return project.watchRuns((runId, event) => {
      const key = `${project.name}/${runId}`;
      if (!this.#ofRun.has(key)) return;
      const waiting = this.#runEvents.get(key) ?? { project: project.name, runId, events: [] };
      waiting.events.push(event());
      // Only the newest are published; the transcript has the others.
      if (waiting.events.length > 2 * mostRunEvents) waiting.events = waiting.events.slice(-mostRunEvents);
      this.#runEvents.set(key, waiting);
      this.#scheduleRuns();
    });
  }

  #markChanged(project: ApiProject): void {
    this.#changed.add(project);
    if (this.#subscribers.size > 0) this.#schedule();
  }

  #schedule(): void {
    const { clock } = this.#parts;
    this.#timer ??= clock.schedule(Math.max(frameMs, this.#nextAt - clock.monotonic()), () => {
      this.#timer = null;
      // Some listeners have not received the previous frame yet.
      if (this.#fanOut.isBusy) return this.#schedule();
      this.#publishChanges();
    });
  }

  /** On a timer of its own: a listener of a run must not wait because much else changed. */
  #scheduleRuns(): void {
    this.#runTimer ??= this.#parts.clock.schedule(frameMs, () => {
      this.#runTimer = null;
      if (this.#fanOut.isBusy) return this.#scheduleRuns();
      this.#publishRunEvents();
    });
  }

  #publishChanges(): void {
    const { clock, logger, projects } = this.#parts;
    // While Baton stops, its runs end one by one; their questions and rows stay on the page until the next daemon.
    if (projects.isStopping) return;
    let chars = 0;
    for (const project of this.#changed) {
      const before = this.#published.get(project);
      if (before === undefined) continue;
      try {
        const after = publishedOf(presentNow(project.name, project.read()));
        const text = patchText(project.name, timeText(clock.now()) ?? '', before, after);
        this.#published.set(project, after);
        if (text !== null) chars += this.#publish('patch', text);
      } catch (error) {
        logger.error('event_publish_failed', { error });
      }
    }
    this.#changed.clear();
    const seconds = Math.max(chars / charsPerSecond, (chars * this.#subscribers.size) / charsPerSecondOfAll);
    this.#nextAt = clock.monotonic() + seconds * 1_000;
  }

  /**
   * Sends events of a run only to listeners that asked for it. They have no number: a listener continues in the
   * transcript from `after`.
   */
  #publishRunEvents(): void {
    const heard = new Map<Subscriber, string[]>();
    for (const [key, { project, runId, events }] of this.#runEvents) {
      const newest = events.slice(-mostRunEvents);
      const data = { project, run_id: runId, events: newest, after: newest.at(-1)?.seq ?? 0 };
      const text = frameText('run_events', JSON.stringify(data), null);
      for (const subscriber of this.#ofRun.get(key) ?? [])
        heard.set(subscriber, [...(heard.get(subscriber) ?? []), text]);
    }
    this.#runEvents.clear();
    // One write per listener, however many runs it follows.
    for (const [subscriber, texts] of heard) this.#fanOut.add(texts.join(''), [subscriber]);
  }

  /**
   * The newest event number of each wanted run. An event is published before it is written, so a listener that reads
   * the transcript when it connects could otherwise miss an event that happened just before and was written just after.
   */
  #lastEventNumbers(runs: ReadonlySet<string>): string {
    let text = '';
    for (const { name, lastSeqOf } of this.#watching.keys()) {
      for (const run of runs) {
        if (!run.startsWith(`${name}/`)) continue;
        const runId = run.slice(name.length + 1);
        const after = lastSeqOf(runId);
        if (after === null) continue;
        text += frameText('run_events', JSON.stringify({ project: name, run_id: runId, events: [], after }), null);
      }
    }
    return text;
  }

  #publish(name: StreamEventName, data: string): number {
    this.#number += 1;
    const text = frameText(name, data, `${this.#epoch}-${this.#number}`);
    this.#ring.add({ number: this.#number, text });
    this.#fanOut.add(text, [...this.#subscribers]);
    return text.length;
  }

  #send(subscriber: Subscriber, text: string): void {
    if (subscriber.send(text)) return;
    this.#remove(subscriber);
    subscriber.end();
  }

  #remove(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    for (const run of subscriber.runs) {
      const others = this.#ofRun.get(run);
      others?.delete(subscriber);
      if (others?.size === 0) this.#ofRun.delete(run);
    }
  }

  #sendKeepAlive(): void {
    this.#keepAlive = null;
    this.#fanOut.add(': still here\n\n', [...this.#subscribers]);
    if (this.#subscribers.size > 0)
      this.#keepAlive = this.#parts.clock.schedule(keepAliveMs, () => this.#sendKeepAlive());
  }

  #snapshotFrame(): string {
    if (this.#snapshot?.number !== this.#number) {
      const text = frameText('snapshot', this.#snapshotData(), `${this.#epoch}-${this.#number}`);
      this.#snapshot = { number: this.#number, text: `${retryText}${text}` };
    }
    return this.#snapshot.text;
  }

  #snapshotData(): string {
    const at = timeText(this.#parts.clock.now()) ?? '';
    const projects = [...this.#published].map(([{ name }, newest]) => snapshotText(name, at, newest));
    return `{"projects":[${projects.join(',')}]}`;
  }

  /** Numbers of a previous daemon are unknown here. */
  #numberOf(id: string | null): number {
    const [epoch, number] = id?.split('-') ?? [];
    return epoch === this.#epoch && /^\d{1,15}$/.test(number ?? '') ? Number(number) : -1;
  }
}

const retryText = 'retry: 1000\n\n';

function frameText(name: StreamEventName, data: string, id: string | null): string {
  return `${id === null ? '' : `id: ${id}\n`}event: ${name}\ndata: ${data}\n\n`;
}
