import type { Chance } from '../../clock/chance.ts';
import type { Clock } from '../../clock/clock.ts';
import { systemChance } from '../../clock/system-chance.ts';
import { BatonError } from '../../core/baton-error.ts';
import { normalizeState } from '../../core/issue/issue.ts';
import { startMoveOf } from '../../core/issue/state-role.ts';
import type { Logger } from '../../core/logger.ts';
import type { TrackerSettings } from '../../core/settings.ts';
import type { HttpClient } from '../../http/http.ts';
import type { Ask, Tracker } from '../tracker.ts';
import { type CallLinear, createCallLinear } from './call/call-linear.ts';
import { usualLists } from './call/documents.ts';
import { createLinearChanges } from './change-issues.ts';
import { createLinearGraphql } from './graphql-tool/linear-graphql.ts';
import { readLinearSettings } from './linear-settings.ts';
import { createAssigneeLookup } from './read/assignee-lookup.ts';
import { distinctStates } from './read/issue-filters.ts';
import { readChildren } from './read/read-children.ts';
import { readComments } from './read/read-comments.ts';
import { readByIds, readCandidates } from './read/read-issues.ts';
import { readOpen } from './read/read-open.ts';
import { readWriters } from './read/read-writers.ts';
import { type DispatchRules, toIssue } from './read/to-issue.ts';
import { addListed, noRecords } from './snapshot/collected-records.ts';
import { createReadSnapshot } from './snapshot/read-snapshot.ts';

export interface LinearTrackerParts {
  readonly settings: TrackerSettings;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Draws the ids of new comments and issues. */
  readonly chance?: Chance;
}

/**
 * Linear as a tracker: one project of it (docs/trackers/linear.md). Address and key come from the settings passed here.
 */
export function createLinearTracker(given: LinearTrackerParts): Tracker {
  const { settings, http, clock, logger, chance = systemChance } = given;
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
  const whose = createAssigneeLookup(linear.assignee, send);
  const rules = async (ask?: Ask): Promise<DispatchRules> => ({ terminalStates, assigneeId: await whose.find(ask) });
  const parts = { call, projectSlug, clock, logger, rules, chance };
  return {
    kind: 'linear',
    ...startMoveOf(settings.states),
    fetchByStates: async (states, ask) => {
      ask?.signal?.throwIfAborted();
      const wanted = distinctStates(states);
      if (wanted.size === 0) return [];
      const judge = await rules(ask);
      const collected = noRecords();
      addListed(collected, await readCandidates([...wanted.values()], parts, ask));
      const { records, order, malformed } = collected;
      if (malformed > 0) logger.warn('tracker_records_dropped', { count: malformed });
      const found = order.flatMap((id) => records.get(id) ?? []);
      return found
        .filter(({ isArchivedOrDeleted, state }) => !isArchivedOrDeleted && wanted.has(normalizeState(state)))
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
    fetchOpen: (ask) => readOpen({ call, projectSlug, terminalStates }, ask),
    fetchChildren: (ids, ask) => readChildren(ids, parts, ask),
    fetchComments: (id, ask) => readComments(id, parts, ask),
    fetchWriters: (id, ask) => readWriters(id, parts, ask),
    fetchSnapshot: createReadSnapshot(parts),
    pressure: () => http.pressure(),
    nativeTools: [createLinearGraphql({ settings: linear, call, http, clock, chance })],
    changes: createLinearChanges(parts),
  };
}
