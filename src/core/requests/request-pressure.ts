/**
 * How short the requests of a credential are, as the limiter sees it (`http/`):
 *
 * - `free`; `warned` from 70 % of a budget or of an announced limit on: Baton only reports it;
 * - `stretched` from 85 %: polls come at most every `spacingMs`, background reads not at all;
 * - `essential_only` from 95 %, or when all but the reserved tenth is used: only essential requests for live runs;
 * - `closed`: no requests until `until`: the service said so, or a budget is spent.
 */
export type PressureStep = 'free' | 'warned' | 'stretched' | 'essential_only' | 'closed';

export interface RequestPressure {
  readonly step: PressureStep;
  /**
   * While `stretched`, the spacing at which the rest lasts until the window ends; while `essential_only`, the same for
   * the rest of essential requests. Otherwise 0.
   */
  readonly spacingMs: number;
  /** When the window of the limit that is near ends, wall time; null while `free`, or if it is unknown. */
  readonly until: number | null;
  /** For people: which requests are short, and by how much; empty while `free`. */
  readonly text: string;
}

export const noPressure: RequestPressure = { step: 'free', spacingMs: 0, until: null, text: '' };
