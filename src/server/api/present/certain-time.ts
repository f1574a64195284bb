import { timeText } from '../time-text.ts';

/** Of a time that Baton wrote down itself; what could be none is the beginning of time rather than no answer at all. */
export function certainTime(at: number): string {
  return timeText(at) ?? new Date(0).toISOString();
}
