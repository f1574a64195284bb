import { ApiClient } from '../../client/api-client.ts';
import { shellArgument } from '../../core/text/shell-argument.ts';
import type { OpenedApi } from '../../daemon/services/open-api.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { clientSource } from '../top/client-source.ts';
import { runTop } from '../top/run-top.ts';
import type { LogTail } from './log-tail.ts';

export interface ViewParts {
  readonly api: Pick<OpenedApi, 'address' | 'send'>;
  readonly tail: LogTail;
  readonly refreshMs: number;
  /** The flags by which `baton top` finds this daemon. */
  readonly placeFlags: readonly string[];
}

/**
 * Shows the view on the terminal of a daemon. After the user leaves the view, the terminal shows the log. Ctrl-C stops
 * Baton in order, as without the view. Disposing restores the terminal.
 */
export function showView({ api, tail, refreshMs, placeFlags }: ViewParts, surroundings: Surroundings): AsyncDisposable {
  const stop = new AbortController();
  const dashboard = api.address.url;
  const source = clientSource(new ApiClient(api.send), () => tail.take());
  const again = [surroundings.batonPath, 'top', ...placeFlags].map(shellArgument).join(' ');
  const leftWords = [
    '',
    `Baton keeps running and shows its log here. Ctrl-C stops it in order; \`${again}\` shows the view again.`,
    `Dashboard: ${dashboard}`,
    '',
  ];
  const shown = runTop(source, surroundings, surroundings.clock, { stop: stop.signal, refreshMs })
    .then((how) => {
      tail.show(how === 'quit' ? leftWords : []);
      // The view reads the keys itself, so this Ctrl-C never became a signal.
      if (how === 'interrupted') surroundings.interrupt();
    })
    .catch((error: unknown) => {
      tail.show([`The live view failed: ${error instanceof Error ? error.message : String(error)}`]);
    });
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await shown;
    },
  };
}
