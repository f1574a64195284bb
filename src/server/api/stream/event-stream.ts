import type { StreamEventName } from '../../../client/schema/event.ts';
import type { RunEvent } from '../../../client/schema/run.ts';
import type { Chance } from '../../../clock/chance.ts';
import type { Clock, Timer } from '../../../clock/clock.ts';
import type { Logger } from '../../../core/logger.ts';
import { timeText } from '../../../core/text/time-text.ts';
import type { ApiProject, ApiProjects } from '../api-project.ts';
import { presentNow } from '../present/present-now.ts';
import { FrameRing } from './frame-ring.ts';
import { Rounds } from './rounds.ts';
import { patchText, snapshotText, type ToldProject, toldOf } from './row-book.ts';

/**
 * Publishes the state of all projects to any number of listeners as it changes. What must hold:
 *
 * - A snapshot and the patches after it result, at every number, in the snapshot at that number. A listener that
 *   reconnects with its last number receives everything it missed, or a new snapshot.
 * - The scheduler never waits for a listener. A change is noted and published a moment later, the same text to all. A
 *   listener costs one write, and hundreds are served a few at a time (`rounds.ts`). A listener that does not read is
 *   disconnected, and reconnects by itself.
 * - Memory does not grow with time, with the number of events or with slow listeners.
 */
export interface Listening {
  /** Takes text to send; returns false when the listener does not keep up and must be disconnected. */
  send(text: string): boolean;
  end(): void;
}

export interface ListenerWish {
  /** The value of `Last-Event-ID`; null on the first connection. */
  readonly lastId: string | null;
  /** `PROJECT/RUN` of the runs whose events the listener wants. */
  readonly runs: ReadonlySet<string>;
}

interface Seat extends Listening {
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
const signOfLifeMs = 5_000;
const ringLimits = { mostFrames: 2_000, mostChars: 4_000_000 };
/** For one run and one frame; the transcript has the rest. */
const mostRunEvents = 200;

export class EventStream {
  readonly #parts: { readonly projects: ApiProjects; readonly clock: Clock; readonly logger: Logger };
  readonly #epoch: string;
  readonly #ring = new FrameRing(ringLimits);
  readonly #seats = new Set<Seat>();
  /** The listeners of each run. */
  readonly #ofRun = new Map<string, Set<Seat>>();
  readonly #watching = new Map<ApiProject, () => void>();
  readonly #told = new Map<ApiProject, ToldProject>();
  readonly #changed = new Set<ApiProject>();
  readonly #runEvents = new Map<string, { readonly project: string; readonly runId: string; events: RunEvent[] }>();
  readonly #stopWatching: () => void;
  readonly #rounds: Rounds<Seat>;
  /** Built once for all listeners that connect between two frames. */
  #welcome: { readonly number: number; readonly text: string } | null = null;
  #number = 0;
  #timer: Timer | null = null;
  #runTimer: Timer | null = null;
  #nextAt = Number.NEGATIVE_INFINITY;
  #signs: Timer | null = null;

  constructor(parts: {
    readonly projects: ApiProjects;
    readonly clock: Clock;
    readonly chance: Chance;
    readonly logger: Logger;
  }) {
    this.#parts = parts;
    this.#epoch = parts.chance.id().slice(0, 8);
    this.#rounds = new Rounds(parts.clock, (seat, text) => {
      if (this.#seats.has(seat)) this.#hand(seat, text);
    });
    this.#stopWatching = parts.projects.onChange(() => this.#follow());
    this.#follow();
  }

  get listeners(): number {
    return this.#seats.size;
  }

