import { realpathSync } from 'node:fs';
import path from 'node:path';
import { type IsolationRule, isAtOrBelow, isolationPlan, ruleFor } from './isolation-plan.ts';
import { type IsolationGround, sharedRules } from './plan-isolation.ts';
import { systemPaths } from './usual-paths.ts';

/** A place that stays hidden although a command names something in it. */
export interface HiddenPlace {
  readonly path: string;
  readonly kind: 'state' | 'secrets' | 'system';
}

/**
 * Finds the hidden place that a path is in, by its name or by where its links lead; null where there is none, or where a
 * setting shows the path by name.
 */
export function findHidden(ground: IsolationGround): (target: string) => HiddenPlace | null {
  const rules = sharedRules(ground);
  // The same rules where their links lead: a home may be one.
  const { rules: resolved } = isolationPlan(rules.map((rule) => ({ ...rule, path: realPathOf(rule.path) })));
  const state = [...ground.stateFolders, ground.workspaceRoot].flatMap((each) => [each, realPathOf(each)]);
  const kindOf = ({ path: hidden }: IsolationRule): HiddenPlace['kind'] => {
    if (state.some((each) => isAtOrBelow(hidden, each))) return 'state';
    return systemPaths.some((each) => each.path === hidden) ? 'system' : 'secrets';
  };
  return (target) => {
    const found = [ruleFor(rules, path.resolve(target)), ruleFor(resolved, realPathOf(path.resolve(target)))];
    const hidden = found.find((rule) => rule?.access === 'hidden') ?? null;
    return hidden === null ? null : { path: hidden.path, kind: kindOf(hidden) };
  };
}

function realPathOf(file: string): string {
  try {
    return realpathSync.native(file);
  } catch {
    return file;
  }
}
