import { systemClock } from '../../clock/system-clock.ts';
import type { Settings } from '../../core/settings.ts';
import { Secret } from '../../core/text/secret.ts';
import { quietLogger } from '../../daemon/quiet-logger.ts';
import { Remote } from '../../daemon/remote.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { createLimiterRegistry } from '../../http/limiter-registry.ts';
import { linearProvider } from '../../tracker/linear/linear-provider.ts';
import { checkLinear } from './check-linear.ts';
import type { Finding } from './finding.ts';

/** Whether a tracker that is elsewhere answers and has what the workflow file names. Its requests are in no store's count. */
export async function checkTracker(
  { tracker, polling }: Settings,
  surroundings: Surroundings,
): Promise<readonly Finding[]> {
  if (tracker.kind !== 'linear') return [];
  const { api_key: key, allow_insecure_endpoint: allowInsecure } = tracker.provider;
  await using remote = new Remote({
    ...{ clock: systemClock, logger: quietLogger, surroundings },
    // A doctor looks at what there is and makes no store.
    store: { requestCounts: { add: async () => {}, series: async () => [] } },
    limiters: createLimiterRegistry(systemClock),
    budget: () => polling.budget,
  });
  const http = remote.client(linearProvider, key instanceof Secret ? key : null, allowInsecure === true);
  return await checkLinear(tracker, { http, clock: systemClock, logger: quietLogger });
}
