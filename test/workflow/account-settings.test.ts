import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/core/text/secret.ts';
import { given, givenMemory, keysIn, problemsIn, refusal } from './given.ts';

const env = { WORK_KEY: 'hunter2', SPARE_KEY: 'hunter3', OPENAI_API_KEY: 'hunter4', HOME_OF_CODEX: '~/c' };

const accounts = (list: string, more: Record<string, string> = env) =>
  givenMemory(`agent: {accounts: ${list}}`, more).settings;
const refused = (list: string, more: Record<string, string> = env) =>
  refusal(() => givenMemory(`agent: {accounts: ${list}}`, more));

describe('agent.accounts', () => {
  it('has one account per backend by default', () => {
    const byDefault = ['codex', 'command', 'rehearsal'].map((name) => ({ name, backend: name, env: {}, home: null }));
    expect(givenMemory('').settings.agent.accounts).toEqual(byDefault);
    expect(accounts('[]').agent.accounts).toEqual(byDefault);
    expect(accounts('null').agent.accounts).toEqual(byDefault);
  });

  it('uses the backend of the agent unless an account names another, in the order of the file', () => {
    const found = accounts('[{name: b}, {name: a, backend: command}, {name: a}]').agent.accounts;
    expect(found.map(({ name, backend }) => `${backend} ${name}`)).toEqual(['codex b', 'command a', 'codex a']);
  });

  it('keeps the value of a variable as a secret, and plain text as it is', () => {
    const { agent } = accounts('[{name: a, env: {OPENAI_API_KEY: $WORK_KEY, LANG: de_DE.UTF-8, EMPTY: ""}}]');
    const own = agent.accounts[0]?.env ?? {};
    expect(own.OPENAI_API_KEY).toBeInstanceOf(Secret);
    expect((own.OPENAI_API_KEY as Secret).reveal()).toBe('hunter2');
    expect([own.LANG, own.EMPTY]).toEqual(['de_DE.UTF-8', '']);
  });

  it.each([
    ['~/.codex-work', '/home/me/.codex-work'],
    ['logins/work', '/repo/logins/work'],
    ['/opt/../srv/login', '/srv/login'],
    ['$HOME_OF_CODEX', '/home/me/c'],
  ])('resolves the home %s to %s', (written, path) => {
    expect(accounts(`[{name: a, home: ${written}}]`).agent.accounts[0]?.home).toBe(path);
  });

  // @conforms tools.14
  it('withholds the variables of account keys from every child process, except names that an account sets itself', () => {
    const list = '[{name: a, env: {OPENAI_API_KEY: $OPENAI_API_KEY}}, {name: b, env: {OPENAI_API_KEY: $WORK_KEY}}]';
    const secret = accounts(list).secretEnvironment;
    expect(secret).toContain('WORK_KEY');
    expect(secret).not.toContain('OPENAI_API_KEY');
    expect(accounts('[{name: a, home: $HOME_OF_CODEX}]').secretEnvironment).not.toContain('HOME_OF_CODEX');
  });

  it.each([
    ['no list', '{name: a}', 'agent.accounts'],
    ['a text', '[sk-hunter5]', 'agent.accounts[0]'],
    ['no name', '[{home: ~/x}]', 'agent.accounts[0].name'],
    ['a blank name', '[{name: " "}]', 'agent.accounts[0].name'],
    ['a name with a line feed', '[{name: "a\\nb"}]', 'agent.accounts[0].name'],
    ['a key that is none', '[{name: a, hom: ~/x}]', 'agent.accounts[0].hom'],
    ['the same name twice', '[{name: a}, {name: a, backend: codex}]', 'agent.accounts[1].name'],
    ['a backend that is none', '[{name: a}, {name: b, backend: cdoex}]', 'agent.accounts[1].backend'],
    ['none for the backend of the agent', '[{name: a, backend: command}]', 'agent.accounts'],
    ['a variable with a bad name', '[{name: a, env: {A-B: x}}]', 'agent.accounts[0].env.A-B'],
    ['a number for a variable', '[{name: a, env: {A: 5}}]', 'agent.accounts[0].env.A'],
    ['a name of Baton', '[{name: a, env: {BATON_RUN_ID: x}}]', 'agent.accounts[0].env.BATON_RUN_ID'],
    ['a NUL', '[{name: a, env: {A: "x\\0y"}}]', 'agent.accounts[0].env.A'],
    ['a variable that is not set', '[{name: a, env: {A: $NOT_THERE}}]', 'agent.accounts[0].env.A'],
    ['a variable that every object has', '[{name: a, env: {A: $constructor}}]', 'agent.accounts[0].env.A'],
    ['a home that is not set', '[{name: a, home: $NOT_THERE}]', 'agent.accounts[0].home'],
    ['a blank home', '[{name: a, home: " "}]', 'agent.accounts[0].home'],
    ['a home with NUL', '[{name: a, home: "/a\\0"}]', 'agent.accounts[0].home'],
    ['two homes', '[{name: a, home: ~/x, env: {CODEX_HOME: /y}}]', 'agent.accounts[0].env.CODEX_HOME'],
    ['a home where there is none', '[{name: a}, {name: b, backend: command, home: ~/x}]', 'agent.accounts[1].home'],
  ])('refuses %s and names the key', (_what, list, key) => {
    const error = refused(list);
    expect(keysIn(error)).toEqual([key]);
    expect(error.message).toContain(key);
    expect(error.message).not.toContain('hunter');
  });

  it.each([
    ['sets', '{LINEAR_API_KEY: x}'],
    ['hands on', '{OPENAI_API_KEY: $LINEAR_API_KEY}'],
    ['hands on, in the older spelling,', '{OPENAI_API_KEY: $MY_LINEAR}'],
    ['sets, of the store,', '{BATON_DATABASE_URL: x}'],
  ])('rejects an account that %s a secret of Baton', (_how, own) => {
    const linear = 'tracker: {kind: linear, api_key: $MY_LINEAR, project_slug: p}';
    const error = refusal(() =>
      given(`${linear}\nagent: {accounts: [{name: a, env: ${own}}]}`, { LINEAR_API_KEY: 'k', MY_LINEAR: 'hunter9' }),
    );
    expect(problemsIn(error)[0]).toMatchObject({
      key: expect.stringMatching(/^agent\.accounts\[0\]\.env\./),
      details: { problem: 'secret_of_baton' },
    });
    expect(error.message).not.toContain('hunter');
  });

  it('rejects passing on the key of an account under its other name', () => {
    const error = refusal(() =>
      givenMemory('agent: {env: [WORK_KEY], accounts: [{name: a, env: {K: $WORK_KEY}}]}', env),
    );
    expect(keysIn(error)).toEqual(['agent.env']);
  });

  it.each([
    ['OPENAI_API_KEY', 'hunter2'],
    ['CODEX_AUTH_TOKEN', 'hunter2'],
    ['ANYTHING', 'sk-hunter2'],
    ['HTTPS_PROXY', 'http://me:hunter2@proxy.example'],
    ['ANYTHING', 'hunter2abcdefghijklmnopqrstuvwxyz0123'],
  ])('warns about a key in plain text: %s=%s', (name, value) => {
    const loaded = givenMemory(`agent: {accounts: [{name: a, env: {${name}: "${value}"}}]}`);
    expect(loaded.warnings).toMatchObject([{ code: 'literal_secret', key: `agent.accounts[0].env.${name}` }]);
    expect(loaded.settings.agent.accounts[0]?.env[name]).toBeInstanceOf(Secret);
    expect(JSON.stringify([loaded.warnings, loaded.described, loaded.settings])).not.toContain('hunter');
  });

  it('does not warn about ordinary text, but about text that resembles a reference', () => {
    expect(givenMemory('agent: {accounts: [{name: a, env: {CODEX_LOG: debug, KEYBOARD: de}}]}').warnings).toEqual([]);
    const doubtful = givenMemory('agent: {accounts: [{name: a, home: $HOME/x, env: {A: $B-x}}]}');
    expect(doubtful.warnings.map(({ code, key }) => [code, key])).toEqual([
      ['doubtful_reference', 'agent.accounts[0].env.A'],
      ['doubtful_reference', 'agent.accounts[0].home'],
    ]);
  });

  it('is shown without the values of variables', () => {
    const { described } = givenMemory(
      'agent: {accounts: [{name: a, home: ~/x, env: {A: hunter1, B: $WORK_KEY}}]}',
      env,
    );
    expect(described.find(({ key }) => key === 'agent.accounts')).toEqual({
      key: 'agent.accounts',
      value: [{ name: 'a', backend: 'codex', env: ['A', 'B'], home: '/home/me/x' }],
      origin: 'file',
    });
    expect(JSON.stringify(described)).not.toContain('hunter');
  });
});
