// Loaded into a daemon before its own program (`node --import`): answers each message of the bench with the resources that
// the process used since the previous message.
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** The histogram counts from one sample to the next, so this much of each value is not a delay. */
const resolutionMs = 5;

export interface LoopReport {
  readonly rssBytes: number;
  readonly delayP50Ms: number;
  readonly delayP99Ms: number;
  readonly delayMaxMs: number;
  readonly cpuMs: number;
  readonly overMs: number;
}

const delays = monitorEventLoopDelay({ resolution: resolutionMs });
delays.enable();
let cpu = process.cpuUsage();
let since = performance.now();

process.on('message', () => {
  const inMs = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - resolutionMs);
  const used = process.cpuUsage(cpu);
  const report: LoopReport = {
    rssBytes: process.memoryUsage.rss(),
    delayP50Ms: inMs(delays.percentile(50)),
    delayP99Ms: inMs(delays.percentile(99)),
    delayMaxMs: inMs(delays.max),
    cpuMs: (used.user + used.system) / 1_000,
    overMs: performance.now() - since,
  };
  process.send?.(report);
  delays.reset();
  cpu = process.cpuUsage();
  since = performance.now();
});
// Must not keep a stopped daemon alive.
process.channel?.unref();
