import { normalizeState } from '../../core/issue/issue.ts';
import { errorAt, type Report } from '../workflow-problems.ts';

/** The numbers of a by-state key under normalised state names: each state has one. */
export function byState(
  key: string,
  written: Readonly<Record<string, number>>,
  report: Report,
): Readonly<Record<string, number>> {
  const numbers = new Map<string, number>();
  for (const [state, number] of Object.entries(written)) {
    const name = normalizeState(state);
    if (numbers.has(name)) {
      const message = `${key} names the state ${JSON.stringify(name)} twice`;
      report(errorAt(`${key}.${state}`, message, { problem: 'repeated', state: name }));
    }
    numbers.set(name, number);
  }
  return Object.fromEntries(numbers);
}
