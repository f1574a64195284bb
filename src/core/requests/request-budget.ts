import { countText } from '../text/amount-text.ts';
import type { RequestImportance } from './request-caller.ts';
import { noPressure, type PressureStep, type RequestPressure } from './request-pressure.ts';

/** A bound on requests, as it stands at one instant: of a budget in the workflow file or announced by the service. */
export interface WindowFacts {
  /** For people: `requests_per_day`, `requests (announced)`, … */
  readonly name: string;
  readonly limit: number;
  readonly used: number;
  /** The part of `used` that was not for essential requests; null where only the sum is known (an announced limit). */
  readonly usedByOthers: number | null;
  /**
   * When the used requests stop counting, wall time: the end of the day, the announced reset, or, for a sliding window,
   * when enough of it has passed.
   */
  readonly freeAt: number;
}

// In hundredths of the limit, compared as whole numbers: 0.95 is not exact in floating point.
const warnedFrom = 70;
const stretchedFrom = 85;
const essentialOnlyFrom = 95;
/** All requests that are not essential together never get more than this, however many essential ones were sent. */
const othersAtMost = 90;

// From the softest to the hardest.
const steps: readonly PressureStep[] = ['free', 'warned', 'stretched', 'essential_only', 'closed'];

/** The rules are in the header of request-pressure.ts. The window with the highest pressure decides. */
export function pressureOf(windows: readonly WindowFacts[], now: number): RequestPressure {
  return windows.map((window) => pressureOfOne(window, now)).reduce(harderOf, noPressure);
}

/** Whether a request of this importance may leave under this pressure. */
export function mayLeave(importance: RequestImportance, { step }: Pick<RequestPressure, 'step'>): boolean {
  const hardest: Readonly<Record<RequestImportance, PressureStep>> = {
    background: 'warned',
    work: 'stretched',
    essential: 'essential_only',
  };
  return steps.indexOf(step) <= steps.indexOf(hardest[importance]);
}

/** The step of one window, as if it never ended. */
export function stepOf({ limit, used, usedByOthers }: Omit<WindowFacts, 'name' | 'freeAt'>): PressureStep {
  if (used >= limit) return 'closed';
  if (used * 100 >= limit * essentialOnlyFrom || !hasShareForOthers(limit, usedByOthers)) return 'essential_only';
  if (used * 100 >= limit * stretchedFrom) return 'stretched';
  return used * 100 >= limit * warnedFrom ? 'warned' : 'free';
}

/**
 * Returns the pressure that lets less through; of two equal ones, the one that lasts longer or is stretched further.
 */
export function harderOf(left: RequestPressure, right: RequestPressure): RequestPressure {
  if (left.step !== right.step) return steps.indexOf(left.step) > steps.indexOf(right.step) ? left : right;
  if (left.spacingMs !== right.spacingMs) return left.spacingMs > right.spacingMs ? left : right;
  return (left.until ?? Number.NEGATIVE_INFINITY) >= (right.until ?? Number.NEGATIVE_INFINITY) ? left : right;
}

/** Whether one more request that is not essential stays within the share of such requests. */
function hasShareForOthers(limit: number, usedByOthers: number | null): boolean {
  return usedByOthers === null || (usedByOthers + 1) * 100 <= limit * othersAtMost;
}

function pressureOfOne(window: WindowFacts, now: number): RequestPressure {
  const step = window.freeAt > now ? stepOf(window) : 'free';
  if (step === 'free') return noPressure;
  return {
    step,
    spacingMs:
      step === 'stretched' ? spacingOf(window, now) : step === 'essential_only' ? essentialSpacingOf(window, now) : 0,
    until: window.freeAt,
    text: `${window.name}: ${countText(window.used)} of ${countText(window.limit)} used`,
  };
}

/** The spacing at which the rest lasts for essential requests until the window ends. */
function essentialSpacingOf({ limit, used, freeAt }: WindowFacts, now: number): number {
  return Math.ceil((freeAt - now) / Math.max(1, limit - used));
}

/** The spacing at which the rest, before only essential requests are allowed, lasts until the window ends. */
function spacingOf({ limit, used, usedByOthers, freeAt }: WindowFacts, now: number): number {
  const untilEssentialOnly = (limit * essentialOnlyFrom) / 100 - used;
  const untilReserve = usedByOthers === null ? untilEssentialOnly : (limit * othersAtMost) / 100 - usedByOthers;
  const left = Math.max(1, Math.floor(Math.min(untilEssentialOnly, untilReserve)));
  return Math.ceil((freeAt - now) / left);
}
