import * as z from 'zod';
import { type PromptMeasure as Presented, promptComparison, promptList } from '../../../client/schema/prompt.ts';
import { BatonError } from '../../../core/baton-error.ts';
import type { Middle } from '../../../core/prompt/intervals.ts';
import { comparePrompts, measurePrompts, type PromptMeasure } from '../../../core/prompt/prompt-metrics.ts';
import { certainTime } from '../../../core/text/time-text.ts';
import type { ApiProject } from '../api-project.ts';
import type { Route } from '../route.ts';
import { inProject, type ReadParts } from './in-project.ts';

const dayMs = 24 * 3_600_000;
const days = z.coerce.number().int().min(1).max(3_660).default(90);
const version = z.string().min(1).max(64).optional();

/** What became of the runs of each prompt. */
export function promptsRoutes(parts: ReadParts): Route[] {
  const since = (wanted: number): number => parts.clock.now() - wanted * dayMs;
  return [
    inProject(parts, {
      path: '/prompts',
      summary:
        'The prompts by version, role and agent: how their runs ended, with intervals; the last 90 days by default.',
      query: z.object({ days }),
      answer: promptList,
      isCostly: true,
      handle: async (project, { query }) => {
        const from = since(query.days);
        const facts = await project.tables.promptRuns.facts(project.id, from);
        return {
          since: certainTime(from),
          in_use: project.prompts().map((each) => ({ ...each })),
          prompts: measurePrompts(facts, 'agent').map(present),
        };
      },
    }),
    inProject(parts, {
      path: '/prompts/compare',
      summary:
        'Two prompts of a role, and whether their differences may be chance. Without names, the two newest or those in use.',
      query: z.object({ a: version, b: version, role: z.string().max(100).default('worker'), days }),
      answer: promptComparison,
      isCostly: true,
      handle: async (project, { query }) => {
        const from = since(query.days);
        const facts = await project.tables.promptRuns.facts(project.id, from);
        const measures = measurePrompts(facts, 'role').filter(({ role }) => role === query.role);
        const [first, second] = wanted(project, measures, query);
        const { a, b, sameTime, differences } = comparePrompts(first, second);
        const { success, sentBack, tokens, costMicroUsd, toMergeMs } = differences;
        return {
          since: certainTime(from),
          a: present(a),
          b: present(b),
          same_time: sameTime,
          differences: { success, sent_back: sentBack, tokens, cost_usd: costMicroUsd, to_merge_ms: toMergeMs },
        };
      },
    }),
  ];
}

/** The two prompts in use at the same time, if the workflow has two; otherwise the two that were used last. */
function wanted(
  project: ApiProject,
  measures: readonly PromptMeasure[],
  { a, b, role }: { readonly a?: string | undefined; readonly b?: string | undefined; readonly role: string },
): readonly [PromptMeasure, PromptMeasure] {
  const inUse = project.prompts().filter((each) => each.role === role);
  const named = [a, b].filter((each) => each !== undefined);
  const latest = measures.slice(0, 2).toReversed();
  const usual = (inUse.length === 2 ? inUse : latest).map((each) => each.version);
  const others = usual.filter((each) => named[0] === undefined || !each.startsWith(named[0]));
  const [first, second] = [...named, ...others].map((each) => find(measures, each, role));
  if (first === undefined || second === undefined || first === second)
    throw new BatonError('prompt_not_found', `There are no two prompts with runs of the role "${role}" to compare.`, {
      details: { role, versions: measures.map((each) => each.version) },
    });
  return [first, second];
}

/** By the beginning of its version. */
function find(measures: readonly PromptMeasure[], beginning: string, role: string): PromptMeasure {
  const [found, another] = measures.filter(({ version }) => version.startsWith(beginning));
  if (found !== undefined && another === undefined) return found;
  const why = found === undefined ? 'has no runs' : 'is the beginning of several versions';
  throw new BatonError('prompt_not_found', `The prompt "${beginning}" of the role "${role}" ${why} in this time.`, {
    details: { version: beginning, role, versions: measures.map((each) => each.version) },
  });
}

function present({ firstAt, lastAt, sentBack, costMicroUsd, toMergeMs, ...rest }: PromptMeasure): Presented {
  return {
    ...rest,
    first_at: certainTime(firstAt),
    last_at: certainTime(lastAt),
    sent_back: sentBack,
    to_merge_ms: toMergeMs,
    cost_usd: inUsd(costMicroUsd),
  };
}

function inUsd(micro: Middle): Middle {
  const usd = (amount: number | null): number | null => (amount === null ? null : amount / 1_000_000);
  return { ...micro, median: usd(micro.median), low: usd(micro.low), high: usd(micro.high) };
}
