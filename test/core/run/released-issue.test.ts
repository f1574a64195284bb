import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stateClass } from '../../../src/core/dispatch/eligibility.ts';
import { decideAboutReleased } from '../../../src/core/run/released-issue.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';

const { tracker } = settings({ tracker: { reviewStates: ['In Review'] } });

describe('an issue that Baton released', () => {
  it.each([
    ['finished', 'Done'],
    ['finished', ' cancelled '],
    ['waiting', 'In Review'],
    ['waiting', 'Backlog'],
    ['waiting', ''],
    ['forgotten', 'todo'],
    ['forgotten', 'In Progress'],
  ] as const)('is %s in the state "%s"', (landing, state) => {
    expect(decideAboutReleased(issue({ state }), tracker)).toBe(landing);
  });

  it('is forgotten when it is gone', () => {
    expect(decideAboutReleased(null, tracker)).toBe('forgotten');
  });

  it('is finished exactly when its state is terminal, whatever else the file says about that state', () => {
    const names = fc.constantFrom('Done', 'Todo', 'In Review', 'QA', 'x');
    const lists = fc.record({
      activeStates: fc.array(names),
      terminalStates: fc.array(names),
      reviewStates: fc.array(names),
    });
    fc.assert(
      fc.property(names, lists, (state, changes) => {
        const rules = { ...tracker, ...changes };
        const isTerminal = stateClass(state, rules) === 'terminal';
        expect(decideAboutReleased(issue({ state }), rules) === 'finished').toBe(isTerminal);
      }),
    );
  });
});
