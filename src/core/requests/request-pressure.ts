/**
 * How short the requests of a credential are, as the limiter sees it (`http/`):
 *
 * - `free`; `warned` from 70 % of a budget or of an announced limit on: nothing changes but that it is told;
 * - `stretched` from 85 %: polls come at most every `spacingMs`, background reads not at all;
 * - `custody_only` from 95 %, or when all but the reserved tenth is used: only custody of live runs;
 * - `closed`: nothing goes, until `until`: the service said so, or a budget is spent.
 */
export type PressureStep = 'free' | 'warned' | 'stretched' | 'custody_only' | 'closed';

export interface RequestPressure {
  readonly step: PressureStep;
  /** While `stretched` or `custody_only`: so far apart the rest, that of custody, lasts until the window ends. Otherwise 0. */
  readonly spacingMs: number;
  /** When the pressing window ends, wall time; null while `free`, or where nobody knows. */
  readonly until: number | null;
  /** For people: what is short, and by how much; empty while `free`. */
  readonly text: string;
}

export const noPressure: RequestPressure = { step: 'free', spacingMs: 0, until: null, text: '' };
