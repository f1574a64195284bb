import type { Clock } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import { normalizeState } from '../../core/issue/issue.ts';
import type { Logger } from '../../core/logger.ts';
import type { TrackerSettings } from '../../core/settings.ts';
import type { HttpClient } from '../../http/http.ts';
import type { Ask, Tracker } from '../tracker.ts';
import { type CallLinear, createCallLinear } from './call/call-linear.ts';
import { usualLists } from './call/documents.ts';
import { createLinearChanges } from './change-issues.ts';
import { createLinearGraphql } from './graphql-tool/linear-graphql.ts';
import { readLinearSettings } from './linear-settings.ts';
import { distinctStates } from './read/issue-filters.ts';
import { readComments } from './read/read-comments.ts';
import { readByIds, readCandidates } from './read/read-issues.ts';
import { type DispatchRules, toIssue } from './read/to-issue.ts';
import { createWhoseIssues } from './read/whose-issues.ts';
import { createReadSnapshot } from './snapshot/read-snapshot.ts';
import { nothingSighted, takeListed } from './snapshot/sighted.ts';

export interface LinearTrackerParts {
  readonly settings: TrackerSettings;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Linear as a tracker: one project of it (docs/trackers/linear.md). Address and key come from the settings passed here.
 */
export function createLinearTracker({ settings, http, clock, logger }: LinearTrackerParts): Tracker {
  const linear = readLinearSettings(settings);
  const { projectSlug, terminalStates } = linear;
  const send = createCallLinear({ settings: linear, http, clock, logger });
  const call: CallLinear = async (operation, variables, data, ask) => {
    try {
      return await send(operation, variables, data, ask);
    } catch (error) {
      if (error instanceof BatonError && error.code === 'tracker_auth') whose.forget();
      throw error;
    }
  };
  const whose = createWhoseIssues(linear.assignee, send);
  const rules = async (ask?: Ask): Promise<DispatchRules> => ({ terminalStates, assigneeId: await whose.find(ask) });
  const parts = { call, projectSlug, clock, logger, rules };
  return {
    kind: 'linear',
    fetchByStates: async (states, ask) => {
      ask?.signal?.throwIfAborted();
      const wished = distinctStates(states);
      if (wished.size === 0) return [];
      const judge = await rules(ask);
      const sighted = nothingSighted();
      takeListed(sighted, await readCandidates([...wished.values()], parts, ask));
      const { records, order, malformed } = sighted;
      if (malformed > 0) logger.warn('tracker_records_dropped', { count: malformed });
      const found = order.flatMap((id) => records.get(id) ?? []);
      return found
        .filter(({ isPutAway, state }) => !isPutAway && wished.has(normalizeState(state)))
        .map((record) => toIssue(record, judge));
    },
    fetchByIds: async (ids, ask) => {
      ask?.signal?.throwIfAborted();
      if (ids.length === 0) return [];
      const judge = await rules(ask);
      const found = await readByIds(ids, usualLists, parts, ask);
      return [...new Set(ids)].flatMap((id) => {
        const record = found.get(id);
        return record === undefined ? [] : toIssue(record, judge);
      });
    },
    fetchComments: (id, ask) => readComments(id, parts, ask),
    fetchSnapshot: createReadSnapshot(parts),
    pressure: () => http.pressure(),
    nativeTools: [createLinearGraphql({ settings: linear, call, http, clock })],
    changes: createLinearChanges(parts),
  };
}
