import { startTimeOf } from './process-table.ts';

/** Signals one process, unless its pid now belongs to another process. */
export function signalProcess(target: { pid: number; startTime: number }, signal: NodeJS.Signals): void {
  if (startTimeOf(target.pid) === target.startTime) kill(target.pid, signal);
}

/** Signals a process group, unless the leader's pid now belongs to another process. */
export function signalGroup(leader: { pid: number; startTime: number | null }, signal: NodeJS.Signals): void {
  const startTime = startTimeOf(leader.pid);
  if (startTime === null || startTime === leader.startTime) kill(-leader.pid, signal);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended, or Baton may not signal it. The caller checks again and reports the processes that are left.
  }
}
