import { type RunRequest, runToEnd } from '../../process/run-to-end.ts';
import type { ChildRequest, ProcessDeps } from '../../process/start-child.ts';
import { longestOutputBytes, type RunCommand } from '../../telemetry/notify/send-message.ts';

type Wanted = Parameters<RunCommand>[0] & Pick<RunRequest, 'cwd' | 'runId'>;

/**
 * Runs the command of a target to its end, with a complete environment. What must hold: its output costs neither memory
 * nor time. When either output exceeds `longestOutputBytes`, the command is ended with everything it started.
 */
export async function runNotifyCommand(wanted: Wanted, deps: ProcessDeps): ReturnType<RunCommand> {
  const { command, signal, ...rest } = wanted;
  const tooLong = new AbortController();
  let errorBytes = 0;
  const request: RunRequest & Pick<ChildRequest, 'onStderr'> = {
    ...rest,
    command: 'bash',
    // Without `--norc`, bash takes a socket as input for a remote login, and reads ~/.bashrc.
    args: ['--norc', '-c', command],
    maxOutputBytes: longestOutputBytes,
    endsWhenTooLong: true,
    onStderr: (text) => {
      errorBytes += Buffer.byteLength(text);
      if (errorBytes > longestOutputBytes) tooLong.abort(new Error('its error output is too long'));
    },
    signal: AbortSignal.any([signal, tooLong.signal]),
  };
  try {
    const { code, timedOut, stderr, truncated } = await runToEnd(request, deps);
    return { code, timedOut, stderr, isTooLong: truncated };
  } catch (error) {
    signal.throwIfAborted();
    if (error !== tooLong.signal.reason) throw error;
    return { code: null, timedOut: false, stderr: '', isTooLong: true };
  }
}
