import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/core/text/secret.ts';
import { givenMemory, problemsIn, refusal } from './given.ts';

const problemsOf = (text: string) => problemsIn(refusal(() => givenMemory(text)));

describe('named agents', () => {
  it('take over what they leave out, and have their own keys in the sections where a file has them', () => {
    const { settings } = givenMemory(
      [
        'agent: {backend: codex, max_turns: 7, approvals: deny, stand_in: script}',
        'codex: {command: codex app-server, thread_sandbox: workspace-write}',
        'agents:',
        '  careful: {command: codex app-server --model big, max_turns: 3, isolation: none}',
        '  script: {backend: command, command: run-it}',
      ].join('\n'),
    );
    const { careful, script } = settings.agents;
    expect(settings.agent).toMatchObject({ backend: 'codex', maxTurns: 7, standIn: 'script', isolation: 'namespaces' });
    expect(careful?.settings.agent).toMatchObject({
      backend: 'codex',
      maxTurns: 3,
      approvals: 'deny',
      isolation: 'none',
      standIn: null,
    });
    expect(careful?.settings.backends.codex).toMatchObject({
      command: 'codex app-server --model big',
      threadSandbox: 'workspace-write',
    });
    expect(settings.backends.codex).toMatchObject({ command: 'codex app-server' });
    expect(script?.settings.agent.backend).toBe('command');
    expect(script?.settings.backends.command).toMatchObject({ command: 'run-it' });
    expect(script?.settings.tracker).toEqual(settings.tracker);
    expect(script?.settings.agents).toEqual({});
  });

  it('use the accounts that they name, and none of the variables of the others', () => {
    const { settings } = givenMemory(
      [
        'agent:',
        '  accounts:',
        '    - {name: work, env: {OPENAI_API_KEY: $WORK_KEY}}',
        '    - {name: home, env: {OTHER_KEY: $HOME_KEY}}',
        'agents:',
        '  at-home: {accounts: [home]}',
        '  script: {backend: command, command: run-it}',
      ].join('\n'),
      { WORK_KEY: 'w', HOME_KEY: 'h' },
    );
    const home = settings.agents['at-home']?.settings;
    expect(home?.agent.accounts).toMatchObject([{ name: 'home', env: { OTHER_KEY: expect.any(Secret) } }]);
    expect(home?.secretEnvironment).toEqual(expect.arrayContaining(['WORK_KEY', 'HOME_KEY', 'OPENAI_API_KEY']));
    // A backend without an account in the file has its own login.
    const own = settings.agents.script?.settings.agent.accounts.filter(({ backend }) => backend === 'command');
    expect(own).toMatchObject([{ name: 'command', env: {} }]);
    expect(settings.agent.accounts.map(({ name }) => name)).toEqual(['work', 'home']);
  });

  it.each([
    ['agents: {Opus: {}}', 'agents.Opus', 'wrong_entry'],
    ['agents: {default: {}}', 'agents.default', 'wrong_entry'],
    ['agents: {a: {backend: nothing}}', 'agents.a.backend', undefined],
    ['agents: {a: {max_turns: 0}}', 'agents.a.max_turns', 'wrong_value'],
    ['agents: {a: {max_concurrent_agents: 3}}', 'agents.a.max_concurrent_agents', 'unknown_key'],
    ['agents: {a: {max_trns: 3}}', 'agents.a.max_trns', 'unknown_key'],
    ['agents: {a: {backend: command}}', 'agents.a.command', 'missing'],
    ['agents: {a: {accounts: [nobody]}}', 'agents.a.accounts', 'no_account'],
    ['agents: {a: {accounts: [{name: codex}]}}', 'agents.a.accounts', 'wrong_value'],
    ['agents: {a: {accounts: {name: codex}}}', 'agents.a.accounts', 'wrong_value'],
    ['agents: {a: {accounts: []}}', 'agents.a.accounts', 'wrong_value'],
    ['agents: {a: {stand_in: b}}', 'agents.a.stand_in', 'unknown_agent'],
    ['agent: {stand_in: b}', 'agent.stand_in', 'unknown_agent'],
    ['agent: {by_state: {Todo: b}}', 'agent.by_state.todo', 'unknown_agent'],
  ])('with %s have a problem at %s', (text, key, problem) => {
    const found = problemsOf(text);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ key, ...(problem === undefined ? {} : { details: { problem } }) });
    expect(found[0]?.message).toContain(key);
  });

  it('do not repeat the problems of the rest of the file', () => {
    const found = problemsOf('agent: {max_turns: none}\nagents: {a: {}, b: {backend: command, command: x}}');
    expect(found.map(({ key }) => key)).toEqual(['agent.max_turns']);
  });
});
