import { describe, expect, it } from 'vitest';
import type { AgentQuestion } from '../../src/core/command/question.ts';
import { Secret } from '../../src/core/text/secret.ts';
import type { ToolHost } from '../../src/core/tool-set.ts';
import { script, stageRun } from './stage-run.ts';

const accountKey = 'sk-canary-account-key-0123456789';
const trackerKey = 'lin_canary_tracker_key';
const token = 'canary-token-of-the-run';
const account = { env: { OPENAI_API_KEY: new Secret(accountKey), OPENAI_BASE_URL: 'http://127.0.0.1:8080' } };
const tracker = { provider: { api_key: new Secret(trackerKey) } };
const toolHost: ToolHost = { admit: () => ({ url: 'http://127.0.0.1:1/mcp', token }), dismiss: () => {} };
const command = { backend: 'command', command: 'exec sh' };

describe('the output of an agent', () => {
  // @conforms tools.16
  it('contains no secret: in no line, whole or cut, and in no last message', async () => {
    const long = 'x'.repeat(170);
    const prompt = [
      `echo "it is ${accountKey} and ${trackerKey}"`,
      'echo "token $BATON_TOOLS_TOKEN"',
      `echo "${long} ${accountKey} and more"`,
      `echo "url http://127.0.0.1:8080, last ${accountKey}"`,
    ].join('\n');
    const staged = stageRun(prompt, { agent: command, account, tracker, toolHost });
    expect(await staged.end()).toMatchObject({ end: 'succeeded' });
    expect(staged.events.map(({ summary }) => summary)).toEqual(
      expect.arrayContaining([
        'it is [secret] and [secret]',
        'token [secret]',
        `${long} [secret]…`,
        'url http://127.0.0.1:8080, last [secret]',
      ]),
    );
    expect(staged.messages).toEqual(['url http://127.0.0.1:8080, last [secret]']);
    expect(JSON.stringify(staged.events)).not.toContain('canary');
  });

  // @conforms tools.39
  it('contains no secret that its program got in another way', async () => {
    const ofDaemon = 'canary-of-the-daemon';
    const asked: AgentQuestion[] = [];
    const lines = [`say I see ${ofDaemon}`, `comment Use ${ofDaemon}!`, `ask Is ${ofDaemon} right?`];
    const staged = stageRun(script(...lines, 'say short: canary', `fail no ${ofDaemon}`), {
      agentSecrets: [ofDaemon, 'canary'],
      request: {
        ask: async (question) => {
          asked.push(question);
          return { decision: 'accept', values: {} };
        },
      },
    });
    const outcome = await staged.end();
    expect(outcome).toMatchObject({ end: 'failed', error: { message: expect.stringContaining('no [secret]') } });
    expect(asked).toMatchObject([{ text: 'Is [secret] right?' }]);
    expect(staged.tracker.commentsOn('id-1')).toMatchObject([{ body: 'Use [secret]!' }]);
    const summaries = staged.events.map(({ summary }) => summary);
    // What is shorter than eight characters is no secret: it would be found in any text.
    expect(summaries).toEqual(expect.arrayContaining(['I see [secret]', 'short: canary']));
    expect(JSON.stringify([staged.events, staged.logger.lines, outcome])).not.toContain(ofDaemon);
  });

  it('contains no secret in the error of a command that fails', async () => {
    const prompt = `echo "refused key ${accountKey} with $BATON_TOOLS_TOKEN" >&2; exit 3`;
    const staged = stageRun(prompt, { agent: command, account, toolHost });
    expect(await staged.end()).toMatchObject({
      end: 'failed',
      error: { code: 'agent_exited', details: { exit_code: 3, stderr: 'refused key [secret] with [secret]' } },
    });
  });

  it('contains no secret in the last part of the output of a command, which may begin inside one', async () => {
    const prompt = `printf '%s%s' ${accountKey} ${'y'.repeat(2_030)} >&2; exit 3`;
    const staged = stageRun(prompt, { agent: command, account });
    const outcome = await staged.end();
    expect(outcome).toMatchObject({ end: 'failed', error: { code: 'agent_exited' } });
    expect(JSON.stringify(outcome)).toMatch(/"\[secret\]y{2030}"/);
    expect(staged.events.map(({ name }) => name)).not.toContain('notification');
  });

  it('contains no secret in payloads, questions, failures and tool calls', async () => {
    const asked: AgentQuestion[] = [];
    const staged = stageRun(
      script(
        `say I see ${accountKey}`,
        `comment Use ${accountKey}!`,
        `ask Is ${accountKey} right?`,
        `fail no ${trackerKey}`,
      ),
      {
        account,
        tracker,
        request: {
          ask: async (question) => {
            asked.push(question);
            return { decision: 'accept', values: { [question.fields[0]?.name ?? '']: 'yes' } };
          },
        },
      },
    );
    expect(await staged.end()).toMatchObject({
      end: 'failed',
      error: { message: expect.stringContaining('[secret]') },
    });
    expect(asked).toMatchObject([{ text: 'Is [secret] right?' }]);
    expect(staged.tracker.commentsOn('id-1')).toMatchObject([{ body: 'Use [secret]!' }]);
    expect(staged.events.find(({ summary }) => summary === 'I see [secret]')?.payload).toMatchObject({
      text: 'I see [secret]',
    });
    expect(JSON.stringify([staged.events, staged.logger.lines, await staged.end()])).not.toContain('canary');
  });
});
