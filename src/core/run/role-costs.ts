import type { Settings } from '../settings.ts';
import { countText, usdText } from '../text/amount-text.ts';
import { budgetOf } from './role-budget.ts';

/** The price of a role that the file switches on, and that then starts without being asked each time. */
export interface RoleCost {
  readonly role: 'planner' | 'scanner' | 'learner';
  /** 0: this does not limit it. */
  readonly runsPerDay: number;
  readonly usdPerDay: number;
  readonly text: string;
}

const prices = {
  planner: 'The planner is on: each plan costs at least one run, and each part of it at least one more.',
  scanner: 'The scanner is on: each scan costs one run, also on a day without work.',
  learner: 'The learner is on: each time it reads what happened costs one run.',
} as const;

/** For a person who reads the file or starts a daemon with it. */
export function roleCosts(settings: Settings): readonly RoleCost[] {
  return (['planner', 'scanner', 'learner'] as const)
    .filter((role) => settings[role].enabled)
    .map((role) => {
      const { runsPerDay, usdPerDay } = settings[role];
      const limits = [
        ...(runsPerDay > 0
          ? [`${countText(runsPerDay)} ${runsPerDay === 1 ? 'run' : 'runs'} (${role}.runs_per_day)`]
          : []),
        ...(usdPerDay > 0 ? [`${usdText(usdPerDay)} (${role}.usd_per_day)`] : []),
      ];
      const most =
        budgetOf(role, settings) === null ? 'It has no limit of its own.' : `At most ${limits.join(' or ')} a day.`;
      return { role, runsPerDay, usdPerDay, text: `${prices[role]} ${most}` };
    });
}
