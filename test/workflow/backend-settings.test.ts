import { describe, expect, it } from 'vitest';
import type { BackendProfile } from '../../src/core/backend-profile.ts';
import { choice, setting } from '../../src/core/settings/setting.ts';
import { parseWorkflow } from '../../src/workflow/load-workflow.ts';
import { workflowSchema } from '../../src/workflow/table/workflow-schema.ts';
import { givenContext, keysIn, path, problemsIn, refusal } from './given.ts';

const mine: BackendProfile = {
  name: 'mine',
  settings: {
    section: 'mine',
    keys: {
      program: setting('non_blank_text', null, 'next run', 'guarded', {
        description: 'What to start.',
        required: true,
        code: 'missing_agent_command',
      }),
      effort_level: setting(choice('low', 'high'), 'low', 'next run', 'open', { description: 'How hard it tries.' }),
      cache: { max_mb: setting('natural_number', 5, 'next run', 'open', { description: 'How much it keeps.' }) },
    },
    aliases: { 'mine.max_turns': 'agent.max_turns' },
    implied: [{ key: 'agent.approvals', value: 'deny', when: 'mine.effort_level', is: 'high' }],
  },
  environment: [],
  homeVariable: null,
  reports: 'if_told',
};
const context = { ...givenContext(), backends: [...givenContext().backends, mine] };
const load = (front: string) =>
  parseWorkflow(Buffer.from(`---\ntracker: {kind: memory}\n${front}\n---\nDo it.\n`), path, context);
const refused = (front: string) => refusal(() => load(front));

describe('a backend that declares its settings', () => {
  it('gets their values and defaults under its name, in camel case', () => {
    expect(load('').settings.backends.mine).toEqual({ program: null, effortLevel: 'low', cache: { maxMb: 5 } });
    const { settings, warnings } = load('mine: {program: ./go, effort_level: high, cache: {max_mb: "7"}}');
    expect(settings.backends.mine).toEqual({ program: './go', effortLevel: 'high', cache: { maxMb: 7 } });
    expect(warnings).toEqual([]);
  });

  it('has them checked like any other key, whichever backend the file names', () => {
    expect(problemsIn(refused('mine: {program: " ", effort_level: most, cache: {max_mb: -1}}'))).toMatchObject([
      { code: 'missing_agent_command', key: 'mine.program', details: { problem: 'wrong_value' } },
      { key: 'mine.effort_level', details: { problem: 'wrong_value', allowed: ['low', 'high'] } },
      { key: 'mine.cache.max_mb', details: { problem: 'wrong_value', expected: 'natural_number' } },
    ]);
    expect(keysIn(refused('mine: 5'))).toEqual(['mine']);
    expect(load('mine: {efort_level: low}').warnings).toMatchObject([
      { code: 'unknown_setting', details: { nearest: 'mine.effort_level' } },
    ]);
  });

  it('requires its required keys only if the file names the backend', () => {
    expect(problemsIn(refused('agent: {backend: mine}'))).toMatchObject([
      { code: 'missing_agent_command', key: 'mine.program', details: { problem: 'missing', backend: 'mine' } },
    ]);
    expect(load('agent: {backend: mine}\nmine: {program: x}').settings.agent.backend).toBe('mine');
  });

  it('may alias a key of agent and change the default of another', () => {
    const { settings, described } = load('mine: {max_turns: 2, effort_level: high}');
    expect(settings.agent).toMatchObject({ maxTurns: 2, approvals: 'deny' });
    const shown = Object.fromEntries(described.map(({ key, value, origin }) => [key, { value, origin }]));
    expect(shown).toMatchObject({
      'agent.max_turns': { value: 2, origin: expect.stringContaining('mine.max_turns') },
      'agent.approvals': { value: 'deny', origin: expect.stringMatching(/^default\b.*mine\.effort_level/) },
      'mine.effort_level': { value: 'high', origin: 'file' },
      'mine.cache.max_mb': { value: 5, origin: 'default' },
    });
    expect(shown).not.toHaveProperty(['mine.max_turns']);
    expect(
      load('agent: {max_turns: 3, approvals: ask}\nmine: {max_turns: 2, effort_level: high}').settings.agent,
    ).toEqual(expect.objectContaining({ maxTurns: 3, approvals: 'ask' }));
  });

  it('appears in the schema for editors', () => {
    // As an editor gets it: plain JSON.
    const { properties } = JSON.parse(JSON.stringify(workflowSchema(context)));
    expect(Object.keys(properties.mine.properties).sort()).toEqual(['cache', 'effort_level', 'max_turns', 'program']);
    expect(properties.agent.properties.backend.enum).toContain('mine');
  });
});
