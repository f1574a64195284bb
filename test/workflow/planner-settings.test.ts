import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/core/problem.ts';
import { boardProfile } from '../../src/tracker/board/profile.ts';
import { checkPlanner } from '../../src/workflow/resolve/check-planner.ts';
import { settings } from '../fake/settings.ts';
import { given, givenMemory, keysIn, problemsIn, refusal } from './given.ts';

const states = 'tracker: {kind: memory, states: {todo: Todo, blocked: Backlog, review: In Review}}';

describe('the section planner', () => {
  it('is off in a file that does not say, with bounds for when it is on', () => {
    expect(givenMemory('').settings.planner).toMatchObject({
      enabled: false,
      label: 'needs-planning',
      maxChildren: 8,
      maxDepth: 1,
      agent: null,
      runsPerDay: 20,
      usdPerDay: 0,
    });
  });

  // @conforms planner.2
  it('needs the states that an issue moves to', () => {
    const found = problemsIn(refusal(() => givenMemory('planner: {enabled: true}')));
    expect(found.map(({ details }) => details)).toMatchObject(
      ['todo', 'blocked', 'review'].map((role) => ({ problem: 'missing', needs: `tracker.states.${role}` })),
    );
  });

  // @conforms planner.2
  it('is refused where the tracker cannot make the parts of an issue', () => {
    const found: Problem[] = [];
    const { makesChildren: _, ...cannot } = boardProfile;
    const on = { ...settings(), planner: { ...settings().planner, enabled: true } };
    checkPlanner(on, cannot, (problem) => found.push(problem));
    expect(found).toMatchObject([
      { key: 'planner.enabled', severity: 'error', details: { problem: 'unsupported_tracker' } },
    ]);
  });

  it('refuses an agent that the file does not have', () => {
    expect(keysIn(refusal(() => givenMemory('planner: {agent: nobody}')))).toEqual(['planner.agent']);
  });

  it('warns where nothing bounds it', () => {
    const text = `${states}\nplanner: {enabled: true, runs_per_day: 0}`;
    expect(given(text).warnings).toMatchObject([{ key: 'planner.runs_per_day' }]);
  });
});
