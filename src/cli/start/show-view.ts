import { ApiClient } from '../../client/api-client.ts';
import type { Problem } from '../../core/problem.ts';
import type { OpenedApi } from '../../daemon/services/open-api.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { commandsHere } from '../place-flags.ts';
import { clientSource } from '../top/client-source.ts';
import { runTop } from '../top/run-top.ts';
import type { LogTail } from './log-tail.ts';

export interface ViewParts {
  readonly api: Pick<OpenedApi, 'address' | 'send'>;
  readonly tail: LogTail;
  readonly refreshMs: number;
  /** Of the workflow file; the view shows them until a key is pressed. */
  readonly warnings: readonly Problem[];
  /** How `baton top` and other commands find this daemon. */
  readonly place: WorkplaceFlags;
}

/**
 * Shows the view on the terminal of a daemon. After the user leaves the view, the terminal shows the log. Ctrl-C stops
 * Baton in order, as without the view. Disposing restores the terminal.
 */
export function showView(
  { api, tail, refreshMs, warnings, place }: ViewParts,
  surroundings: Surroundings,
): AsyncDisposable {
  const stop = new AbortController();
  const source = clientSource(new ApiClient(api.send), () => tail.take());
  const here = commandsHere(place, surroundings);
  const leftWords = [
    '',
    `Baton keeps running and shows its log here. Ctrl-C stops it in order; ${here('`baton top`')} shows the view again.`,
    ...(api.address === null ? [] : [`Dashboard: ${api.address.url}`]),
    '',
  ];
  const notice = warnings.map(({ message }) => `Warning: ${message}.`).join(' ');
  const shown = runTop(source, surroundings, surroundings.clock, { stop: stop.signal, refreshMs, notice, here })
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
