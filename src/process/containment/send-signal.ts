import { startTimeOf } from './process-table.ts';

/** Signals one process, if it is still the one that was meant. */
export function signalProcess(target: { pid: number; startTime: number }, signal: NodeJS.Signals): void {
  if (startTimeOf(target.pid) === target.startTime) kill(target.pid, signal);
}

/** Signals a process group, unless its number already belongs to another process. */
export function signalGroup(leader: { pid: number; startTime: number | null }, signal: NodeJS.Signals): void {
  const startTime = startTimeOf(leader.pid);
  if (startTime === null || startTime === leader.startTime) kill(-leader.pid, signal);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone meanwhile, or not ours to signal; whoever asked looks again and reports what is left.
  }
}
