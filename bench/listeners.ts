import { sleep } from '../src/clock/clock.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import { type ListenersReport, Listening } from '../test/server/api/load/listening.ts';
import { type Decision, LoadScene, until, usedHeap } from '../test/server/api/load/load-scene.ts';
import { percentile } from './measure.ts';
import { type Figure, ratioOf } from './report.ts';
import { Scratch } from './scratch.ts';

const runs = 200;
const eventsASecond = 20;
const listeners = { count: 500, withRuns: 20, deaf: 10 };
const runsListenedTo = 20;
/** Without listeners and with them, in turns. */
const rounds = 2;
const decisionsOfRound = 150;
/** The first ones are not counted: they wait until the start of all runs is written. */
const decisionsBefore = 20;
/** The longest random pause between two decisions, so that they fall anywhere between two frames of the stream. */
const longestPauseMs = 40;
const settleMs = 1_000;
const stretchMs = 60_000;

/**
 * Whether listeners slow down the scheduler: 200 runs that report 20 events a second each, without listeners and with 500
 * connections to the event stream, some of which request every event of 20 runs and some of which never read. Measured: a
 * dispatch decision, from the reported end of a run to the start of the next, both recorded; and the memory after a minute.
 */
export async function benchListeners(): Promise<readonly Figure[]> {
  using scratch = new Scratch();
  await using scene = await LoadScene.open({ folder: scratch.folder, runs, eventsASecond });
  await using listening = new Listening();
  const without: Decision[] = [];
  const withListeners: Decision[] = [];
  await decide(scene, decisionsBefore);
  for (let round = 0; round < rounds; round += 1) {
    without.push(...(await decide(scene, decisionsOfRound)));
    await listen(scene, listening);
    withListeners.push(...(await decide(scene, decisionsOfRound)));
    await listening.close();
  }
  const memory = await stretch(scene, listening);
  const { heard, seconds } = memory;
  const whole = `a dispatch decision with ${runs} streaming runs and ${listeners.count} listeners`;
  return [
    figureOf(`${whole}, median of ${withListeners.length}`, 0.5, 'tookMs', { withListeners, without }),
    figureOf(`${whole}, p99 of ${withListeners.length}`, 0.99, 'tookMs', { withListeners, without }),
    figureOf("the same, only the work of the daemon's thread, p99", 0.99, 'busyMs', { withListeners, without }),
    {
      what: `memory in use after ${seconds.toFixed(0)} s of that, ${listeners.deaf} of the listeners not reading (${heard.deafCut} disconnected)`,
      seen: megabytes(memory.after),
      aim: 'flat',
      ratio: ratioOf(memory.after, memory.before, `that at the start (${megabytes(memory.before)})`),
    },
    {
      what: 'received by each listener during this',
      seen: `${(heard.bytes / heard.hearing / seconds / 1_000).toFixed(0)} kB a second in ${(heard.events / heard.hearing / seconds).toFixed(1)} events`,
      aim: null,
      ratio: null,
    },
  ];
}

function figureOf(
  what: string,
  share: number,
  of: keyof Decision,
  { withListeners, without }: { readonly withListeners: readonly Decision[]; readonly without: readonly Decision[] },
): Figure {
  const at = (decisions: readonly Decision[]): number =>
    percentile(
      decisions.map((each) => each[of]),
      share,
    );
  return {
    what,
    seen: `${at(withListeners).toFixed(1)} ms`,
    aim: share === 0.99 ? '1.50 times' : null,
    ratio: ratioOf(at(withListeners), at(without), `without listeners (${at(without).toFixed(1)} ms)`),
  };
}

async function listen(scene: LoadScene, listening: Listening): Promise<void> {
  const wished = scene.runs().slice(-runsListenedTo);
  await listening.open({ ...listeners, url: scene.url, runs: wished });
}

async function decide(scene: LoadScene, count: number): Promise<readonly Decision[]> {
  await scene.wait(count);
  // Connecting and disconnecting is not measured.
  await sleep(systemClock, settleMs);
  const decisions: Decision[] = [];
  while (decisions.length < count) {
    decisions.push(await scene.decide());
    await sleep(systemClock, Math.random() * longestPauseMs);
  }
  return decisions;
}

interface Stretch {
  readonly before: number;
  readonly after: number;
  readonly seconds: number;
  readonly heard: ListenersReport;
}

async function stretch(scene: LoadScene, listening: Listening): Promise<Stretch> {
  await listen(scene, listening);
  await sleep(systemClock, settleMs);
  const before = await usedHeap();
  const began = performance.now();
  const { bytes, events } = await listening.report();
  await sleep(systemClock, stretchMs);
  const seconds = (performance.now() - began) / 1_000;
  const after = await usedHeap();
  const heard = await listening.report();
  scene.setTalking(false);
  await listening.attend();
  await until(async () => (await listening.report()).states === 1, 'the listeners do not know the same');
  const last = await listening.report();
  if (last.hearing !== listeners.count - listeners.deaf) throw new Error(`only ${last.hearing} listeners were kept`);
  return {
    before,
    after,
    seconds,
    heard: { ...heard, deafCut: last.deafCut, bytes: heard.bytes - bytes, events: heard.events - events },
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}
