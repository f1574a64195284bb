import { expect, it } from 'vitest';
import { taskAgents } from '../../../src/core/task/task-agents.ts';
import { givenMemory } from '../../workflow/given.ts';

const agents = 'agents: {reader: {max_turns: 2}, other: {max_turns: 3}}';

// @conforms budget.2
it.each([
  ['there is only one', '', null],
  [
    'a section names one',
    `${agents}\nintake: {agent: reader}`,
    { intake: 'reader', scan: 'default', setup: 'default', learn: 'default' },
  ],
  [
    'the state chooses one',
    `${agents}\nagent: {by_state: {Todo: other}}\nsetup: {agent: default}`,
    { intake: 'other', scan: 'other', setup: 'default', learn: 'other' },
  ],
])('names the agent of each kind of task where %s', (_where, text, expected) => {
  expect(taskAgents(givenMemory(text).settings)).toEqual(expected);
});