  /**
   * Adds a listener and returns a function that removes it. Sends a snapshot, or the missed events, before it returns.
   */
  listen(listening: Listening, { lastId, runs }: ListenerWish): () => void {
    const seat: Seat = { send: (text) => listening.send(text), end: () => listening.end(), runs };
    // A snapshot contains what all listeners have received; pending changes follow. Without listeners nothing was
    // published, so publish the pending changes first.
    if (this.#seats.size === 0) this.#tellChanges();
    const missed = this.#ring.after(this.#numberOf(lastId), this.#number);
    this.#seats.add(seat);
    for (const run of runs) this.#ofRun.set(run, (this.#ofRun.get(run) ?? new Set()).add(seat));
    this.#signs ??= this.#parts.clock.schedule(signOfLifeMs, () => this.#giveSigns());
    const start = missed === null ? this.#welcomeText() : `${retryText}${missed.map(({ text }) => text).join('')}`;
    this.#hand(seat, `${start}${this.#howFar(runs)}`);
    return () => this.#letGo(seat);
  }

  /** Something about an issue changed that no row shows. */
  issueChanged(project: string, issue: { readonly id: string; readonly identifier: string }): void {
    this.#tell('issue_changed', JSON.stringify({ project, issue_id: issue.id, issue_identifier: issue.identifier }));
  }

  close(): void {
    this.#stopWatching();
    for (const stop of this.#watching.values()) stop();
    this.#watching.clear();
    this.#timer?.cancel();
    this.#runTimer?.cancel();
    this.#signs?.cancel();
    this.#rounds.close();
    for (const seat of this.#seats) seat.end();
    this.#seats.clear();
  }

  /** When projects come or go, the previous snapshot is obsolete, so all listeners get a new one. */
  #follow(): void {
    const now = new Set(this.#parts.projects.list());
    for (const [project, stop] of this.#watching) {
      if (now.has(project)) continue;
      stop();
      this.#watching.delete(project);
      this.#told.delete(project);
      this.#changed.delete(project);
    }
    for (const project of now) {
      if (this.#watching.has(project)) continue;
      const stops = [
        project.watch(() => this.#note(project)),
        project.watchIssues((issue) => this.issueChanged(project.name, issue)),
        this.#watchRuns(project),
      ];
      this.#watching.set(project, () => {
        for (const stop of stops) stop();
      });
      this.#told.set(project, toldOf(presentNow(project.name, project.read())));
    }
    this.#tell('snapshot', this.#snapshotData());
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

  #note(project: ApiProject): void {
    this.#changed.add(project);
    if (this.#seats.size > 0) this.#schedule();
  }

  #schedule(): void {
    const { clock } = this.#parts;
    this.#timer ??= clock.schedule(Math.max(frameMs, this.#nextAt - clock.monotonic()), () => {
      this.#timer = null;
      // Some listeners have not received the previous frame yet.
      if (this.#rounds.isBusy) return this.#schedule();
      this.#tellChanges();
    });
  }

  /** On a timer of its own: a listener of a run must not wait because much else changed. */
  #scheduleRuns(): void {
    this.#runTimer ??= this.#parts.clock.schedule(frameMs, () => {
      this.#runTimer = null;
      if (this.#rounds.isBusy) return this.#scheduleRuns();
      this.#tellRuns();
    });
  }

  #tellChanges(): void {
    const { clock, logger } = this.#parts;
    let chars = 0;
    for (const project of this.#changed) {
      const before = this.#told.get(project);
      if (before === undefined) continue;
      try {
        const after = toldOf(presentNow(project.name, project.read()));
        const text = patchText(project.name, timeText(clock.now()) ?? '', before, after);
        this.#told.set(project, after);
        if (text !== null) chars += this.#tell('patch', text);
      } catch (error) {
        logger.error('event_publish_failed', { error });
      }
    }
    this.#changed.clear();
    const seconds = Math.max(chars / charsPerSecond, (chars * this.#seats.size) / charsPerSecondOfAll);
    this.#nextAt = clock.monotonic() + seconds * 1_000;
  }

  /**
   * Sends events of a run only to listeners that asked for it. They have no number: a listener continues in the
   * transcript from `after`.
   */
  #tellRuns(): void {
    const heard = new Map<Seat, string[]>();
    for (const [key, { project, runId, events }] of this.#runEvents) {
      const told = events.slice(-mostRunEvents);
      const data = { project, run_id: runId, events: told, after: told.at(-1)?.seq ?? 0 };
      const text = frameText('run_events', JSON.stringify(data), null);
      for (const seat of this.#ofRun.get(key) ?? []) heard.set(seat, [...(heard.get(seat) ?? []), text]);
    }
    this.#runEvents.clear();
    // One write per listener, however many runs it follows.
    for (const [seat, texts] of heard) this.#rounds.add(texts.join(''), [seat]);
  }

  /**
   * The newest event number of each wanted run. An event is published before it is written, so a listener that reads
   * the transcript when it connects could otherwise miss an event that happened just before and was written just after.
   */
  #howFar(runs: ReadonlySet<string>): string {
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

  #tell(name: StreamEventName, data: string): number {
    this.#number += 1;
    const text = frameText(name, data, `${this.#epoch}-${this.#number}`);
    this.#ring.add({ number: this.#number, text });
    this.#rounds.add(text, [...this.#seats]);
    return text.length;
  }

  #hand(seat: Seat, text: string): void {
    if (seat.send(text)) return;
    this.#letGo(seat);
    seat.end();
  }

  #letGo(seat: Seat): void {
    this.#seats.delete(seat);
    for (const run of seat.runs) {
      const others = this.#ofRun.get(run);
      others?.delete(seat);
      if (others?.size === 0) this.#ofRun.delete(run);
    }
  }

  #giveSigns(): void {
    this.#signs = null;
    this.#rounds.add(': still here\n\n', [...this.#seats]);
    if (this.#seats.size > 0) this.#signs = this.#parts.clock.schedule(signOfLifeMs, () => this.#giveSigns());
  }

  #welcomeText(): string {
    if (this.#welcome?.number !== this.#number) {
      const text = frameText('snapshot', this.#snapshotData(), `${this.#epoch}-${this.#number}`);
      this.#welcome = { number: this.#number, text: `${retryText}${text}` };
    }
    return this.#welcome.text;
  }

  #snapshotData(): string {
    const at = timeText(this.#parts.clock.now()) ?? '';
    const projects = [...this.#told].map(([{ name }, told]) => snapshotText(name, at, told));
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
