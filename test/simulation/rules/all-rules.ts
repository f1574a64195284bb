import type { World } from '../world.ts';
import { backoff } from './backoff.ts';
import { claimHasReason } from './claim-has-reason.ts';
import { counters } from './counters.ts';
import { getsThrough } from './gets-through.ts';
import { heldStays } from './held-stays.ts';
import { limits } from './limits.ts';
import { liveWorkspace } from './live-workspace.ts';
import { neverFalls } from './never-falls.ts';
import { noCrash } from './no-crash.ts';
import { nobodyForgotten } from './nobody-forgotten.ts';
import { oneAgent } from './one-agent.ts';
import type { Rule } from './rule.ts';
import { slots } from './slots.ts';
import { writtenFirst } from './written-first.ts';

export function allRules(world: World): Rule[] {
  const rules = [
    oneAgent,
    slots,
    claimHasReason,
    nobodyForgotten,
    backoff,
    neverFalls,
    writtenFirst,
    counters,
    limits,
    heldStays,
    liveWorkspace,
    getsThrough,
    noCrash,
  ];
  return rules.map((rule) => rule(world));
}
